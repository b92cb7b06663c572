"""`duologue simulate CAST`: conversations into a run folder."""

import re
from collections.abc import Iterable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from ..data.formats.record_lines import StoredRun
from ..data.formats.source import CONVERSATIONS
from ..data.records import stop_in_words
from ..data.summaries import count
from . import options
from .options import argument, option
from .printing import check_apart, counts_table, print_json, put, say, stdout
from .running import HowToRun, carried_out, checked_source, chosen, how_to_run, incomplete, new_run

if TYPE_CHECKING:
    from ..runs.simulate import Run
    from ..runs.store import RunInfo

REASONS = 5
"""Most reasons of failures that are told."""


@how_to_run()
def simulate_command(
    cast: Annotated[str, argument("CAST", "simquac, recllmsim, agent_test, or MODULE:FUNCTION.")],
    user: options.User = None,
    assistant: Annotated[str | None, option("Who plays the assistant.", metavar="MODEL")] = None,
    scenarios: options.ScenariosFrom = None,
    topics: Annotated[Path | None, option("simquac: documents or topics.", metavar="SRC")] = None,
    tasks: Annotated[Path | None, option("recllmsim: a workbook or YAML.", metavar="FILE")] = None,
    task: Annotated[list[str] | None, option("recllmsim: only this task.", metavar="NAME")] = None,
    profiles: Annotated[Path | None, option("recllmsim: profiles of users.", metavar="SRC")] = None,
    sample: Annotated[int | None, option("Draw N topics or profiles.", min=1, metavar="N")] = None,
    part: options.Part = "all",
    behaviour: options.Behaviour = None,
    world: options.World = None,
    max_turns: options.MaxTurns = None,
    settings: options.Settings = None,
    to: Annotated[str | None, option("Write the data set in this format too.", metavar="FORMAT")] = None,
    *,
    how: HowToRun,
) -> int:
    """Simulate conversations into a run folder.

    A cast says who takes part and by which rules. --set has its settings, such as --set language=zh or --set
    as_published=true, options of its scenarios and limits of a conversation; a wrong name lists them all. Exit code 1: a
    conversation failed or is missing, and the same command with --out goes on.
    """
    from dataclasses import replace

    from ..graphs import casts
    from ..runs.plan import conversations_planned
    from ..runs.simulate import arun

    factory = casts.find(cast)
    given: dict[str, Any] = {
        "user": user,
        "assistant": assistant,
        "world": world,
        "max_turns": max_turns,
        "scenarios": scenarios,
    }
    given |= {"topics": topics, "tasks": tasks, "task": task, "profiles": profiles, "sample": sample}
    given |= {"part": None if part == "all" else part, "behaviour": tuple(behaviour) if behaviour else None}
    of_cast, of_source, of_limits = chosen(factory, settings, **given)
    with how.keys():
        own = {"repeats": how.repeats, **({} if how.limit is None else {"limit": how.limit})}
        source = checked_source(factory, of_source | own)
        read = source.read(factory.checked(of_cast), how.seed or 0)
        made = factory(**(dict(read.settings) | of_cast))
        say(*read.notes)
        limits = replace(made.limits, seed=how.seed or 0, **of_limits)
        folder = new_run(how, factory.name)
        check_apart(how.out, scenarios, topics, profiles)
        casts_by_version = {"": made}
        run = carried_out(
            how,
            lambda run_settings: conversations_planned(casts_by_version, read, run_settings, limits),
            lambda run_settings: arun(casts_by_version, read, run_settings, limits=limits),
            out=folder,
            casts=[made],
        )
    return max(told(run, to, as_json=how.as_json), int(read.broken))


def told(run: "Run", to: str | None, *, as_json: bool) -> int:
    """Print how a run ended, and write its data set in the format `to`; gives the exit code."""
    from ..analysis.attempts import DraftCount
    from ..runs.store import standing

    folder = run.folder
    assert folder is not None
    info, stored = standing(folder), StoredRun(folder)
    sums, drafts = count(stored.finished()), DraftCount.of(stored.finished()).sides
    left_out: list[str] = []
    path: Path | None = None
    if to is not None and info.finished:
        from ..runs.dataset import write_dataset

        path, left_out = write_dataset(folder, to)
    say(*run.notes)
    if as_json:
        result: dict[str, Any] = {"out": str(folder), "dataset": path and str(path), "planned": info.planned}
        result |= {"finished": info.finished, "cut_by_run": info.cut_by_run, "failed": info.failed}
        result |= {"left_out": left_out, **sums.model_dump(mode="json")}
        print_json(result | {"drafts": [side.model_dump(mode="json") for side in drafts]})
        return incomplete(info, run.ending, folder)
    stops = "; ".join(f"{stop_in_words(reason)}: {number}" for reason, number in sums.stops.items())
    line = f"{f' ({stops})' if stops else ''}, {sums.exchanges} turns, {sums.tokens} tokens"
    stdout.print(f"{info.line}{line if sums.conversations else ''}", soft_wrap=True)
    if sums.conversations:
        stdout.print(counts_table(sums))
    put(*(side.line for side in drafts))
    more = len(left_out) - REASONS
    say(*(f"not in the data set: {line}" for line in left_out[:REASONS]))
    say(*([f"not in the data set: {more} more, named in its card"] if more > 0 else []))
    say(*failures(info, run.ending, folder))
    put(f"run:     {folder}", *([f"dataset: {path}"] if path is not None else []))
    if (folder / CONVERSATIONS).is_file() and sums.conversations:
        put(f"look:    duologue show {quote(str(folder))}", f"         duologue check {quote(str(folder))}")
    return incomplete(info, run.ending, folder)


def failures(info: "RunInfo", ending: str, folder: Path) -> list[str]:
    """Lines on which conversations failed, and why, with the places in one's own files; the most frequent reason first.

    Reasons that differ only in digits are one. What ended the run is told at the end.
    """
    groups: dict[str, list[str]] = {}
    for name, why in info.failed.items():
        if why != "cancelled" and not (ending and ending in why):
            groups.setdefault(re.sub(r"\w*\d\w*", "_", why), []).append(name)
    listed = sorted(groups.values(), key=len, reverse=True)
    frames = (
        {one.id: one.failure.frames for one in StoredRun(folder).cut_short() if one.failure is not None}
        if listed
        else {}
    )
    lines: list[str] = []
    for names in listed[:REASONS]:
        who = names[0] if len(names) == 1 else f"{len(names)} conversations, such as {names[0]}"
        places: Iterable[str] = frames.get(names[0], ())
        lines += [f"failed: {who}: {info.failed[names[0]]}", *(f"        at {place}" for place in places)]
    more = sum(map(len, listed[REASONS:]))
    return lines + [f"failed: {more} more, for other reasons"] * bool(more)
