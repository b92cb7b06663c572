"""`duologue validity`: agreement of simulated users with people, and detection of seeded faults."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ...data.people import UserPart
from ...errors import SettingError
from ...studies.sources import MOST_DRAWN
from ...studies.validation import REPORT, trial_of
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.shared import (
    MODELS,
    Draw,
    Repeats,
    assistant_by,
    limit_to,
    option,
    out_to,
    part_of,
    scenarios_from,
    seed_of,
    user_by,
)
from ..output.overwriting import check_apart
from ..output.sources import say_notes
from ..output.tables import read_source
from ..running.asking import asked, begun
from ..streams import print_json, put, put_tables, say


@extended(options_of_run("yes", "as_json", "replies", "frozen"))
def validity_command(
    source: Annotated[
        Path | None,
        typer.Argument(metavar="[SRC]", help="People's conversations with their satisfaction, to compare users with."),
    ] = None,
    user: Annotated[
        list[str] | None,
        user_by(
            f"{MODELS}. May be repeated. Default: offline, and with SRC the retrieval-based user of its development "
            "split."
        ),
    ] = None,
    assistant: Annotated[
        list[str] | None,
        assistant_by(
            "one with seeded faults (good, forgetful, wordy, wrong), or NAME=MODEL. May be repeated, the reference "
            "first. Default: all with seeded faults.",
            "NAME[=MODEL]",
        ),
    ] = None,
    rater: Annotated[
        list[str] | None,
        option("Rate SRC's conversations as the person with this model; may be repeated.", metavar="MODEL"),
    ] = None,
    meet: Annotated[
        bool,
        option(
            "Simulate conversations of users with assistants. --no-meet: only compare ratings with people's.",
            "--meet/--no-meet",
        ),
    ] = True,
    scenarios: Annotated[
        Path | None, scenarios_from("as test does. Default: the shipped tasks, or people's contexts.")
    ] = None,
    limit: Annotated[int | None, limit_to("scenarios")] = None,
    repeats: Repeats = 2,
    part: Annotated[UserPart, part_of("of SRC")] = "test",
    out: Annotated[
        Path | None, out_to("this folder: report.json, and a run of each pair; the same command goes on from there.")
    ] = None,
    seed: Annotated[int, seed_of("all draws and calls")] = 0,
    draw: Draw = MOST_DRAWN,
    **values: Any,
) -> int:
    """Measure the validity of simulated users.

    Measures whether simulated users rate as people do, and detect assistants with seeded faults. Exit code 0: all
    are scored; 1: a conversation has no score, and the report names it.
    """
    from ... import runs
    from ...runs.validity import named_assistants

    options = RunOptions(**values)
    check_apart(out, source)
    if source is None and (rater or not meet):
        raise SettingError("give SRC, people's conversations with their satisfaction, to compare simulated users with")
    users = {spec: spec for spec in user or ["offline"]}
    if source is not None and not user:
        users[f"people:{source.name}?part=tune"] = f"people:{source}?part=tune"
    people = None if source is None else read_source(source)
    if people is not None:
        say_notes(people, named=True)
    folder = out or runs.new_folder(Path("out"), "validity")
    assistants = named_assistants(assistant or ()) if meet else {}
    with options.surroundings():
        trial = trial_of(
            people, users, assistants, judges=rater or (), part=part, scenarios=scenarios, limit=limit, repeats=repeats,
            seed=seed, draw=draw, notify=say,
        )  # fmt: skip
        conduct = begun(trial.plan(folder), options, [run.cast for run in (*trial.ratings, *trial.meetings)])
        left = f"the runs are in {folder}; continue with the same command and --out {folder}"
        report = asked(
            lambda show: trial.tried(folder, conduct, show),
            conduct,
            "begins",
            left,
        )
    if options.as_json:
        print_json({"out": str(folder), **report.model_dump(mode="json")})
    else:
        put_tables(report.tables())
        put("", f"written: {folder / REPORT}")
    testers = [row for row in (report.people.rows if report.people else ()) if row.kind == "tester"]
    return int(any(row.failed for row in report.told) or any(row.failed for row in testers))
