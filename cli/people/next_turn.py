"""`duologue next-turn`: nearness of simulated users' next messages to people's."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...data.people import UserPart
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.sections import CAST, OUTPUT
from ..options.shared import (
    MODELS,
    Prompts,
    Yes,
    attempts_for,
    baseline_of,
    cast_named,
    json_of,
    out_to,
    part_of,
    sample_of,
    seed_of,
    user_by,
)
from ..output.overwriting import check_apart
from ..output.plans import print_plan
from ..output.sources import say_notes
from ..output.tables import read_source
from ..running.asking import ask_each, begun
from ..streams import print_json, put, put_tables, say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...data.next_turns import NextTurn
    from ...studies.prediction import NextTurnStudy


@extended(options_of_run("record", "replay_calls", "keep_calls"))
def next_turn_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="People's conversations: a data set of any format.")],
    user: Annotated[list[str] | None, user_by(f"{MODELS}. May be repeated.")] = None,
    part: Annotated[UserPart, part_of("of SRC")] = "all",
    sample: Annotated[int | None, sample_of("conversations")] = None,
    out: Annotated[
        Path | None,
        out_to("this folder: every turn and its scores, and next_turn.json; the same command continues from there."),
    ] = None,
    baseline: Annotated[bool, baseline_of(", with messages of other people of SRC")] = True,
    cast: Annotated[
        str | None,
        cast_named(
            " of the simulated user. Default: the cast of the conversations' kind, or agent_test.", section=CAST
        ),
    ] = None,
    prompts: Prompts = None,
    attempts: Annotated[int | None, attempts_for("a turn", "the cast's", section=CAST)] = None,
    seed: Annotated[int, seed_of("all draws and calls", CAST)] = 0,
    yes: Yes = False,
    as_json: Annotated[bool, json_of("the report", section=OUTPUT)] = False,
    **values: Any,
) -> int:
    """Compare simulated next turns with those of people.

    Asks simulated users, at every turn of people's conversations, for their next message. Exit code 0: every user was
    simulated at every turn; 1: a turn could not be simulated, and the report gives the reason.
    """
    from ...studies.prediction import NextTurnStudy

    options = RunOptions(**values, yes=yes, as_json=as_json)
    check_apart(out, source)
    people = read_source(source)
    say_notes(people, named=True)
    study = NextTurnStudy(
        people,
        {spec: spec for spec in user or ()},
        part,
        sample,
        seed,
        cast,
        {} if prompts is None else {"prompts": prompts},
        attempts,
        out,
    )
    with options.surroundings():
        turns_of_users: dict[str, list[NextTurn]] = {}
        if options.plan:
            return print_plan(study.plan(), options)
        retrieval_based = study.retrieval_based(_tell) if baseline else (None, [])
        if study.casts:
            turns_of_users = _turns_of(study, options)
    report, written = study.report(turns_of_users, retrieval_based)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        put_tables(report.tables())
        put("Near to one person's next turn is not realism, and realism is not usefulness for testing.")
    if written:
        say(f"written: {', '.join(map(str, written))}")
    return 1 if any(row.failed for row in report.rows) or people.broken else 0


def _tell(turns: int) -> None:
    say(f"asking users made from people at {turns} places, as a baseline (--no-baseline: none)")


def _turns_of(study: "NextTurnStudy", options: RunOptions) -> "dict[str, list[NextTurn]]":
    """What each user says, one user after the other, under one set of bounds."""
    control = begun(study.plan(), options, study.casts.values())
    conduct, concurrency = options.conduct(control), options.concurrency or "auto"
    count = len(study.casts) * len(study.benchmark.moments)

    def turns(spec: str, on_turn: "Callable[[NextTurn], None]") -> "Coroutine[Any, Any, list[NextTurn]]":
        return study.aturns(spec, concurrency=concurrency, conduct=conduct, on_turn=on_turn)

    stored = f"the replies are in {study.out}; continue with the same command"
    left = "nothing is kept without --out" if study.out is None else stored
    return ask_each(study.casts, turns, control, f"{{}} of {count} turns asked", max_time=options.max_time, left=left)
