"""Conversations, runs and data sets as pages, as a function for notebooks and scripts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

from ..data import Conversation, Loaded
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
    def of(cls, source: DataSource) -> Self:
        """The conversations of a source."""
        loaded = source.load()
        if source.run is None:
            return cls(loaded)
        return cls(loaded, tuple(source.run.cut_short()))

    def __len__(self) -> int:
        return len(self.loaded) + len(self.cut_short)

    @property
    def cut_note(self) -> tuple[str, ...]:
        """A line with the number of conversations that were cut short; empty if none was."""
        cut = len(self.cut_short)
        line = f"{cut} of {len(self)} conversations were cut short: they come last, with their stop reason"
        return (line,) if cut else ()

    def listed(self, limit: int | None = None) -> "ListedConversations":
        """The first conversations, or all, with their images."""
        return ListedConversations(self, len(self) if limit is None else min(len(self), limit))


class ListedConversations(Sequence[Conversation]):
    """The first conversations of a source, with their images, each taken from it whenever it is asked for."""

    def __init__(self, source: ShownSource, number: int) -> None:
        self._source, self._number = source, number

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Conversation]:
        source = self._source
        return map(self._with_images, islice(chain(source.loaded, source.cut_short), self._number))

    @overload
    def __getitem__(self, number: int) -> Conversation: ...
    @overload
    def __getitem__(self, number: slice) -> list[Conversation]: ...
    def __getitem__(self, number: int | slice) -> Conversation | list[Conversation]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        source, at = self._source, range(self._number)[number]
        stored = len(source.loaded)
        return self._with_images(source.loaded[at] if at < stored else source.cut_short[at - stored])

    def _with_images(self, conversation: Conversation) -> Conversation:
        from ..views import with_images

        return with_images([conversation], self._source.loaded.path)[0]


def show(source: "StudySource | Conversation", *, out: str | Path | None = None, notify: Notify = logged) -> "HtmlPage":
    """A conversation, several, a run or a data set as a page, which a notebook shows as HTML.

    Args:
        source: A path that `load` reads, a conversation, or several. Those that a run cut short come last.
        out: A file to write the page to.
        notify: Called with each warning about the source; default: log it.

    Returns:
        The page; `.write(FILE.html)` saves it.

    Raises:
        DataError: The source cannot be read, or it has no conversation.

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
        page = HtmlPage.of(replace(read.loaded, conversations=tuple(read.listed())), Path(source).resolve().name)
    else:
        page = HtmlPage.of(source if isinstance(source, Conversation) else conversations_of(source), "conversations")
    if out is not None:
        page.write(out)
    return page
