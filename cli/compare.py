"""`duologue compare`: how far simulated users are from people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..data.loading import names_of
from ..data.text.languages import Language
from ..data.users import UserPart
from ..errors import at
from .output import print_json, put, say, stdout
from .overwriting import check_free
from .tables import Force, read_whole

FEW = 8
"""Users on each side that an interval needs."""

if TYPE_CHECKING:
    from ..analysis.realism import Report
    from ..analysis.realism.auc import Discriminator, Interval
    from ..data.records import Conversation
    from ..runs.from_people import FromPeople


def compare(
    sim: Annotated[Path, typer.Argument(metavar="SIM", help="Simulated conversations: a run folder or a data set.")],
    human: Annotated[Path, typer.Argument(metavar="HUMAN", help="People's conversations: a data set of any format.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html, report.json, card.html and card.json.")
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option(metavar="SRC", help="Simulated conversations of an earlier study, shown in further columns."),
    ] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="SRC",
            help="Conversations of other people, may be given more than once: how far they are from HUMAN stands beside "
            "the floor.",
        ),
    ] = None,
    language: Annotated[
        Language | None,
        typer.Option(help="Language of the conversations to compare. Default: one that both sides have."),
    ] = None,
    part: Annotated[
        UserPart,
        typer.Option(
            help="Which people to compare with: those kept for tuning, those kept for testing, or all. The split never changes."
        ),
    ] = "all",
    seed: Annotated[int, typer.Option(help="Seed of all random draws.")] = 0,
    baseline: Annotated[
        bool,
        typer.Option(
            help="Show users made from people beside the others: on the scenarios of at most 100 conversations, each in "
            "the words of the half of HUMAN that it is not in. No model is asked."
        ),
    ] = True,
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON on stdout.")] = False,
) -> int:
    """Compare simulated users with people, measure by measure: how far apart they are, and how far people are from
    other people."""
    from ..analysis.realism import compare as compared
    from ..runs.label_origins import annotated_keys
    from ..views.realism import FILES, write

    if out is not None:
        check_free(*(out / name for name in FILES), force=force)
    further = reference or []
    loaded = [read_whole(path) for path in (sim, human, *([published] if published is not None else []), *further)]
    for source in loaded:
        for note in source.notes:
            say(f"{source.path}: {note}")
    conversations = [source.conversations for source in loaded]
    for source in loaded[:2]:
        if len(source) < FEW:
            say(f"{at(source.path)}: has only {len(source)} of the {FEW} conversations or more that an interval needs")
    first_reference = len(loaded) - len(further)
    made = _made(conversations[1], part, seed) if baseline else None
    report = compared(
        *conversations[:first_reference],
        made=None if made is None else made.conversations,
        references=dict(zip(names_of(further), conversations[first_reference:], strict=True)),
        models=(annotated_keys(sim), annotated_keys(human)),
        language=language,
        part=part,
        seed=seed,
    )
    if made is not None:
        report = report.model_copy(update={"notes": (*report.notes, *made.notes)})
    written = write(report, out, name=sim.name, against=human.name) if out is not None else []
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        stdout.print(report.table(untold=False).rich())
        for line in _told_apart(report.discriminator):
            put(line)
        put(_mean_distances(report))
        put("One number is not realism, and realism is not usefulness as a tester: read the measures.")
    if written:
        say(f"written: {', '.join(str(path) for path in written)}")
    return 1 if any(source.broken for source in loaded) else 0


def _mean_distances(report: "Report") -> str:
    """The mean distance over the ranked measures that have one, of each side and of people among themselves."""
    ranked = [row for row in report.measures if not row.apart and row.distance is not None]
    sides = {
        "simulated": "distance",
        "made from people": "made",
        "published": "published",
        "people from people": "floor",
    }
    told = []
    for name, field in sides.items():
        values = [value for row in ranked if (value := getattr(row, field)) is not None]
        if ranked and len(values) == len(ranked):
            told.append(f"{name} {sum(values) / len(values):.2f}")
    return f"Mean distance over {len(ranked)} ranked measures: {', '.join(told) or 'none has one'}"


def _made(people: "Sequence[Conversation]", part: UserPart, seed: int) -> "FromPeople":
    """Users made from people on the scenarios of a part of them; a line says that it takes its time."""
    from ..analysis.attempts import assistant_of
    from ..runs.from_people import from_people

    def tell(count: int) -> None:
        say(f"simulating {count} conversations of users made from people, as a baseline (--no-baseline: none)")

    return from_people(people, part, seed=seed, answered=assistant_of, tell=tell)


def _told_apart(found: "Discriminator") -> list[str]:
    """The AUC and what to read it against, a line each."""
    lines = [("Told apart by the measures alone (AUC)", _words(found.auc))]
    if found.without_length is not None:
        lines.append(("Without the measures of length", f"{found.without_length:.2f}"))
    if found.published is not None:
        lines.append(("Published simulated users", _words(found.published)))
    if found.made is not None:
        lines.append(("Users made from people", _words(found.made)))
    lines.append(("People from people", _halvings(found.floor)))
    for each in found.references:
        lines.append((f"Reference {each.name} from the people", _words(each.from_people)))
        lines.append((f"Simulated users from reference {each.name}", _words(each.auc)))
    return [f"{title}: {words}" for title, words in lines]


def _halvings(found: "Interval") -> str:
    """The floor, whose ends are no interval but the middle 95 % of the halvings: it has them with few users, too."""
    if found.value is None or found.low is None or found.high is None:
        return _words(found)
    return f"{found.value:.2f}, their halves from {found.low:.2f} to {found.high:.2f}"


def _words(found: "Interval") -> str:
    if found.value is None:
        return found.reason
    bounded = found.low is not None and found.high is not None
    return (
        f"{found.value:.2f}, {found.low:.2f} to {found.high:.2f}" if bounded else f"{found.value:.2f}, {found.reason}"
    )
