"""Conversations, runs and data sets as pages, as a function for notebooks and scripts."""

from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ..data import Conversation, Loaded
from ..data.formats.record_lines import told_flaws
from ..data.loading import DataSource
from .sources import Notify, StudySource, conversations_of, logged

if TYPE_CHECKING:
    from ..views import HtmlPage


@dataclass(frozen=True)
class ShownSource:
    """The conversations of a path, and those that a run cut short."""

    loaded: Loaded
    cut_short: tuple[Conversation, ...] = ()
    flaws: tuple[str, ...] = ()
    """A line for each line of the file of those cut short that cannot be read."""

    @classmethod
    def of(cls, source: DataSource, *, stream: bool = False) -> Self:
        """The conversations of a source; `stream`: as for `load`."""
        loaded = source.load(stream=stream)
        if source.run is None:
            return cls(loaded)
        cut = tuple(source.run.cut_short())
        return cls(loaded, cut, told_flaws(source.run.failures.flaws, source.run.path))

    def __len__(self) -> int:
        return len(self.loaded) + len(self.cut_short)

    @property
    def cut_note(self) -> tuple[str, ...]:
        """A line with the number of conversations that were cut short; empty if none was."""
        cut = len(self.cut_short)
        line = f"{cut} of {len(self)} conversations were cut short: they come last, with their stop reason"
        return (line,) if cut else ()

    def listed(self, limit: int | None = None) -> tuple[Conversation, ...]:
        """The first conversations, or all, with their images."""
        from ..views import with_images

        return with_images(tuple(islice(chain(self.loaded, self.cut_short), limit)), self.loaded.path)


def show(source: "StudySource | Conversation", *, out: str | Path | None = None, notify: Notify = logged) -> "HtmlPage":
    """A conversation, several, a run or a data set as a page, which a notebook shows as HTML.

    `source`: a path that `load` reads, a conversation, or several; of a run those that were cut short come last. `out`: a file
    to write the page to. `notify`: called with each warning about the source.

    Example::

        >>> import duologue
        >>> said = [duologue.data.Message(role="user", text="Hello?")]
        >>> duologue.show(duologue.Conversation(id="1", scenario={"kind": "call"}, messages=said))
        <Page conversations: 1 conversation; .write(FILE.html) saves it>
        >>> duologue.show("out/simquac-1", out="run.html")  # doctest: +SKIP
    """
    from ..views import HtmlPage

    if isinstance(source, str | Path):
        read = ShownSource.of(DataSource(source))
        for line in (*read.loaded.broken, *read.flaws, *read.cut_note):
            notify(line)
        page = HtmlPage.of(replace(read.loaded, conversations=read.listed()), Path(source).resolve().name)
    else:
        page = HtmlPage.of(source if isinstance(source, Conversation) else conversations_of(source), "conversations")
    if out is not None:
        page.write(out)
    return page
