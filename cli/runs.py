"""`duologue runs`: what run folders hold, what is wrong with one, and mending it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ..data.stop_reasons import in_words
from ..data.text.terminal import plain
from .output import print_json, say, stdout
from .running import OUT

if TYPE_CHECKING:
    from ..runs.standing import RunInfo

runs = typer.Typer(help="Run folders: list them, check one, mend one.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")]
UNITS = ("bytes", "kB", "MB", "GB", "TB")


@runs.callback()
def folders() -> None:
    """Run folders: list them, check one, mend one."""


@runs.command("list")
def list_runs(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR...", help="Run folders, or folders of them. Default: out, and the working folder."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON on stdout.")] = False,
) -> int:
    """List runs: cast, conversations planned and finished, why they ended, size, version, when they were begun. Below a
    run that is not complete: whether it is being written now, what is missing and what to do, and why conversations
    failed."""
    from ..runs.listing import listed, listed_around
    from ..runs.standing import told

    # Without an argument and without a first run there is nothing to list, and nothing wrong.
    found = listed(sources) if sources else listed_around(OUT)
    if as_json:
        print_json([run.model_dump(mode="json") for run in found])
        return 0
    if not found:
        where = ", ".join(map(str, sources)) if sources else f"{OUT} or the working folder"
        say(f"no run in {where}: name the folder: duologue runs list FOLDER")
        return 0
    for run in found:
        details = [] if run.being_written else told(run)  # the first line says so
        for line in (_line(run), *(f"  {line}" for line in details)):
            stdout.print(escape(plain(line)), soft_wrap=True)
    for run in found:
        if run.problem:
            say(run.problem)
    return 0


def _line(run: "RunInfo") -> str:
    """A run in one line."""
    from ..runs.standing import finished_in_words

    state = "being written now" if run.being_written else "complete" if run.complete else "incomplete"
    ends = "; ".join(f"{in_words(reason)}: {count}" for reason, count in run.stops.items())
    begun = (run.date or "at no known time").replace("T", " ").replace("+00:00", " UTC")
    finished = finished_in_words(run.finished, run.planned, run.cut_by_run)
    counts = f"{run.cast or 'cast unknown'}, {finished}, {state}"
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


@runs.command("validate")
def validate(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is wrong as JSON on stdout.")] = False,
) -> int:
    """Check a run folder: manifest, records, plan, data set and prompt pages. A line for each thing that is wrong, and
    exit code 1 if there is one."""
    from ..runs.inspection import problems

    found = problems(folder)
    if as_json:
        print_json({"run": str(folder), "problems": found})
    else:
        for line in found or [f"{folder}: whole and complete"]:
            stdout.print(escape(plain(line)), soft_wrap=True)
    return 1 if found else 0


@runs.command("repair")
def repair(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON on stdout.")] = False,
) -> int:
    """Take lines that cannot be read or do not belong to the run out of its files, restore a lost manifest, and write
    the data set again. A file that is changed is kept beside the new one as NAME.broken. At the end it says which
    conversations are missing, if any."""
    from ..runs.mending import repair as mended
    from ..runs.standing import standing, told

    done = mended(folder)
    left = told(standing(folder))
    if as_json:
        print_json({"run": str(folder), "done": done, "left": left})
    else:
        for line in [*(done or [f"{folder}: nothing to mend"]), *(f"{folder}: {line}" for line in left)]:
            stdout.print(escape(plain(line)), soft_wrap=True)
    return 0
