"""`duologue runs`: the run folders, and the state of each."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...data.records import stop_in_words
from ..options.shared import json_of
from ..running.run import OUT, again_in
from ..streams import print_json, put, say

if TYPE_CHECKING:
    from ...runs.store import RunInfo


def list_command(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR...", help="Run folders, or folders of them. Default: out, and the working folder."),
    ] = None,
    as_json: Annotated[bool, json_of("the list")] = False,
) -> int:
    """List run folders, and the state of each."""
    from ...runs.store import listed

    # Without an argument and without a first run there is nothing to list, and nothing wrong.
    infos = listed(sources or [folder for folder in (OUT, Path()) if folder.is_dir()])
    if as_json:
        print_json([run.model_dump(mode="json") for run in infos])
    elif not infos:
        say("no run there: name the folder: duologue runs list FOLDER")
    for run in infos if not as_json else ():
        put(_line(run))
        if not run.complete and not run.being_written:
            put(f"  continue: {again_in(Path(run.path))}")
    return 0


def _line(run: "RunInfo") -> str:
    state = "being written now" if run.being_written else "complete" if run.complete else "incomplete"
    ends = "; ".join(f"{stop_in_words(reason)}: {count}" for reason, count in run.stops.items())
    failed = f", {len(run.failed)} failed or cancelled" if run.failed else ""
    begun = (run.date or "at no known time").replace("T", " ").replace("+00:00", " UTC")
    counts = f"{run.cast}, {run.line}{failed}, {state}{f' ({ends})' if ends else ''}"
    return f"{run.path}: {counts}, duologue {run.version}, begun {begun}"
