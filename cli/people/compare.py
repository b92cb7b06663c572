"""`duologue compare`: how far simulated users are from people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...data.files.paths import names_of
from ...data.people import UserPart
from ...data.text.languages import Language
from ...studies.comparison import compare
from ...studies.sources import MOST_DRAWN
from ..options.sections import OUTPUT
from ..options.shared import Draw, baseline_of, json_of, language_of, option, out_to, part_of, published_beside, seed_of
from ..output.overwriting import check_free
from ..output.sources import say_notes
from ..output.tables import Force, read_source
from ..streams import print_json, put, say, stdout

if TYPE_CHECKING:
    from ...analysis.realism import RealismReport
    from ...analysis.realism.statistics.auc import Discriminator, Interval


def compare_command(
    sim: Annotated[Path, typer.Argument(metavar="SIM", help="Simulated conversations: a run folder or a data set.")],
    human: Annotated[Path, typer.Argument(metavar="HUMAN", help="People's conversations: a data set of any format.")],
    out: Annotated[Path | None, out_to("this folder: report.html and report.json.")] = None,
    published: Annotated[Path | None, published_beside(" in further columns")] = None,
    reference: Annotated[
        list[Path] | None,
        option(
            "Add conversations of other people, whose distance from HUMAN is shown beside the human-human baseline; "
            "may be repeated.",
            metavar="SRC",
        ),
    ] = None,
    language: Annotated[
        Language | None, language_of("the conversations to compare. Default: one that both groups have.")
    ] = None,
    part: Annotated[UserPart, part_of("of HUMAN")] = "all",
    seed: Annotated[int, seed_of("all random draws")] = 0,
    sample: Draw = MOST_DRAWN,
    baseline: Annotated[
        bool,
        baseline_of(", on the scenarios of at most 100 conversations, each with the words of the other split of HUMAN"),
    ] = True,
    force: Force = False,
    as_json: Annotated[bool, json_of("the report", section=OUTPUT)] = False,
) -> int:
    """Compare simulated users with people.

    For each measure: the distance of simulated users from people, and that of people from other people.
    """
    from ...views.realism.report import FILES

    written = [] if out is None else [out / name for name in FILES]
    check_free(*written, force=force)
    further = reference or []
    sources = [sim, human, *([published] if published is not None else []), *further]
    loaded = [read_source(path) for path in sources]
    say_notes(*loaded, named=True)
    first_reference = len(loaded) - len(further)
    report = compare(
        *loaded[:first_reference],
        references=dict(zip(names_of(further), loaded[first_reference:], strict=True)),
        baseline=baseline,
        language=language,
        part=part,
        seed=seed,
        sample=sample,
        out=out,
        notify=say,
        on_baseline=lambda count: say(
            f"simulating {count} conversations of users made from people, as a baseline (--no-baseline: none)"
        ),
    )
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        stdout.print(report.table(untold=False, width=stdout.width).rich())
        put(*_discrimination(report.discriminator))
        put(_mean_distances(report))
        put("One number is not realism, and realism is not usefulness for testing: read the measures.")
    if written:
        say(f"written: {', '.join(str(path) for path in written)}")
    return 1 if any(source.broken for source in loaded) else 0


def _mean_distances(report: "RealismReport") -> str:
    """The mean distance over the ranked measures that have one, of each side and of people among themselves."""
    ranked = [row for row in report.measures if row.is_ranked and row.distance is not None]
    sides = {
        "simulated": "distance",
        "made from people": "made",
        "published": "published",
        "people from people": "floor",
    }
    means = []
    for name, field in sides.items():
        values = [value for row in ranked if (value := getattr(row, field)) is not None]
        if ranked and len(values) == len(ranked):
            means.append(f"{name} {sum(values) / len(values):.2f}")
    return f"Mean distance over {len(ranked)} ranked measures: {', '.join(means) or 'none has one'}"


def _discrimination(discriminator: "Discriminator") -> list[str]:
    """The AUC and what to read it against, a line each."""
    lines = [("Distinguished by these measures (AUC)", _words(discriminator.auc))]
    if discriminator.without_length is not None:
        lines.append(("Without the measures of length", f"{discriminator.without_length:.2f}"))
    if discriminator.published is not None:
        lines.append(("Published simulated users", _words(discriminator.published)))
    if discriminator.made is not None:
        lines.append(("Users made from people", _words(discriminator.made)))
    lines.append(("People from people", _halvings(discriminator.floor)))
    for reference in discriminator.references:
        lines.append((f"Reference {reference.name} from the people", _words(reference.from_people)))
        lines.append((f"Simulated users from reference {reference.name}", _words(reference.auc)))
    return [f"{title}: {words}" for title, words in lines]


def _halvings(auc: "Interval") -> str:
    """The human-human baseline in words.

    Its ends are not an interval but the middle 95 % of the halvings, which it has with few users too.
    """
    if auc.value is None or auc.low is None or auc.high is None:
        return _words(auc)
    return f"{auc.value:.2f}, their halves from {auc.low:.2f} to {auc.high:.2f}"


def _words(auc: "Interval") -> str:
    if auc.value is None:
        return auc.reason
    bounded = auc.low is not None and auc.high is not None
    return f"{auc.value:.2f}, {auc.low:.2f} to {auc.high:.2f}" if bounded else f"{auc.value:.2f}, {auc.reason}"
