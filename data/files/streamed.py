"""A run's conversations as a sequence that holds none of them."""

from collections.abc import Iterator, Sequence
from typing import overload

from ..records import Conversation
from .journals import JournalReader


class Streamed(Sequence[Conversation]):
    """Conversations on disk, in order.

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
