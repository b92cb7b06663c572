"""Conversations, runs and data sets as pages, as a function for notebooks and scripts."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .sources import StudySource, conversations_of

if TYPE_CHECKING:
    from ..data import Conversation
    from ..views import HtmlPage


def show(source: "StudySource | Conversation", *, out: str | Path | None = None) -> "HtmlPage":
    """A conversation, several, a run or a data set as a page, which a notebook shows as HTML.

    `source`: a path that `load` reads, a conversation, or several. `out`: a file to write the page to.

    Example::

        >>> import duologue
        >>> said = [duologue.data.Message(role="user", text="Hello?")]
        >>> duologue.show(duologue.Conversation(id="1", scenario={"kind": "call"}, messages=said))
        <Page conversations: 1 conversation; .write(FILE.html) saves it>
        >>> duologue.show("out/simquac-1", out="run.html")  # doctest: +SKIP
    """
    from ..data import Conversation, Loaded
    from ..views import HtmlPage, with_images

    title = Path(source).resolve().name if isinstance(source, str | Path) else "conversations"
    shown = source if isinstance(source, Conversation) else conversations_of(source)
    if isinstance(shown, Loaded) and isinstance(source, str | Path):
        shown = replace(shown, conversations=with_images(shown, source))
    page = HtmlPage.of(shown, title)
    if out is not None:
        page.write(out)
    return page
