"""`duologue runs`: the run folders, with success, cost and turn seconds by version and date."""

from pathlib import Path
from typing import Annotated

from ..data.files.json import write_text
from ..errors import DataError, at
from . import options
from .options import argument
from .printing import give, put, say
from .running import OUT


def runs_command(
    folders: Annotated[
        list[Path] | None, argument("[DIR...]", "Run folders, or folders of them. Default: out, and this folder.")
    ] = None,
    form: options.Form = "text",
    out: options.File = None,
    as_json: options.Json = False,
) -> int:
    """List run folders with success, cost and turn seconds.

    By cast, version of the agent and date; --out FILE.html is the list as one page, which sorts and filters.
    """
    from ..studies.history import history
    from ..views import is_page

    # Without an argument and without a first run there is nothing to list, and nothing wrong.
    runs = history(folders or [folder for folder in (OUT, Path()) if folder.is_dir()])
    if out is not None and out.suffix == ".html":
        if out.exists() and not is_page(out):
            raise DataError(f"{at(out)}: exists and is not a page of Duologue: choose another file")
        write_text(out, runs.page())
        put(str(out))
    elif not runs.runs and not as_json:
        say("no run there: name the folder: duologue runs DIR")
    else:
        give(runs, form, out, as_json)
    return 0
