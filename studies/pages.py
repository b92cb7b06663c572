"""Conversations, runs and data sets as pages: `duologue.show` and its command."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..data import Conversation, Loaded
from ..data.loading import DataSource
from ..errors import DataError
from .sources import StudySource, conversations_of, logged, one_conversation

if TYPE_CHECKING:
    from ..views import HtmlPage


def show(
    source: "StudySource | Conversation",
    *,
    id: str | None = None,
    limit: int | None = None,
    out: str | Path | None = None,
    skip_broken: bool = False,
) -> "HtmlPage":
    """A conversation, several, a run or a data set as a page, which a notebook shows as HTML.

    Args:
        source: A path that `load` reads, a conversation, or several. Those that a run cut short come last.
        id: Show only the conversation with this id; its first characters are enough.
        limit: Take only the first conversations.
        out: A file to write the page to.
        skip_broken: Leave out broken lines of a path, and tell how many; else they are an error.

    Returns:
        The page; `.write(FILE.html)` saves it.

    Raises:
        DataError: The source cannot be read, or it has no such conversation.

    Example::

        >>> import duologue
        >>> said = [duologue.data.Message(role="user", text="Hello?")]
        >>> duologue.show(duologue.Conversation(id="1", scenario={"kind": "call"}, messages=said))
        <Page conversations: 1 conversation; .write(FILE.html) saves it>
        >>> duologue.show("out/simquac-1", out="run.html")  # doctest: +SKIP
    """
    from ..views import HtmlPage

    if isinstance(source, Conversation):
        page = HtmlPage("conversations", source)
    else:
        read, name = _read(source, limit, skip_broken)
        if id is not None:
            one = one_conversation(read, id, Path(name))
            page = HtmlPage(f"{name}-{one.id}", one)
        else:
            page = HtmlPage(name, read)
    if out is not None:
        page.write(out)
    return page


def _read(source: StudySource, limit: int | None, skip_broken: bool) -> tuple[Sequence[Conversation], str]:
    """The conversations of a source, and its name; DataError without any."""
    if not isinstance(source, str | Path):
        read: Sequence[Conversation] = conversations_of(source)
        name = "conversations"
    else:
        opened = DataSource(Path(source), skip_broken=skip_broken)
        loaded = opened.load()
        cut = () if opened.run is None else tuple(opened.run.cut_short())
        for line in loaded.notes:
            logged(line)
        if cut:
            logged(f"{len(cut)} of {len(loaded) + len(cut)} conversations were cut short: they come last")
            loaded = replace(loaded, conversations=(*loaded, *cut))
        path = Path(os.path.realpath(loaded.path))
        read, name = loaded, path.name if path.is_dir() else path.stem
    if limit is not None:
        read = replace(read, conversations=read[:limit]) if isinstance(read, Loaded) else read[:limit]
    if not read:
        raise DataError(f"{source if isinstance(source, str | Path) else name}: holds no conversation")
    return read, name
