"""Conversations on disk as a sequence that holds none of them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import overload

from ..records import Conversation
from .journals import JournalReader


class StreamedFile(Sequence[Conversation]):
    """The conversations of a file, in order, which is read from its beginning on every access."""

    def __init__(self, read: Callable[[], Iterator[Conversation]], count: int) -> None:
        self._read, self._count = read, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Conversation]:
        return self._read()

    @overload
    def __getitem__(self, index: int) -> Conversation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Conversation, ...]: ...
    def __getitem__(self, index: int | slice) -> "Conversation | tuple[Conversation, ...]":
        if isinstance(index, slice):
            numbers = range(self._count)[index]
            of_number = {number: one for number, one in enumerate(self) if number in numbers}
            return tuple(of_number[number] for number in numbers)
        return next(islice(self, range(self._count)[index], None))


class Streamed(Sequence[Conversation]):
    """Conversations of a run, in order.

    Each is read on every access; only the places are in memory.
    """

    def __init__(self, reader: JournalReader[Conversation], names: Sequence[str]) -> None:
        self._reader, self._names = reader, names

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Conversation]:
        return self._reader.values(self._names)

    @overload
    def __getitem__(self, index: int) -> Conversation: ...
    @overload
    def __getitem__(self, index: slice) -> "Streamed": ...
    def __getitem__(self, index: int | slice) -> "Conversation | Streamed":
        if isinstance(index, slice):
            return Streamed(self._reader, self._names[index])
        return self._reader[self._names[index]]
