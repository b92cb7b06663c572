"""`duologue next-turn`: nearness of simulated users' next messages to people's."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ...data.people import UserPart
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.shared import (
    MODELS,
    Prompts,
    Yes,
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
from ..output.sources import say_notes
from ..output.tables import read_source
from ..running.asking import asked, begun
from ..streams import print_json, put, put_tables, say


@extended(options_of_run("replies", "frozen"))
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
        cast_named(" of the simulated user. Default: the cast of the conversations' kind, or agent_test."),
    ] = None,
    prompts: Prompts = None,
    seed: Annotated[int, seed_of("all draws and calls")] = 0,
    yes: Yes = False,
    as_json: Annotated[bool, json_of("the report")] = False,
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
    users = {spec: spec for spec in user or ()}
    settings = {} if prompts is None else {"prompts": prompts}
    study = NextTurnStudy(people, users, part, sample, seed, cast, settings, out=out)
    with options.surroundings():
        conduct = begun(study.plan(), options, study.casts.values())
        retrieval_based = study.retrieval_based() if baseline else (None, [])
        places = len(study.benchmark.moments)
        left = (
            "nothing is kept without --out"
            if out is None
            else f"the turns are in {out}; continue with the same command"
        )
        turns = asked(
            lambda show: study.turns(conduct, lambda name: show(f"asks {name} at {places} places")),
            conduct,
            "begins",
            left,
        )
    report, written = study.report(turns, retrieval_based)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        put_tables(report.tables())
        put("Near to one person's next turn is not realism, and realism is not usefulness for testing.")
    if written:
        say(f"written: {', '.join(map(str, written))}")
    return 1 if any(row.failed for row in report.rows) or people.broken else 0
