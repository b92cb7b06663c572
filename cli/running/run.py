"""What every `duologue simulate CAST` does around its run: name the hosts, end cleanly on a signal, report."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from ...data.records import stop_in_words
from ..options.run import RunOptions
from ..output.failure_lines import failures
from ..output.plans import go_on, print_plan
from ..streams import counts_table, print_json, put, say, stdout, streams_restored
from .beginning import lacking_replays, say_hosts, uncounted
from .interrupts import OWN_INTERRUPT, STOPPED, exit_code, or_so_far, run
from .progress import Progress

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.engine.control import Control
    from ...runs.folder.summary import Summary
    from ...runs.planning.plans import CallPlan

TIME_OVER = "--max-time"
"""Begin of the reason of a run that took all its time: the same command may take as much again."""


SHARED = "the user is counted for each run: where it is sent the same, it is called once for all"
"""Why runs that are made in turns take fewer calls than their sum."""
OUT = Path("out")
"""Folder of runs without --out."""


def limits_with(cast: Any, options: dict[str, Any]) -> Any:
    """The cast's limits, with the options that were given, by the fields' names, in their place."""
    return replace(cast.limits, **{name: value for name, value in options.items() if value is not None})


def simulated(
    cast: Any,
    scenarios: list[Any],
    folder: Path,
    limits: Any,
    source: dict[str, Any],
    options: RunOptions,
    counted: Callable[[], Mapping[str, Any]] = dict,
) -> int:
    """Simulate into the folder with its progress shown, and report; gives the exit code.

    `counted`: further counts of the run's conversations, for JSON.
    """
    if options.plan:
        return print_plan(planned_calls([(cast, folder)], scenarios, limits, options), options)
    control = options.control()
    summary = run_into(cast, scenarios, folder, limits, source, options, control)
    return report(summary, options, control, counted())


Beside: TypeAlias = Sequence[tuple[Any, Path]]
"""Casts that are simulated in turns with another on the same scenarios, each with its run folder."""


def planned_calls(versions: Beside, scenarios: list[Any], limits: Any, options: RunOptions) -> "CallPlan":
    """The plan of one cast, or of several that are simulated in turns."""
    from ...runs.planning.conversations import asks_model, conversations_planned
    from ...runs.planning.plans import joined

    plans = [
        conversations_planned(cast, scenarios, folder, limits or cast.limits, resume=options.resume)
        for cast, folder in versions
    ]
    if len(plans) == 1:
        return plans[0]
    named = {str(folder): plan for (_, folder), plan in zip(versions, plans, strict=True)}
    plan = joined(named, plans[0].what, plans[0].length, "runs")
    shares = any(asks_model(cast.nodes["user_simulator"]) for cast, _ in versions)
    return replace(plan, fewer=(*plan.fewer, *[SHARED] * shares))


def run_into(
    cast: Any,
    scenarios: list[Any],
    folder: Path,
    limits: Any,
    source: dict[str, Any],
    options: RunOptions,
    control: "Control",
    beside: Beside = (),
    conduct: Mapping[str, Any] = MappingProxyType({}),
) -> "Summary":
    """Simulate into the folder, with its progress shown unless the output is JSON; gives the run's summary.

    Before a large run it prints the size, and at a terminal asks whether to go on. Of a run that is interrupted the
    summary is what its folder holds. `limits`: None for the casts' own. `beside`: simulated in turns with it. `conduct`: what no
    option has.
    """
    from ... import runs
    from ...runs.planning.conversations import models_asked, models_of_cast

    versions = [(cast, folder), *beside]
    control.spending.refuse_unknown([model for version, _ in versions for model in models_asked(version)])
    if options.replay_calls is None:
        say_hosts([model for version, _ in versions for model in models_of_cast(version)])
    else:
        say(f"no endpoint is called: the replies are those of {options.replay_calls}")
    remarks = dict[str, None]()
    for version, _ in versions:
        remarks |= dict.fromkeys([*lacking_replays(version, scenarios), *uncounted(version, options)])
    say(*remarks)
    plan = planned_calls(versions, scenarios, limits, options)
    go_on(plan, options)

    def work() -> "Summary":
        with Progress(
            plan.count, control.spending, control.endpoints, ending=lambda: control.ending, quiet=options.as_json
        ) as progress:
            conversing = [
                runs.arun(
                    version,
                    scenarios,
                    place,
                    limits=limits,
                    concurrency=options.concurrency or "auto",
                    resume=options.resume,
                    figures=progress.figures,
                    source=source,
                    conduct=replace(options.conduct(control), **conduct),
                )
                for version, place in versions
            ]
            with streams_restored():
                first = _first_of(conversing, control) if beside else conversing[0]
                return run(first, control, progress.figures.under_way, options.max_time)

    return or_so_far(work, folder, control)


async def _first_of(conversing: "Sequence[Coroutine[Any, Any, Summary]]", control: "Control") -> "Summary":
    """The summary of the first of several runs, which are made in turns."""
    return (await control.in_turns(conversing))[0]


def report(
    summary: "Summary", options: RunOptions, control: "Control", counts: Mapping[str, Any] = MappingProxyType({})
) -> int:
    """Say how a run ended, in JSON with further counts; gives the exit code."""
    from ...analysis.drafts import DraftCount
    from ...data.formats.record_lines import iterate_run
    from ...runs.folder.run_state import finished_in_words

    drafts = DraftCount.of(iterate_run(summary.path)).sides

    say(*summary.notes, *control.spending.notes)
    if options.as_json:
        print_json(
            {
                "out": str(summary.path),
                "dataset": str(summary.dataset),
                "planned": summary.planned,
                "finished": summary.finished,
                "cut_by_run": summary.cut_by_run,
                "equal": summary.equal,
                "failed": summary.failed,
                "left_out": summary.left_out,
                **summary.counts.model_dump(mode="json"),
                "drafts": [side.model_dump(mode="json") for side in drafts],
                **counts,
            }
        )
    else:
        sums = summary.counts
        stops = "; ".join(f"{stop_in_words(reason)}: {count}" for reason, count in sums.stops.items())
        ends = f" ({stops})" if stops else ""
        done = finished_in_words(summary.finished, summary.planned, summary.cut_by_run, "conversations")
        line = f"{ends}, {sums.exchanges} turns, {sums.tokens} tokens" if sums.conversations else ""
        stdout.print(f"{done}{line}", soft_wrap=True)
        if sums.conversations:
            stdout.print(counts_table(sums))
        put(*(side.line for side in drafts))
        for line in summary.left_out[:5]:
            say(f"not in the data set: {line}")
        if len(summary.left_out) > 5:
            say(f"not in the data set: {len(summary.left_out) - 5} more, named in its card")
        say(*failures(summary))
        put(f"run:     {summary.path}")
        if sums.conversations:
            put(f"dataset: {summary.dataset}")
    return ended(summary, control, options)


def ended(summary: "Summary", control: "Control", options: RunOptions) -> int:
    """Say in one line why a run is not complete, and how to go on; gives the exit code."""
    if summary.complete:
        return 0
    cut, missing = summary.cut_by_run, summary.missing
    again = again_in(summary.path)
    cancelled = sum(reason == "cancelled" for reason in summary.failed.values())
    under_way = f", {cancelled} of them cancelled under way" if cancelled else ""
    short = [f"{cut} {'was' if cut == 1 else 'were'} cut short"] * bool(cut)
    lacks = [f"{missing} {'is' if missing == 1 else 'are'} missing{under_way}"] * bool(missing)
    lacking = " and ".join(short + lacks) or "nothing is missing"
    end, wider = end_in_words(summary, control)
    if control.ending == STOPPED and summary.stopped_by is None:
        say(f"{end}: {_missing(missing)}{under_way}; continue: {again}")
    elif end:
        say(f"{end}; {lacking}; continue: {again}{wider}")
    elif not missing and summary.unanswered:
        say(
            f"{summary.unanswered} lack answers or scores, because a model or a scorer failed after their end: {again} asks again"
        )
    elif not missing:
        say(
            f"{summary.counts.stops.get('budget', 0) - cut} were cut off by --max-tokens: with --resume and a higher limit they are simulated again"
        )
    elif options.replay_calls is not None:
        lack = "is" if missing == 1 else "are"
        say(f"{missing} {lack} missing: a replay makes no calls: record the run again, or take back what was changed")
    else:
        lack = "failed" if missing == len(summary.failed) else "is missing" if missing == 1 else "are missing"
        mended = " with the same code; once it is mended, choose another --out" * summary.compares_failed_code
        say(f"{missing} {lack}: {again} tries {_them(missing)} again{mended}")
    return exit_code(control) if control.ending == STOPPED else 1


def end_in_words(summary: "Summary", control: "Control") -> tuple[str, str]:
    """Why a run ended early, and what to add to its command; empty if nothing ended it."""
    if summary.stopped_by is not None:
        return f"ended early: {summary.stopped}", ""
    if control.ending == STOPPED:
        return "interrupted", ""
    wider = "" if (control.ending or TIME_OVER).startswith((TIME_OVER, OWN_INTERRUPT)) else " and a wider bound"
    return ("" if control.ending is None else f"ended early: {control.ending}"), wider


def cut_by(summary: "Summary", control: "Control") -> str:
    """Why what the run cut short did not come to its end, in words; empty if nothing ended the run."""
    if summary.stopped_by is not None:
        return f"the run ended: {summary.stopped}"
    return "it was interrupted" if control.ending == STOPPED else control.ending or ""


def again_in(folder: Path) -> str:
    """The command that resumes a run, in words."""
    return f"the same command with --out {quote(str(folder))} --resume"


def _missing(count: int) -> str:
    return f"{count} conversation{' is' if count == 1 else 's are'} missing"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
