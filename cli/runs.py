"""`duologue runs`: the run folders, with success and cost by version and date."""

from pathlib import Path
from typing import Annotated

from . import options
from .options import argument
from .printing import give, say
from .running import OUT


def runs_command(
    folders: Annotated[
        list[Path] | None, argument("[DIR...]", "Run folders, or folders of them. Default: out, and this folder.")
    ] = None,
    form: options.Form = "text",
    out: options.File = None,
    as_json: options.Json = False,
) -> int:
    """List run folders with success and cost.

    By cast, version of the agent and date.
    """
    from ..studies.history import history

    # Without an argument and without a first run there is nothing to list, and nothing wrong.
    runs = history(folders or [folder for folder in (OUT, Path()) if folder.is_dir()])
    if not runs.runs and not as_json:
        say("no run there: name the folder: duologue runs DIR")
    else:
        give(runs, form, out, as_json)
    return 0
