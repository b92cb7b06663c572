"""Conversations that a reader gives one at a time; those of a large source are put aside on disk."""

import json
from collections.abc import Generator, Iterator
from itertools import chain
from tempfile import TemporaryFile
from threading import Lock
from typing import IO
from weakref import finalize

from ..records import Conversation
from .record_lines import line, reread


class SpooledConversations:
    """The conversations of a reader, in order once, or each by its number once they were read.

    Up to `at_most` stay in memory; of a longer source all are in a file without a name, which is gone with this object.
    """

    def __init__(self, source: Generator[Conversation, None, tuple[str, ...]], at_most: int) -> None:
        self._source, self._at_most = source, at_most
        self.notes: tuple[str, ...] = ()
        """The notes of the reader, once all were read."""
        self._waiting: list[Conversation] = []
        self._begins: list[int] = []
        self._file: IO[bytes] | None = None
        self._lock = Lock()

    def __iter__(self) -> Iterator[tuple[int, Conversation]]:
        """Each conversation with its number."""
        for number, conversation in enumerate(self._all()):
            if number < self._at_most:
                self._waiting.append(conversation)
            else:
                with self._lock:
                    self._put_aside(conversation)
            yield number, conversation

    def _all(self) -> Iterator[Conversation]:
        self.notes = yield from self._source

    def __getitem__(self, place: tuple[int, str]) -> Conversation:
        """The conversation of a number; its id is not needed, for nobody else has the file."""
        number, _ = place
        if self._file is None:
            return self._waiting[number]
        with self._lock:
            self._file.seek(self._begins[number])
            written = self._file.readline()
        return reread(written) or Conversation.from_plain(json.loads(written))

    def _put_aside(self, conversation: Conversation) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - it is read as long as this object lives
            finalize(self, self._file.close)
        self._file.seek(0, 2)
        for one in chain(self._waiting, [conversation]):
            self._begins.append(self._file.tell())
            self._file.write(line(one).encode())
        self._waiting.clear()
