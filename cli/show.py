"""`duologue show`: conversations as a page."""

from pathlib import Path
from typing import Annotated

from ..errors import DataError, at
from .options.shared import AnySource, json_of, limit_to, option, out_to
from .streams import print_json, put, say, skips_broken


def show_command(
    source: AnySource,
    name: Annotated[
        str | None,
        option("Take only the conversation with this id; its first characters are enough.", "--id", metavar="ID"),
    ] = None,
    beside: Annotated[
        Path | None,
        option("Show another run or data set beside it, paired by topic.", metavar="SRC2"),
    ] = None,
    limit: Annotated[int | None, limit_to("conversations of each source")] = None,
    out: Annotated[
        Path | None, out_to("this HTML file. Default: the name of SRC with .html, in this folder.", "FILE")
    ] = None,
    as_json: Annotated[bool, json_of("the path and the notes")] = False,
) -> int:
    """Write conversations as one HTML page.

    The page needs no network. It has the figures of a run, how often each step of the graph ran, and every conversation
    with its rejected drafts; of more than a thousand, the failed ones first.
    """
    from ..studies.pages import show
    from ..views import is_page

    notes: list[str] = []
    page = show(source, id=name, beside=beside, limit=limit, skip_broken=skips_broken(), notify=notes.append)
    target = out or Path(f"{_plain(page.title)}.html")
    if target.exists() and not is_page(target):
        raise DataError(f"{at(target)}: exists and is not a page of Duologue: choose another file with --out")
    page.write(target)
    if as_json:
        print_json({"source": str(source), "target": str(target), "conversations": page.count, "notes": notes})
    else:
        say(*notes)
        put(str(target))
    return 0


def _plain(name: str) -> str:
    """A name as that of a file in this folder."""
    text = "".join(character if character.isalnum() or character in "-_." else "_" for character in name)
    return text.lstrip(".")[:100] or "conversation"
