"""`duologue stats judges`: judges of satisfaction against people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..data import DataError
from ..data.loading import Loaded
from ..errors import SettingError, at
from .interrupts import INTERRUPTED
from .options import extended
from .output import say, stderr
from .overwriting import check_outside, check_unread
from .planning import Plan, go_on
from .run_options import LEAVING, PACE, Yes
from .tables import AsJson, Force, Form, Out, give, read_whole
from .tracing import leaving

if TYPE_CHECKING:  # needs an extra, and `--help` need not wait for it
    from ..analysis.judges import Judge, JudgedTurn
    from ..data.records import Conversation

AT_ONCE = 8
"""Calls at the same time, unless another number is asked for."""
MOST_CALLS = 3
"""For one reply: what cannot be read is asked for again."""


@extended(LEAVING)
def judges(
    source: Annotated[
        Path,
        typer.Argument(metavar="SRC", help="Conversations whose users say how satisfied they are with each reply."),
    ],
    asked: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="SPEC",
            help="A judge to measure, may be given more than once: openai:NAME, PROVIDER:NAME, or MODULE:FUNCTION, which "
            "takes a conversation and gives a number from 1 to 5 for each reply.",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels",
            metavar="NAME",
            help="A judge whose points are a label of the replies, in SRC or in --annotated. May be given more than once.",
        ),
    ] = None,
    annotated: Annotated[
        Path | None,
        typer.Option(
            "--annotated",
            metavar="SRC2",
            help="A copy of SRC whose labels are a judge's, matched by path or id. Default label: that of --label.",
        ),
    ] = None,
    label: Annotated[str, typer.Option(help="Label in which SRC has what people say of a reply.")] = "satisfaction",
    split: Annotated[
        Literal["users", "published"],
        typer.Option(
            help="users: whole users are held out, in five folds; published: a fifth of the turns at random, most of whose "
            "conversations stand in training too."
        ),
    ] = "users",
    page: Annotated[
        Path | None, typer.Option(help="Page that a model of --judge is asked with, in place of the shipped one.")
    ] = None,
    kept: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep what models of --judge say here; the same command goes on from there."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, rich_help_panel=PACE, help="Calls of --judge at the same time.")
    ] = AT_ONCE,
    seed: Annotated[int, typer.Option(help="Seed of the users that are drawn for intervals.")] = 0,
    yes: Yes = False,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
    **values: Any,
) -> int:
    """Measure judges of satisfaction against what people say: kappa, error, AUC of dissatisfaction, concordance.

    Exit code 1: a model of --judge said nothing of some turns.
    """
    from ..analysis.judges import judged_turns, measure_judges
    from ..analysis.judges.folds import published
    from ..analysis.judges.reasons import given_reasons
    from ..analysis.trust import Trusts
    from ..runs.annotation_journal import annotated_keys

    check_unread(kept)
    check_outside(kept, source)
    loaded = read_whole(source)
    for note in loaded.notes:
        say(note)
    turns = judged_turns(loaded.conversations, label)
    if not turns:
        raise DataError(
            f"{at(source)}: no reply has a label {label!r} of 1 to 5: give conversations whose users say how satisfied "
            "they are, such as people's second study of RecLLMSim, or name the label (--label)"
        )
    judges, reasons = _told(source, loaded, labels or [], annotated, label)
    failed = 0
    tested = [turns[place] for place in published(turns).tested] if split == "published" else turns
    with leaving(**values):
        for spec in dict.fromkeys(asked or ()):
            judge, silent = _asked(spec, loaded, tested, page, kept, concurrency, quiet=as_json, yes=yes)
            judges.append(judge)
            failed += silent
    trust = Trusts.of(loaded.conversations, annotated_keys(source)).note(label, of_messages=True)
    said = {name: given_reasons(told) for name, told in reasons.items()}
    report = measure_judges(turns, judges, split=split, reasons_said=said, seed=seed, trust=trust)
    give(report.to_json(), report.tables(), as_json=as_json, form=form, out=out, force=force)
    return 1 if failed or loaded.broken else 0


def _told(
    source: Path, loaded: Loaded, labels: list[str], annotated: Path | None, label: str
) -> "tuple[list[Judge], dict[str, dict[tuple[str, int], str]]]":
    """The judges whose points are labels, and the reasons that an annotated copy tells."""
    from ..analysis.judges import given, labelled
    from ..analysis.judges.reasons import labelled_reasons

    if annotated is None:
        if label in labels:
            raise SettingError(f"--labels {label}: is what people say: name another label, or give --annotated")
        told, where = loaded, str(source)
    else:
        told, where = read_whole(annotated), str(annotated)
        for note in told.notes:
            say(f"{annotated}: {note}")
    judges = []
    for name in dict.fromkeys(labels or ([] if annotated is None else [label])):
        points = labelled(told.conversations, name)
        if not points:
            raise DataError(f"{at(where)}: no reply has a label {name!r} of 1 to 5: give its name as it stands there")
        judges.append(given(name if annotated is None else f"{annotated.name}: {name}", points))
    reasons = {} if annotated is None else labelled_reasons(told.conversations)
    return judges, {f"{annotated.name}: reason": reasons} if annotated is not None and reasons else {}


def _asked(
    spec: str,
    loaded: Loaded,
    turns: "Sequence[JudgedTurn]",
    page: Path | None,
    kept: Path | None,
    concurrency: int,
    *,
    quiet: bool,
    yes: bool,
) -> "tuple[Judge, int]":
    """The judge of a spec, and of how many turns it could say nothing."""
    from ..analysis.judges import asked, given
    from ..nodes.import_path import imported, is_import_path
    from ..nodes.models.specs import names_model

    if is_import_path(spec) and not names_model(spec):
        found = imported(spec, "--judge")
        if not callable(found):
            raise SettingError(f"--judge {spec}: is no function: give one that takes a conversation")
        function: Any = found
        return asked(spec, function, _judged_ones(loaded, turns)), 0
    from ..runs.judging import Opinion, Reply, judge_replies

    replies = [Reply(loaded.conversations[turn.conversation], turn.turn) for turn in turns]
    go_on(
        Plan(
            len(replies), "turns", len(replies), MOST_CALLS * len(replies), "each one question to a judge", asked=True
        ),
        quiet=quiet,
        yes=yes,
    )
    count = 0
    with stderr.status(f"0 of {len(replies)} turns judged") as status:

        def tell(_: Opinion) -> None:
            nonlocal count
            count += 1
            status.update(f"{count} of {len(replies)} turns judged")

        try:
            said = judge_replies(spec, replies, page=page, kept=kept, concurrency=concurrency, watch=tell)
        except KeyboardInterrupt:
            say("interrupted: " + ("nothing is kept without --kept" if kept is None else f"what was said is in {kept}"))
            raise typer.Exit(INTERRUPTED) from None
    failed = [one for one in said if one.error]
    if len(failed) == len(said):
        raise DataError(f"--judge {spec}: says nothing of any turn: {failed[0].error}")
    if failed:
        say(f"{spec}: says nothing of {len(failed)} of {len(said)} turns: {failed[0].error}")
    points = zip(turns, said, strict=True)
    return given(spec, {(turn.path, turn.turn): float(one.points) for turn, one in points if one.points}), len(failed)


def _judged_ones(loaded: Loaded, turns: "Sequence[JudgedTurn]") -> "list[Conversation]":
    """The conversations with a turn to judge."""
    return [loaded.conversations[place] for place in dict.fromkeys(turn.conversation for turn in turns)]
