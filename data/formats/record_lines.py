"""This project's own format, JSON lines with one complete record each, and what a run folder holds of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ...errors import DataError, at, first_invalid
from ..files.json import STRICT, Broken, decoded, dumps, parsed, placed_lines, read_json, write_lines
from ..files.paths import open_lines, opened
from ..records import SCHEMA, Conversation, as_object
from .source import CONVERSATIONS, MANIFEST, Format, Source

MOST = 10
"""Most lines that are named one by one."""
RESTORE = "put back the one that its run wrote; its conversations can be read all the same"
"""The remedy for a manifest that is missing or broken."""

# --- Files of records


def line(conversation: Conversation) -> str:
    """The record as one line of JSON with its newline."""
    return dumps(conversation.plain()) + "\n"


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one record a line, with all its content."""
    write_lines(path, (conversation.plain() for conversation in conversations))
    return []


def read(path: str | Path) -> list[Conversation]:
    """The records of a file, in order."""
    return [record for _, record in StoredLines(Path(path))]


class StoredLines:
    """The records of a file, in order or each by the byte at which it begins."""

    def __init__(self, path: Path, broken: Broken = STRICT) -> None:
        self._path, self._broken = path, broken

    def __iter__(self) -> Iterator[tuple[int, Conversation]]:
        """Each record with the byte at which it begins."""
        with open_lines(self._path) as file:
            for number, begin, value in placed_lines(file, self._path, self._broken):
                with self._broken.reading(f"line {number}"):
                    try:
                        record = from_plain(value)
                    except DataError as error:
                        raise DataError(f"{at(self._path, f'line {number}')}: {error}") from None
                    yield begin, record

    def at(self, begins: Iterable[int]) -> Iterator[Conversation]:
        """The records that begin at these bytes, where they did when they were read in order."""
        with open_lines(self._path) as file:
            for begin in begins:
                file.seek(begin)
                yield reread(file.readline(), self._path)


def reread(line: bytes, path: Path) -> Conversation:
    """The record of a line that was checked when it was read before; DataError if the file was changed since."""
    try:
        return Conversation.model_validate_json(line)
    except ValidationError:
        pass  # this reader, which is faster, understands less than the other
    try:
        return from_plain(parsed(decoded(line, path), path))
    except DataError:
        raise DataError(f"{at(path)}: was changed while it was read: give the command again") from None


def from_plain(value: Any) -> Conversation:
    """The record of a line's JSON value; DataError names the problem."""
    if not isinstance(value, dict):
        raise DataError("is not an object: is this a file of records?")
    if (written := value.get("schema_version", SCHEMA)) != SCHEMA:
        raise DataError(
            f"schema_version: is {written!r}, and records of {SCHEMA} are read: make them anew by this version"
        )
    try:
        return Conversation.model_validate(value)
    except ValidationError as error:
        first = first_invalid(error)
        raise DataError(f"{' '.join(first.path.split())}: {first.message}: is this a record?") from None


# --- Run folders


class _Line(NamedTuple):
    """Where a conversation stands, and whether it is finished."""

    begin: int
    length: int
    finished: bool


class StoredRun:
    """What a run folder holds: its manifest, and the conversations of one version of the agent.

    Of a conversation the last line counts. A line that cannot be read or is not of the plan is left out, and `flaws` names
    it; one without its newline is being written, or was cut off. DataError if there is no manifest.
    """

    def __init__(self, folder: str | Path, *, version: str = "") -> None:
        self.path, self.version = Path(folder), version
        self.manifest = read_manifest(self.path)
        self.planned: list[str] = self.manifest["planned"]
        self.flaws: list[str] = []
        self._lost = False
        self._lines: dict[str, _Line] | None = None

    def scan(self) -> Iterator[Conversation]:
        """Every conversation as its line is read, also those that a later line replaces."""
        lines = self._lines = {}
        self.flaws.clear()
        file = self.path / CONVERSATIONS
        if not file.is_file():
            return
        planned, begin = set(self.planned), 0
        with opened(file) as stored:
            for number, text in enumerate(stored, start=1):
                conversation = None
                if text.endswith(b"\n") and text.strip():
                    try:
                        conversation = from_plain(parsed(decoded(text, file, begin), file, number))
                    except DataError as error:
                        told = str(error)
                        self.flaws.append(told if str(file) in told else f"{at(file, f'line {number}')}: {told}")
                        self._lost = True
                if conversation is not None and conversation.version == self.version:
                    if conversation.id in planned:
                        lines[conversation.id] = _Line(begin, len(text), conversation.finished)
                        yield conversation
                    else:
                        where = at(file, f"line {number}")
                        self.flaws.append(f"{where}: {conversation.id!r} is not in the plan of the run")
                begin += len(text)

    def remarks(self, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Notes about the file once so many conversations were read, and problems that break it.

        A line that cannot be read breaks the source only if a conversation is missing.
        """
        lines = told_flaws(self.flaws, self.path)
        return ((), lines) if self._lost and count < len(set(self.planned)) else (lines, ())

    def names(self, *, finished: bool = True) -> list[str]:
        """Ids of the conversations that are finished, or of those that are not, in the order of the plan."""
        if self._lines is None:
            for _ in self.scan():
                pass
        lines = self._lines or {}
        return [name for name in dict.fromkeys(self.planned) if name in lines and lines[name].finished == finished]

    def values(self, names: Iterable[str]) -> Iterator[Conversation]:
        """The conversations with these ids, each read when it is needed."""
        lines = self._lines or {}
        with opened(self.path / CONVERSATIONS) as file:
            for name in names:
                file.seek(lines[name].begin)
                yield reread(file.read(lines[name].length), self.path / CONVERSATIONS)

    def finished(self) -> Iterator[Conversation]:
        """The finished conversations in the order of the plan, one at a time."""
        names = self.names()
        return self.values(names) if names else iter(())

    def cut_short(self) -> Iterator[Conversation]:
        """The conversations that were cut short and not finished since: the last attempt at each, one at a time."""
        names = self.names(finished=False)
        return self.values(names) if names else iter(())


def versions_in(manifest: Mapping[str, Any]) -> list[str]:
    """The versions of the agent that a run simulates; the one that it is about has an empty name."""
    return ["", *as_object(manifest.get("versions"))]


def attempted(folder: str | Path, *, version: str = "") -> Iterator[Conversation]:
    """The finished conversations of a run folder, then those that were cut short, one at a time."""
    run = StoredRun(folder, version=version)
    yield from run.finished()
    yield from run.cut_short()


def told_flaws(flaws: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The first flaws, and a line with their number; nothing without any."""
    if not flaws:
        return ()
    are = "1 line is" if len(flaws) == 1 else f"{len(flaws)} lines are"
    return (*flaws[:MOST], f"{folder}: {are} left out")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder; DataError for a file that cannot be read, and for one without the ids that were planned."""
    file = folder / MANIFEST
    try:
        value: dict[str, Any] = read_json(file)
    except DataError as error:
        raise DataError(f"{error}; {RESTORE}") from None
    planned = as_object(value).get("planned")
    if not isinstance(planned, list) or not all(isinstance(name, str) for name in planned):
        raise DataError(f"{at(file)}: is not a manifest of a run, its 'planned' is no list of ids: {RESTORE}")
    return value


# --- Forms


def _is_run(source: Source) -> bool:
    return source.is_folder and all((source.path / name).is_file() for name in (CONVERSATIONS, MANIFEST))


def _is_record(source: Source) -> bool:
    # Other data sets may have a `schema_version` too.
    return source.has("schema_version") and any(source.has(key) for key in ("id", "scenario", "messages"))


RUN = Format("run", "the folder of a run", _is_run, lambda path: StoredRun(path).finished())
RECORDS = Format("replay", "JSON lines of records", _is_record, read, write)
