"""Reading of journals: append-only files of JSON lines, one for each writer, as one mapping from keys to values.

Only the position of each value is held in memory. `runs.Journal` writes journals.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple, TypeVar

from ...errors import DataError, at
from .jsonfiles import parsed

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
    """The value from its JSON; DataError, without file and line, if it is invalid."""


class Entry(NamedTuple):
    """Position of a value: file, byte offset and length, line number."""

    path: Path
    offset: int
    length: int
    line: int


@dataclass
class _Read:
    """How far a file was read, in bytes and lines; only whole lines count."""

    size: int = 0
    lines: int = 0


def writer_path(path: Path, writer: str | None) -> Path:
    """The file of a writer: for `conversations.jsonl` and the writer `two` it is `conversations.w-two.jsonl`."""
    return path if writer is None else path.with_name(f"{path.stem}.w-{writer}{path.suffix}")


def is_of_journal(path: Path, name: str) -> bool:
    """Whether a file belongs to the journal: its main file has this name, or it is the file of a further writer.

    Another file is none of its own, such as a copy `conversations.bak.jsonl` that somebody made.
    """
    main = Path(name)
    pattern = rf"{re.escape(main.stem)}(\.w-{WRITER.pattern})?{re.escape(main.suffix)}"
    return re.fullmatch(pattern, path.name) is not None


@dataclass
class JournalReader(Generic[T]):
    """The values of a journal's files by key: the main file first, then the files of the writers by name.

    If a key occurs twice in a file, its last value there counts; if it occurs in several files, the value in the last
    of them, in the order above. So it does not matter who reads when: an open writer and a later reader see the same.
    The key keeps its first position. Bytes after a file's last newline belong to a line that is being written or was
    cut off: they are ignored.
    """

    path: Path
    """The main file."""
    codec: Codec[T]
    _entries: dict[str, Entry] = field(default_factory=dict, repr=False)
    _read: dict[Path, _Read] = field(default_factory=dict, repr=False)
    _begun: bool = field(default=False, repr=False)

    def files(self) -> list[Path]:
        """The existing files, the main file first."""
        main = [self.path] if self.path.is_file() else []
        beside = self.path.parent.iterdir() if self.path.parent.is_dir() else ()
        writers = [file for file in beside if file.name != self.path.name and is_of_journal(file, self.path.name)]
        return main + sorted(writers)

    def refresh(self) -> None:
        """Read the lines that any writer appended since the last call; DataError for an invalid line."""
        self._begun = True
        for _ in self._news():
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
        self._begin()
        entry = self._entries[key]
        with _opened(entry.path) as file:
            return self._value(file, entry)

    def iterate(self, plan: Iterable[str] = ()) -> Iterator[T]:
        """The values of the planned keys in the plan's order, then the others. Each is read when it is needed."""
        self._begin()
        with ExitStack() as stack:
            opened: dict[Path, IO[bytes]] = {}
            for key in _planned_first(plan, self._entries):
                entry = self._entries[key]
                if entry.path not in opened:
                    opened[entry.path] = stack.enter_context(_opened(entry.path))
                yield self._value(opened[entry.path], entry)

    def load(self, plan: Iterable[str] = ()) -> list[T]:
        """All values in the order of `iterate`, read in one pass over the files."""
        values = dict(JournalReader(self.path, self.codec)._news())  # file by file, so that the last one's values stay
        return [values[key] for key in _planned_first(plan, values)]

    def _begin(self) -> None:
        if not self._begun:
            self.refresh()

    def _news(self) -> Iterator[tuple[str, T]]:
        """Key and value of each whole line that was not read before."""
        files = self.files()
        for path in files or [self.path]:
            read = self._read.setdefault(path, _Read())
            with _opened(path) as file:
                file.seek(read.size)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    offset, read.size, read.lines = read.size, read.size + len(line), read.lines + 1
                    if line.strip():
                        value = self._decoded(line, path, read.lines)
                        key = self.codec.key(value)
                        self._enter(key, Entry(path, offset, len(line), read.lines))
                        yield key, value

    def _enter(self, key: str, entry: Entry) -> None:
        """Note where the key's value is, unless a later file has one."""
        present = self._entries.get(key)
        if present is None or self._rank(present.path) <= self._rank(entry.path):
            self._entries[key] = entry

    def _rank(self, file: Path) -> tuple[bool, Path]:
        return file != self.path, file

    def _value(self, file: IO[bytes], entry: Entry) -> T:
        file.seek(entry.offset)
        return self._decoded(file.read(entry.length), entry.path, entry.line)

    def _decoded(self, line: bytes, path: Path, number: int) -> T:
        where = at(path, f"line {number}")
        try:
            value = parsed(line.removesuffix(b"\n").decode("utf-8-sig"), path, number)
        except UnicodeDecodeError as error:
            raise DataError(f"{where}: is not UTF-8 at byte {error.start}: save it as UTF-8") from None
        try:
            return self.codec.from_plain(value)
        except DataError as error:
            raise DataError(f"{where}: {error}") from None


def _planned_first(plan: Iterable[str], keys: Collection[str]) -> list[str]:
    """The keys in the plan's order, then the keys that the plan does not name."""
    planned = dict.fromkeys(key for key in plan if key in keys)
    return [*planned, *(key for key in keys if key not in planned)]


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be read ({error.strerror}): check the path") from None
