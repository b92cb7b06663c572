"""A run folder that is being written: what was added since it was last read, as another process sees it.

Nothing is written, locked or kept open. A file that was replaced, such as by merging, is read from its beginning.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ...errors import DataError
from ..files.journals import Entry, JournalReader, writers
from ..records import Conversation
from .detection import MANIFEST
from .record_lines import StoredRun

CALLS = "calls.jsonl"
"""The call journal of a run."""
AT_ONCE = 1 << 25
"""Bytes of call journals that are read at a time, 32 MiB."""

_CONVERSATION = re.compile(rb'\{"conversation": ("(?:[^"\\]|\\.)*")')
"""The beginning of a line of a call journal."""

_Mark = tuple[int, int, int]
"""Device and number of a file, and its bytes; the time of writing in place of the bytes of a manifest."""


class GrownRecord(NamedTuple):
    """A conversation that was added to a run folder."""

    conversation: Conversation
    replaces: Conversation | None = None
    """The finished conversation of its id before, where it was simulated again."""


@dataclass
class GrowingRun:
    """A run folder, read piece by piece."""

    path: Path
    run: StoredRun | None = None
    """What was read so far; None before the run has begun."""
    begun: set[str] = field(default_factory=set[str])
    """Ids of the conversations that have calls in the journal and are not over."""
    _finished: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """Where each finished conversation stands."""
    _cut_short: set[str] = field(default_factory=set[str])
    _manifest: _Mark | None = None
    _marks: dict[Path, _Mark] = field(default_factory=dict[Path, _Mark])
    _read: dict[tuple[Path, int], int] = field(default_factory=dict[tuple[Path, int], int])
    """How far each call journal was read, by its path and number."""

    @property
    def planned(self) -> int:
        """Planned conversations; 0 before the run has begun."""
        return len(set(self.run.planned)) if self.run is not None else 0

    def begins_anew(self) -> bool:
        """Look at the files; gives whether all of them have to be read from the beginning.

        So at first, when a run is resumed, and when its files were merged, cut or removed.
        """
        manifest = _mark(self.path / MANIFEST, written=True)
        marks = {path: mark for path in self._journals() if (mark := _mark(path)) is not None}
        grown = all(
            (now := marks.get(path)) is not None and now[:2] == before[:2] and now[2] >= before[2]
            for path, before in self._marks.items()
        )
        self._marks = marks
        if manifest == self._manifest and grown:
            return False
        self._manifest = manifest
        self.begun.clear()
        self._finished.clear()
        self._cut_short.clear()
        self._read.clear()
        try:
            self.run = StoredRun(self.path) if manifest is not None else None
        except DataError:  # it is being written
            self.run, self._manifest = None, None
        return True

    def news(self) -> Iterator[GrownRecord]:
        """The conversations that were added, those that were cut short first.

        After a stop in the middle the next call gives the others.
        """
        if self.run is None:
            return
        try:
            yield from self._cut_short_news(self.run.failures)
            yield from self._finished_news(self.run.finished)
        except DataError:  # a file was removed meanwhile, which the next look finds
            return
        self._look_at_calls()

    def _cut_short_news(self, reader: JournalReader[Conversation]) -> Iterator[GrownRecord]:
        for name, conversation in reader.news() if reader.files() else ():
            self._cut_short.add(name)
            self.begun.discard(name)
            yield GrownRecord(conversation)

    def _finished_news(self, reader: JournalReader[Conversation]) -> Iterator[GrownRecord]:
        for name, conversation in reader.news() if reader.files() else ():
            before = self._finished.get(name)
            self._finished[name] = reader.entry(name)
            self.begun.discard(name)
            yield GrownRecord(conversation, None if before is None else reader.value_at(before))

    def conversation(self, name: str) -> Conversation | None:
        """The conversation of an id, read from its file; None if it is not there, or not any more."""
        for reader in (self.run.finished, self.run.failures) if self.run is not None else ():
            try:
                if reader.files() and name in reader:
                    return reader[name]
            except DataError:
                continue
        return None

    def _journals(self) -> Iterator[Path]:
        if self.run is not None:
            yield from chain(self.run.finished.files(), self.run.failures.files())

    def _look_at_calls(self) -> None:
        """Note which conversations have calls: a line of a call begins with the conversation's id."""
        main, left = self.path / CALLS, AT_ONCE
        for path in (main, *writers(main)):
            try:
                with path.open("rb") as file:
                    key = path, path.stat().st_ino
                    file.seek(self._read.setdefault(key, 0))
                    while left > 0 and (line := file.readline()).endswith(b"\n"):
                        left -= len(line)
                        self._read[key] += len(line)
                        if match := _CONVERSATION.match(line):
                            self._note_call(json.loads(match[1]))
            except (OSError, ValueError):  # it is removed when the run is complete
                continue

    def _note_call(self, name: str) -> None:
        if name not in self._finished and name not in self._cut_short:
            self.begun.add(name)


def _mark(path: Path, *, written: bool = False) -> _Mark | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_mtime_ns if written else about.st_size
