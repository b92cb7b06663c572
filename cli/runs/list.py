"""`duologue runs list`: the run folders, and the state of each."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...data.records import stop_in_words
from ..options.shared import json_of
from ..running.run import OUT
from ..streams import print_json, put, say

if TYPE_CHECKING:
    from ...runs.folder.run_state import RunInfo

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def list_command(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR...", help="Run folders, or folders of them. Default: out, and the working folder."),
    ] = None,
    as_json: Annotated[bool, json_of("the list")] = False,
) -> int:
    """List run folders, and the state of each.

    Cast, conversations planned and finished, stop reasons, size, version and begin. For a run that is not complete
    also: whether it is being written now, what is missing, the remedy, and why conversations failed.
    """
    from ...runs.folder.run_state import status_lines
    from ...runs.listing import listed, listed_around

    # Without an argument and without a first run there is nothing to list, and nothing wrong.
    infos = listed(sources) if sources else listed_around(OUT)
    if as_json:
        print_json([run.model_dump(mode="json") for run in infos])
        return 0
    if not infos:
        where = ", ".join(map(str, sources)) if sources else f"{OUT} or the working folder"
        say(f"no run in {where}: name the folder: duologue runs list FOLDER")
        return 0
    for run in infos:
        details = [] if run.being_written else status_lines(run)  # the first line says so
        put(_line(run), *(f"  {line}" for line in details))
    say(*(run.problem for run in infos if run.problem))
    return 0


def _line(run: "RunInfo") -> str:
    """A run in one line."""
    from ...runs.folder.run_state import finished_in_words

    state = "being written now" if run.being_written else "complete" if run.complete else "incomplete"
    ends = "; ".join(f"{stop_in_words(reason)}: {count}" for reason, count in run.stops.items())
    begun = (run.date or "at no known time").replace("T", " ").replace("+00:00", " UTC")
    finished = finished_in_words(run.finished, run.planned, run.cut_by_run)
    origin = f", {run.taken_up}" if run.taken_up else ""
    counts = f"{run.cast or 'cast unknown'}{origin}, {finished}, {state}"
    by = f"duologue {run.version}" if run.version else "version unknown"
    return f"{run.path}: {counts}{f' ({ends})' if ends else ''}, {_size(run.bytes)}, {by}, begun {begun}"


def _size(count: float) -> str:
    """A number of bytes in words.

    >>> _size(2_500_000)
    '2.5 MB'
    """
    power = 0
    while count >= 1000 and power < len(UNITS) - 1:
        count, power = count / 1000, power + 1
    return f"{count:.1f} {UNITS[power]}" if power else f"{count:.0f} {UNITS[power]}"
