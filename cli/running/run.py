"""What every command that simulates does around its run: name the hosts, end cleanly on a signal, report."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import typer

from ...data.records import stop_in_words
from ..options.run import RunOptions
from ..output.failure_lines import failures
from ..output.plans import go_on, print_plan
from ..streams import counts_table, print_json, put, say, say_in_log, stdout, streams_restored
from .beginning import lacking_replays, say_hosts, uncounted
from .interrupts import ending_in_order

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.simulate import Run
    from ...runs.store import RunInfo

OUT = Path("out")
"""Folder of runs without --out."""


def limits_with(cast: Any, options: dict[str, Any]) -> Any:
    """The cast's limits, with the options that were given, by the fields' names, in their place."""
    return replace(cast.limits, **{name: value for name, value in options.items() if value is not None})


def again_in(folder: Path) -> str:
    """The command that goes on with a run, in words."""
    return f"the same command with --out {quote(str(folder))}"


def simulated(
    casts: Mapping[str, Any],
    scenarios: Any,
    folder: Path,
    limits: Any,
    options: RunOptions,
    beside: Path | None = None,
) -> "Run":
    """Simulate casts, by the version's name, into the folder, with the progress shown unless the output is JSON.

    Before a large run it prints the size, and at a terminal asks whether to go on. With `--plan` the plan is printed, and
    ends the command; so does a signal. `limits`: None for the casts' own. `beside`: as for `runs.arun`.
    """
    from ...runs.loop import blocking
    from ...runs.plan import conversations_planned, models_asked, models_of_cast
    from ...runs.simulate import arun

    settings = options.settings(folder).shared(say_in_log)
    plan = conversations_planned(casts, scenarios, settings, limits)
    if options.plan:
        raise typer.Exit(print_plan(plan, options))
    settings.calls().spending.refuse_unknown([model for cast in casts.values() for model in models_asked(cast)])
    if options.frozen:
        say(f"no endpoint is called: the replies are those of {options.replies}")
    else:
        say_hosts([model for cast in casts.values() for model in models_of_cast(cast)])
    remarks = [(*lacking_replays(cast, list(scenarios)), *uncounted(cast, options)) for cast in casts.values()]
    say(*dict.fromkeys(line for lines in remarks for line in lines))
    go_on(plan, options)
    with ending_in_order(f"what is finished is kept; continue: {again_in(folder)}"), streams_restored():
        return blocking(arun(casts, scenarios, settings, limits=limits, beside=beside))


def report(run: "Run", options: RunOptions, counted: Mapping[str, Any] = MappingProxyType({})) -> int:
    """Say how a run ended, in JSON with further counts; gives the exit code."""
    from ...analysis.drafts import DraftCount
    from ...data.formats.record_lines import iterate_run
    from ...data.summaries import count
    from ...runs.store import standing

    assert run.folder is not None
    info, sums = standing(run.folder), count(iterate_run(run.folder))
    drafts = DraftCount.of(iterate_run(run.folder)).sides
    left_out: list[str] = []
    path: Path | None = None
    if options.to is not None and info.finished:
        from ...runs.dataset import write_dataset

        path, left_out = write_dataset(run.folder, options.to)
    say(*run.notes, *run.calls.spending.notes)
    if options.as_json:
        print_json(
            {
                "out": str(run.folder),
                "dataset": path and str(path),
                "planned": info.planned,
                "finished": info.finished,
                "cut_by_run": info.cut_by_run,
                "failed": info.failed,
                "left_out": left_out,
                **sums.model_dump(mode="json"),
                "drafts": [side.model_dump(mode="json") for side in drafts],
                **counted,
            }
        )
    else:
        stops = "; ".join(f"{stop_in_words(reason)}: {number}" for reason, number in sums.stops.items())
        line = f"{f' ({stops})' if stops else ''}, {sums.exchanges} turns, {sums.tokens} tokens"
        stdout.print(f"{info.line}{line if sums.conversations else ''}", soft_wrap=True)
        if sums.conversations:
            stdout.print(counts_table(sums))
        put(*(side.line for side in drafts))
        more = len(left_out) - 5
        say(*(f"not in the data set: {line}" for line in left_out[:5]))
        say(*([f"not in the data set: {more} more, named in its card"] if more > 0 else []))
        say(*failures(run, info))
        put(f"run:     {run.folder}", *([f"dataset: {path}"] if path is not None else []))
    return ended(run, info)


def ended(run: "Run", info: "RunInfo") -> int:
    """Say in one line why a run is not complete, and how to go on; gives the exit code."""
    if info.complete:
        return 0
    assert run.folder is not None
    parts = [
        f"{info.cut_by_run} {'was' if info.cut_by_run == 1 else 'were'} cut short" if info.cut_by_run else "",
        f"{info.missing} {'is' if info.missing == 1 else 'are'} missing" if info.missing else "",
        f"{info.unanswered} lack answers or scores after the end" if info.unanswered else "",
    ]
    end = f"ended early: {run.ending}; " if run.ending else ""
    wider = " and a wider bound" if info.cut_by_run and "--max-time" not in run.ending else ""
    say(f"{end}{' and '.join(filter(None, parts))}; continue: {again_in(run.folder)}{wider}")
    return 1
