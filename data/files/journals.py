"""Reading of journals: append-only files of JSON lines, one for each writer, as one mapping from keys to values.

Only the position of each value is held in memory. `runs.Journal` writes journals.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple, TypeVar

from ...errors import DataError, at
from .json import parsed
from .paths import OpenFiles, opened

T = TypeVar("T")

WRITER = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The name of a further writer, which is part of its file's name."""


@dataclass(frozen=True)
class Codec(Generic[T]):
    """How the values of a journal are written and read."""

    key: Callable[[T], str]
    """The key of a value in the journal."""
    to_plain: Callable[[T], Any]
    """The value as JSON values."""
    from_plain: Callable[[Any], T]
    """The value from its JSON; DataError, without file and line, if it is invalid; OutsideError if it is valid and
    does not belong there."""
    settled: Callable[[T], bool] = lambda value: False
    """Whether a value stands regardless of further lines of its key. Otherwise the last line counts."""
    reread: Callable[[bytes], T | None] = lambda line: None
    """The value of a line that was accepted before, sooner than `from_plain` has it; None if it cannot tell."""


class OutsideError(DataError):
    """A valid value that does not belong to this journal."""


class Entry(NamedTuple):
    """Position of a value: file, byte offset and length, line number; and whether it stands."""

    path: Path
    offset: int
    length: int
    line: int
    settled: bool = False


class Flaw(NamedTuple):
    """A whole line whose value does not count."""

    path: Path
    line: int
    problem: str
    """What is wrong with it, file and line included."""
    lost: bool
    """Whether a value may be lost with it: it cannot be read. False if it belongs elsewhere or repeats a key."""


@dataclass
class _Read:
    """How far a file was read, in bytes and lines; only whole lines count."""

    size: int = 0
    lines: int = 0


def writer_path(path: Path, writer: str | None) -> Path:
    """The file of a writer: for `conversations.jsonl` and the writer `two` it is `conversations.w-two.jsonl`."""
    return path if writer is None else path.with_name(f"{path.stem}.w-{writer}{path.suffix}")


def is_of_journal(path: Path, name: str) -> bool:
    """Whether a file belongs to the journal, as its main file or as that of a further writer.

    Another file, such as a copy `conversations.bak.jsonl`, is not one of its own.
    """
    main = Path(name)
    pattern = rf"{re.escape(main.stem)}(\.w-{WRITER.pattern})?{re.escape(main.suffix)}"
    return re.fullmatch(pattern, path.name) is not None


def writers(main: Path) -> list[Path]:
    """The files of further writers beside a main file, by name."""
    beside = main.parent.iterdir() if main.parent.is_dir() else ()
    return sorted(path for path in beside if path.name != main.name and is_of_journal(path, main.name))


@dataclass
class JournalReader(Generic[T]):
    """The values of a journal's files by key: the main file first, then the files of the writers by name.

    If a key occurs twice in a file, its last value there counts. If it occurs in several files, the value in the last
    of them counts, in the order above. Of values that are settled (`Codec`) the first one counts, and no other of its
    key. So an open writer and a later reader get the same values.

    The key keeps its first position. Bytes after a file's last newline belong to a line that is being written or was
    cut off: they are ignored.
    """

    path: Path
    """The main file."""
    codec: Codec[T]
    salvage: bool = False
    """Whether an invalid line is left out and noted in `flaws`; otherwise it is an error."""
    flaws: list[Flaw] = field(default_factory=list[Flaw], repr=False)
    """The lines that were read and do not count: invalid ones, and further lines of a settled value."""
    _entries: dict[str, Entry] = field(default_factory=dict, repr=False)
    _read: dict[Path, _Read] = field(default_factory=dict, repr=False)
    _begun: bool = field(default=False, repr=False)

    def files(self) -> list[Path]:
        """The existing files, the main file first."""
        return [*([self.path] if self.path.is_file() else []), *writers(self.path)]

    def refresh(self) -> None:
        """Read the lines that any writer appended since the last call; DataError for an invalid line, or a flaw."""
        for _ in self.news():
            pass

    def keys(self) -> KeysView[str]:
        """The keys, in the order of their values."""
        self._begin()
        return self._entries.keys()

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str) -> T:
        """The value of a key, read from its file."""
        (value,) = self.values([key])
        return value

    def iterate(self, plan: Iterable[str] = ()) -> Iterator[T]:
        """The values of the planned keys in the plan's order, then the others.

        Each is read when it is needed.
        """
        yield from self.values(self.order(plan))

    def order(self, plan: Iterable[str] = ()) -> list[str]:
        """The keys in the order of `iterate`."""
        self._begin()
        return _planned_first(plan, self._entries)

    def values(self, keys: Iterable[str]) -> Iterator[T]:
        """The values of these keys, in this order.

        Each is read when it is needed.
        """
        self._begin()
        with OpenFiles() as files:
            for key in keys:
                entry = self._entries[key]
                yield self._value(files[entry.path], entry)

    def positions(self, plan: Iterable[str] = ()) -> Iterator[Entry]:
        """Where each value's line stands, in the order of `iterate`."""
        return (self._entries[key] for key in self.order(plan))

    def is_in_order(self, plan: Iterable[str] = ()) -> bool:
        """Whether only the main file has lines: one for each value, in the order of `iterate`."""
        self._begin()
        if sum(read.lines for read in self._read.values()) != len(self._entries) or set(self._read) - {self.path}:
            return False
        return all(one.offset < other.offset for one, other in pairwise(self.positions(plan)))

    def load(self, plan: Iterable[str] = ()) -> list[T]:
        """All values in the order of `iterate`, read in one pass over the files."""
        self._entries.clear()
        self._read.clear()
        self.flaws.clear()
        values = dict(self.news())  # file by file, so that the last one's values stay
        return [values[key] for key in _planned_first(plan, values)]

    def reopen(self, keys: Collection[str]) -> None:
        """From now on a further line with one of these keys counts in place of the present one."""
        self._begin()
        self._entries |= {key: self._entries[key]._replace(settled=False) for key in keys if key in self._entries}

    def _begin(self) -> None:
        if not self._begun:
            self.refresh()

    def news(self) -> Iterator[tuple[str, T]]:
        """As `refresh`, and gives key and value of each new whole line that counts as far as the files were read."""
        self._begun = True
        files = self.files()
        for path in files or [self.path]:
            read = self._read.setdefault(path, _Read())
            with opened(path) as file:
                file.seek(read.size)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    offset, read.size, read.lines = read.size, read.size + len(line), read.lines + 1
                    if line.strip():
                        try:
                            value = self._decoded(line, path, read.lines)
                        except DataError as error:
                            if not self.salvage:
                                raise
                            lost = not isinstance(error, OutsideError)
                            self.flaws.append(Flaw(path, read.lines, str(error), lost))
                            continue
                        key = self.codec.key(value)
                        if self._enter(key, Entry(path, offset, len(line), read.lines, self.codec.settled(value))):
                            yield key, value

    def _enter(self, key: str, entry: Entry) -> bool:
        """Note where the key's value is, if this one counts; gives whether it does."""
        present = self._entries.get(key)
        counts = entry if present is None else self._counting(key, present, entry)
        self._entries[key] = counts
        return counts is entry

    def _counting(self, key: str, one: Entry, other: Entry) -> Entry:
        """Which of two values of a key counts."""
        first, last = sorted((one, other), key=self._position)
        counts = first if first.settled else last
        if counts is first and not _are_one(first, last):
            where = at(last.path, f"line {last.line}")
            problem = f"{where}: repeats {key!r}, which {_place(first, last)} holds already"
            self.flaws.append(Flaw(last.path, last.line, problem, lost=False))
        return counts

    def _position(self, entry: Entry) -> tuple[bool, Path, int]:
        return entry.path != self.path, entry.path, entry.offset

    def _value(self, file: IO[bytes], entry: Entry) -> T:
        file.seek(entry.offset)
        line = file.read(entry.length)
        value = self.codec.reread(line)
        return self._decoded(line, entry.path, entry.line) if value is None else value

    def _decoded(self, line: bytes, path: Path, number: int) -> T:
        where = at(path, f"line {number}")
        try:
            value = parsed(line.removesuffix(b"\n").decode("utf-8-sig"), path, number)
        except UnicodeDecodeError as error:
            raise DataError(f"{where}: is not UTF-8 at byte {error.start}: save it as UTF-8") from None
        try:
            return self.codec.from_plain(value)
        except DataError as error:
            raise type(error)(f"{where}: {error}") from None


def _are_one(entry: Entry, other: Entry) -> bool:
    """Whether two files have the same line.

    One of them was being made of the other when its writer was killed.
    """
    if entry.path == other.path or entry.length != other.length:
        return False
    lines = []
    for line_entry in (entry, other):
        with opened(line_entry.path) as file:
            file.seek(line_entry.offset)
            lines.append(file.read(line_entry.length))
    return lines[0] == lines[1]


def _place(entry: Entry, beside: Entry) -> str:
    """The line of an entry, with its file if the other one is in another."""
    return f"line {entry.line}" if entry.path == beside.path else f"line {entry.line} of {entry.path.name}"


def _planned_first(plan: Iterable[str], keys: Collection[str]) -> list[str]:
    """The keys in the plan's order, then the keys that the plan does not name."""
    planned = dict.fromkeys(key for key in plan if key in keys)
    return [*planned, *(key for key in keys if key not in planned)]
