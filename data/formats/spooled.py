"""Values that a reader gives one at a time; those of a large source are put aside on disk."""

import json
from array import array
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any, Generic, TypeVar
from weakref import finalize

from ..records import Conversation
from .detection import Contents, ConversationStream, OneByOne
from .record_lines import line, reread

T = TypeVar("T")

VALUES_IN_MEMORY = 2_000
"""Lines or rows of a file up to which all stay in memory."""


class Spooled(Generic[T]):
    """Values in order, each by its number.

    Up to `at_most` stay in memory; of more, all are in a file without a name, which is gone with this object.
    """

    def __init__(self, at_most: int, encode: Callable[[T], bytes], decode: Callable[[bytes], T]) -> None:
        """`encode` gives a line with its end, from which `decode` gives the value again."""
        self._at_most, self._encode, self._decode = at_most, encode, decode
        self._waiting: list[T] = []
        self._begins = array("Q")
        self._file: IO[bytes] | None = None
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._begins)

    def __iter__(self) -> Iterator[T]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> T:
        with self._lock:
            if self._file is None:
                return self._waiting[number]
            self._file.seek(self._begins[number])
            return self._decode(self._file.readline())

    def append(self, value: T) -> int:
        """Add a value and return its number."""
        with self._lock:
            self._waiting.append(value)
            if self._file is not None or len(self._waiting) > self._at_most:
                self._put_aside()
        return len(self) - 1

    def _put_aside(self) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - it is read as long as this object lives
            finalize(self, self._file.close)
        self._file.seek(0, 2)
        for value in self._waiting:
            self._begins.append(self._file.tell())
            self._file.write(self._encode(value))
        self._waiting.clear()


def spooled_json() -> Spooled[Any]:
    """JSON values."""
    return Spooled(VALUES_IN_MEMORY, lambda value: json.dumps(value).encode() + b"\n", json.loads)


class SpooledGroups:
    """JSON values by the name of their group, in the order in which the groups appeared."""

    def __init__(self) -> None:
        self._values = spooled_json()
        self._numbers: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[tuple[str, list[Any]]]:
        """The name and the values of each group."""
        for name, numbers in self._numbers.items():
            yield name, [self._values[number] for number in numbers]

    def add(self, name: str, value: Any) -> None:
        """Add a value to a group."""
        self._numbers.setdefault(name, array("Q")).append(self._values.append(value))


def whole(one_by_one: OneByOne) -> Callable[[Path], Contents]:
    """The reader of all conversations at once, from that of one at a time."""

    def read(path: Path) -> Contents:
        notes: list[str] = []

        def noted() -> Generator[Conversation, None, None]:
            notes.extend((yield from one_by_one(path)))

        return Contents(tuple(noted()), tuple(notes))

    return read


class SpooledConversations:
    """The conversations of a reader, in order once, or each by its number once they were read."""

    def __init__(self, source: ConversationStream, at_most: int) -> None:
        self._source = source
        self.notes: tuple[str, ...] = ()
        """The notes of the reader, once all were read."""
        self._read = Spooled(at_most, lambda conversation: line(conversation).encode(), _conversation)

    def __iter__(self) -> Iterator[tuple[int, Conversation]]:
        """Each conversation with its number."""
        for conversation in self._all():
            yield self._read.append(conversation), conversation

    def _all(self) -> Iterator[Conversation]:
        self.notes = yield from self._source

    def __getitem__(self, place: tuple[int, str]) -> Conversation:
        """The conversation of a number; its id is not needed, for nobody else has the file."""
        return self._read[place[0]]


def _conversation(written: bytes) -> Conversation:
    return reread(written) or Conversation.from_plain(json.loads(written))
