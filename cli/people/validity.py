"""`duologue validity`: agreement of simulated users with people, and detection of seeded faults."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...data import record_lines
from ...data.people import UserPart
from ...errors import SettingError
from ...studies.sources import MOST_DRAWN, of_drawn_users
from ...studies.validation import ValidityTrial, written
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.sections import SCENARIOS
from ..options.shared import MODELS, Draw, Repeats, assistant_by, limit_to, option, out_to, part_of, seed_of, user_by
from ..output.failure_lines import failures
from ..output.overwriting import check_apart
from ..output.plans import print_plan
from ..output.sources import say_notes
from ..output.tables import read_source
from ..running.interrupts import STOPPED, exit_code
from ..running.run import OUT, TIME_OVER, run_into
from ..running.typed import resuming
from ..streams import print_json, put, put_tables, say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...data.records import Conversation
    from ...runs.engine.control import Control
    from ...runs.folder.summary import Summary
    from ...runs.people.validity import ValidityRun


@extended(options_of_run("resume", "yes", "as_json", "record", "replay_calls", "keep_calls", "retry_failed"))
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
    repeats: Repeats = 2,
    out: Annotated[
        Path | None, out_to("this folder: report.json, and a run of each pair. Default: out/validity-N.")
    ] = None,
    scenarios: Annotated[
        Path | None,
        option(
            "Take the scenarios of this source, as test does. Default: the shipped tasks, or people's contexts.",
            "--scenarios",
            section=SCENARIOS,
            metavar="SRC",
        ),
    ] = None,
    part: Annotated[UserPart, part_of("of SRC", section=SCENARIOS)] = "test",
    limit: Annotated[int | None, limit_to("scenarios", section=SCENARIOS)] = None,
    seed: Annotated[int, seed_of("all draws and calls", SCENARIOS)] = 0,
    draw: Draw = MOST_DRAWN,
    **values: Any,
) -> int:
    """Measure the validity of simulated users.

    Measures whether simulated users rate as people do, and detect assistants with seeded faults. Exit code 0: all
    are scored; 1: a conversation has no score, and the report names it.
    """
    from ... import runs
    from ...runs.people.validity import named_assistants

    options = RunOptions(**values)
    check_apart(out, source)
    if options.resume and out is None:
        raise SettingError("--resume needs --out: name the runs to continue")
    if source is None and (rater or not meet):
        raise SettingError("give SRC, people's conversations with their satisfaction, to compare simulated users with")
    users = {spec: spec for spec in user or ["offline"]}
    if source is not None and not user:
        users[f"people:{source.name}?part=tune"] = f"people:{source}?part=tune"
    folder = out or runs.new_folder(OUT, "validity")
    with options.surroundings():
        place, people = (None, ()) if source is None else _people(source, draw, seed)
        trial = ValidityTrial(
            users=users,
            assistants=named_assistants(assistant or ()) if meet else {},
            source=place,
            people=people,
            judges=rater or (),
            part=part,
            scenarios=scenarios,
            limit=limit,
            repeats=repeats,
            seed=seed,
        )
        if options.plan:
            return print_plan(trial.plan(folder, resume=options.resume), options)
        control = options.control()
        conversations_in: dict[Path, list[Conversation]] = {}
        summaries: list[Summary] = []
        for run in (*trial.ratings, *trial.meetings):
            summaries.append(_run(run, folder, options, control, seed))
            conversations_in[run.place] = list(record_lines.attempted(run.folder(folder)))
    report = trial.report(conversations_in)
    path = written(report, folder)
    if options.as_json:
        print_json({"out": str(folder), **report.model_dump(mode="json")})
    else:
        put_tables(report.tables())
        put("", f"written: {path}")
    lacking = any(row.failed for row in report.told) or any(
        row.failed for row in (report.people.rows if report.people else ()) if row.kind == "tester"
    )
    return max(_ended(summaries, folder, control), int(lacking))


def _people(source: Path, most: int, seed: int) -> "tuple[str | Sequence[Conversation], Sequence[Conversation]]":
    """The path of people's conversations, or of a large source those of drawn users; and the conversations."""
    loaded = read_source(source)
    say_notes(loaded, named=True)
    drawn, remark = of_drawn_users(loaded, most, seed, say)
    if not remark:
        return str(source), loaded
    say(f"{source}: {remark}")
    return drawn, drawn


def _run(run: "ValidityRun", out: Path, options: RunOptions, control: "Control", seed: int) -> "Summary":
    """The summary of a run."""
    from ...data.formats.source import MANIFEST

    folder = run.folder(out)
    # What was begun goes on; the runs that were not are begun.
    options = replace(options, resume=options.resume and (folder / MANIFEST).is_file())
    limits = replace(run.cast.limits, seed=seed)
    return run_into(run.cast, list(run.states), folder, limits, {}, options, control)


def _ended(summaries: "Sequence[Summary]", out: Path, control: "Control") -> int:
    """Say in one line what is missing of all runs, and the command that goes on; gives the exit code."""
    incomplete = [summary for summary in summaries if not summary.complete]
    if not incomplete:
        return 0
    for summary in incomplete:
        say(*failures(summary))
    counts = {
        "missing": sum(summary.missing for summary in incomplete),
        "cut short": sum(summary.cut_by_run for summary in incomplete),
        "without a score": sum(summary.unanswered for summary in incomplete),
    }
    lacking = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    why = control.ending or next(filter(None, (summary.stopped for summary in incomplete)), "")
    wider = " (with a wider bound)" if control.ending not in (None, STOPPED) and not why.startswith(TIME_OVER) else ""
    planned = sum(summary.planned for summary in summaries)
    say(f"{why}{'; ' * bool(why)}{lacking} of {planned} conversations; continue with this command{wider}:")
    say(resuming(out))
    return exit_code(control) if control.ending == STOPPED else 1
