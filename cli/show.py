"""`duologue show`: conversations as a page."""

from pathlib import Path
from typing import Annotated

from ..errors import DataError, at
from . import options
from .options import option
from .printing import print_json, put


def show_command(
    source: options.Source,
    id: Annotated[str | None, option("Only this conversation; its first characters do.", "--id", metavar="ID")] = None,
    limit: options.Limit = None,
    out: options.File = None,
    skip_broken: options.SkipBroken = False,
    as_json: options.Json = False,
) -> int:
    """Write conversations as one HTML page.

    The page needs no network. It has the figures of a run, how often each step of the graph ran, and every conversation
    with its rejected drafts; of more than a thousand, the failed ones first. Without --out it lies in this folder, under
    the name of SRC.
    """
    from ..studies.pages import show
    from ..views import is_page

    page = show(source, id=id, limit=limit, skip_broken=skip_broken)
    target = out or Path(f"{_plain(page.title)}.html")
    if target.exists() and not is_page(target):
        raise DataError(f"{at(target)}: exists and is not a page of Duologue: choose another file with --out")
    page.write(target)
    if as_json:
        print_json({"source": str(source), "target": str(target), "conversations": page.count})
    else:
        put(str(target))
    return 0


def _plain(name: str) -> str:
    """A name as that of a file in this folder."""
    text = "".join(character if character.isalnum() or character in "-_." else "_" for character in name)
    return text.lstrip(".")[:100] or "conversation"
