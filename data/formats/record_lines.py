"""This project's own format, JSON lines with one complete record each, and what a run folder holds of them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pydantic import ValidationError

from ...errors import DataError, at, first_invalid
from ..files.json import STRICT, Broken, dumps, parsed, placed_lines, read_json, write_lines
from ..files.paths import open_lines, opened
from ..records import Conversation, as_object
from .source import CONVERSATIONS, MANIFEST, Contents, Format, Source

MOST = 10
"""Most lines that are named one by one."""
RESTORE = "put back the one that its run wrote; its conversations can be read all the same"
"""The remedy for a manifest that is missing or broken."""

Validate: TypeAlias = Callable[[Conversation], object]
"""Raises ValueError for an invalid record, such as `domains.validate`, which asks the record's domain."""


def _accepted(conversation: Conversation) -> None:
    """Accepts every record, for readers that check the scenarios themselves."""


# --- Files of records


def line(conversation: Conversation) -> str:
    """The record as one line of JSON with its newline."""
    return dumps(conversation.plain()) + "\n"


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one record a line, with all its content."""
    write_lines(path, (conversation.plain() for conversation in conversations))
    return []


def read(path: str | Path, validate: Validate = _accepted) -> list[Conversation]:
    """The records of a file, in order."""
    return [record for _, record in StoredLines(Path(path), validate)]


class StoredLines:
    """The records of a file, in order or each by the byte at which it begins."""

    def __init__(self, path: Path, validate: Validate = _accepted, broken: Broken = STRICT) -> None:
        self._path, self._validate, self._broken = path, validate, broken
        self._unpacked: bytes | None = None
        """What a gzip file holds."""

    def __iter__(self) -> Iterator[tuple[int, Conversation]]:
        """Each record with the byte at which it begins."""
        with open_lines(self._path) as file:
            if isinstance(file, BytesIO):
                self._unpacked = file.getvalue()
            for number, begin, value in placed_lines(file, self._path, self._broken):
                with self._broken.reading(f"line {number}"):
                    try:
                        record = from_plain(value, self._validate)
                    except DataError as error:
                        raise DataError(f"{at(self._path, f'line {number}')}: {error}") from None
                    yield begin, record

    def at(self, begins: Iterable[int]) -> Iterator[Conversation]:
        """The records that begin at these bytes, where they did when they were read in order."""
        with opened(self._path) if self._unpacked is None else BytesIO(self._unpacked) as file:
            for begin in begins:
                file.seek(begin)
                record = reread(file.readline())
                if record is None:
                    raise DataError(f"{at(self._path)}: was changed while it was read: give the command again")
                yield record


def reread(line: bytes) -> Conversation | None:
    """The record of a line that was checked when it was read before; None where this reader understands less."""
    try:
        return Conversation.model_validate_json(line)
    except ValidationError:
        return None


def from_plain(value: Any, validate: Validate = _accepted) -> Conversation:
    """The record of a line's JSON value; DataError names the problem."""
    if not isinstance(value, dict):
        raise DataError("is not an object: is this a file of records?")
    try:
        conversation = Conversation.from_plain(value)
        validate(conversation)
        return conversation
    except ValidationError as error:
        first = first_invalid(error)
        raise DataError(f"{' '.join(first.path.split())}: {first.message}: is this a record?") from None
    except ValueError as error:
        raise DataError(str(error)) from None


# --- Run folders


class _Line(NamedTuple):
    """Where a conversation stands, and whether it is finished."""

    begin: int
    length: int
    finished: bool


class StoredRun:
    """What a run folder holds: its manifest, and the conversations of one version of the agent.

    Of a conversation the last line counts. A line that cannot be read or is of another run is left out, and `flaws` names
    it; one without its newline is being written, or was cut off. DataError if there is no manifest.
    """

    def __init__(self, folder: str | Path, validate: Validate = _accepted, *, version: str = "") -> None:
        self.path, self.version, self._validate = Path(folder), version, validate
        if not (self.path / MANIFEST).is_file():
            raise DataError(f"{at(self.path / MANIFEST)}: is missing: {RESTORE}")
        self.manifest: dict[str, Any]
        self.manifest, self.problem = read_manifest(self.path, plan_alone=True)
        self.planned: list[str] = self.manifest["planned"]
        self.flaws: list[str] = []
        self._lost = False
        self._lines: dict[str, _Line] = {}
        self._begun = False

    def scan(self) -> Iterator[Conversation]:
        """Every conversation as its line is read, also those that a later line replaces."""
        self._begun = True
        self._lines.clear()
        self.flaws.clear()
        file = self.path / CONVERSATIONS
        if not file.is_file():
            return
        settings = as_object(version_settings(self.manifest, self.version))
        planned, begin = set(self.planned), 0
        with opened(file) as lines:
            for number, line in enumerate(lines, start=1):
                if line.endswith(b"\n") and line.strip():
                    where = f"line {number}"
                    conversation = self._read(line, number)
                    if conversation is None or conversation.version != self.version:
                        pass
                    elif conversation.id not in planned:
                        self._note(f"{at(file, where)}: {conversation.id!r} is not in the plan of the run")
                    elif origin := _other_origin(conversation, settings):
                        self._note(f"{at(file, where)}: {conversation.id!r} is of another run: {origin}")
                    else:
                        self._lines[conversation.id] = _Line(begin, len(line), conversation.finished)
                        yield conversation
                begin += len(line)

    def _read(self, line: bytes, number: int) -> Conversation | None:
        file = self.path / CONVERSATIONS
        try:
            value = parsed(line.decode("utf-8"), file, number)
        except (UnicodeDecodeError, DataError) as error:
            self._note(
                f"{at(file, f'line {number}')}: is not UTF-8: {error}"
                if isinstance(error, UnicodeDecodeError)
                else str(error),
                lost=True,
            )
            return None
        try:
            return from_plain(value, self._validate)
        except DataError as error:
            self._note(f"{at(file, f'line {number}')}: {error}", lost=True)
            return None

    def _note(self, problem: str, *, lost: bool = False) -> None:
        self.flaws.append(problem)
        self._lost |= lost

    def contents(self) -> Contents:
        """The finished conversations in the order of the plan."""
        read = {conversation.id: conversation for conversation in self.scan()}
        conversations = tuple(read[name] for name in self.names())
        return Contents(conversations, *self.remarks(len(conversations)))

    def remarks(self, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Notes about the file once so many conversations were read, and problems that break it.

        A line that cannot be read breaks the source only if a conversation is missing.
        """
        lines = (*filter(None, [self.problem]), *told_flaws(self.flaws, self.path))
        return ((), lines) if self._lost and count < len(set(self.planned)) else (lines, ())

    def names(self, *, finished: bool = True) -> list[str]:
        """Ids of the conversations that are finished, or of those that are not, in the order of the plan."""
        if not self._begun:
            for _ in self.scan():
                pass
        lines = self._lines
        return [name for name in dict.fromkeys(self.planned) if name in lines and lines[name].finished == finished]

    def values(self, names: Iterable[str]) -> Iterator[Conversation]:
        """The conversations with these ids, each read when it is needed."""
        with opened(self.path / CONVERSATIONS) as file:
            for name in names:
                line = self._lines[name]
                file.seek(line.begin)
                conversation = reread(text := file.read(line.length))
                yield from_plain(json.loads(text)) if conversation is None else conversation

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


def version_settings(manifest: Mapping[str, Any], version: str = "") -> Any:
    """The settings of a version in the manifest of its run."""
    of = as_object(as_object(manifest.get("versions")).get(version)) if version else manifest
    return of.get("settings")


def iterate_run(folder: str | Path, validate: Validate = _accepted, *, version: str = "") -> Iterator[Conversation]:
    """The finished conversations of a run folder, in the order of its plan, one at a time."""
    return StoredRun(folder, validate, version=version).finished()


def cut_short(folder: str | Path, *, version: str = "") -> Iterator[Conversation]:
    """The conversations of a run folder that were cut short and not finished since (`StoredRun.cut_short`)."""
    return StoredRun(folder, version=version).cut_short()


def attempted(folder: str | Path, *, version: str = "") -> Iterator[Conversation]:
    """The finished conversations of a run folder, then those that were cut short, one at a time."""
    run = StoredRun(folder, version=version)
    yield from run.finished()
    yield from run.cut_short()


def _other_origin(conversation: Conversation, settings: Mapping[str, Any]) -> str:
    """The first setting by which a conversation is of another run; empty if there is none."""
    provenance = conversation.provenance
    if provenance is None:
        return ""
    limits, pages = (as_object(settings.get(name)) for name in ("limits", "prompts"))
    here_and_there = [
        ("cast", provenance.cast, settings.get("cast")),
        ("seed", provenance.limits.get("seed"), limits.get("seed")),
        *((f"prompt page {name}", page, pages.get(name)) for name, page in provenance.prompts.items()),
    ]
    for name, here, there in here_and_there:
        if here is not None and there is not None and here != there:
            return f"its {name} is {here!r}, not {there!r}"
    return ""


def told_flaws(flaws: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The first flaws, and a line with their number; nothing without any."""
    if not flaws:
        return ()
    are = "1 line is" if len(flaws) == 1 else f"{len(flaws)} lines are"
    return (*flaws[:MOST], f"{folder}: {are} left out")


# --- Manifests

_OF_SOURCE = {"source": str, "digest": str, "scenarios": int, "equal": int}
"""The fields of a manifest for each source of scenarios."""
_OTHERS: dict[str, Any] = {"settings": {}, "data": [{"source": "", "digest": "", "scenarios": 0, "equal": 0}]}
"""Settings and sources with which nothing is wrong."""
_EXPECTED = {"planned": list, "settings": dict, "data": list}
_KINDS: dict[type, str] = {dict: "an object", list: "a list"}


def read_manifest(folder: Path, *, plan_alone: bool = False) -> tuple[Any, str]:
    """The value in a folder's manifest, and a line with its problem and the remedy, or an empty one.

    `plan_alone`: it may lack its settings and sources, as reading the conversations needs neither. DataError, of the
    same form, for a file that cannot be read and for a value without the ids that were planned.
    """
    file = folder / MANIFEST
    try:
        value = read_json(file)
    except DataError as error:
        raise DataError(f"{error}; {RESTORE}") from None
    wrong = manifest_problem({**_OTHERS, **value} if plan_alone and isinstance(value, dict) else value)
    line = wrong and f"{at(file)}: is not a manifest of a run ({wrong}): {RESTORE}"
    if line and (not isinstance(value, dict) or manifest_problem({**value, **_OTHERS})):
        raise DataError(line)
    return value, line


def manifest_problem(value: Any) -> str:
    """The reason why a value is not a manifest; empty if it is one."""
    if not isinstance(value, dict):
        return "it is not an object"
    for key, kind in _EXPECTED.items():
        if not isinstance(value.get(key), kind):
            return f"{key!r} is not {_KINDS[kind]}" if key in value else f"it has no {key!r}"
    if not all(isinstance(name, str) for name in value["planned"]):
        return "'planned' holds more than ids"
    for key in ("limits", "nodes", "prompts"):
        if not isinstance(value["settings"].get(key, {}), dict):
            return f"{key!r} of its 'settings' is not an object"
    sources = value["data"]
    if not all(isinstance(as_object(source).get(key), kind) for source in sources for key, kind in _OF_SOURCE.items()):
        return "'data' is not a list of the sources of its scenarios"
    return ""


# --- Forms


def formats(validate: Validate = _accepted) -> tuple[Format, Format]:
    """The forms of a run folder and of a file of records."""
    return (
        Format(
            "run",
            "the folder of a run",
            _is_run,
            lambda path: StoredRun(path, validate).contents(),
            sign=f"a folder with {CONVERSATIONS} and {MANIFEST}",
        ),
        Format(
            "replay",
            "JSON lines of records",
            _is_record,
            lambda path: read(path, validate),
            write,
            sign="`schema_version` beside `id`, `scenario` or `messages`",
        ),
    )


def _is_run(source: Source) -> bool:
    return source.is_folder and all((source.path / name).is_file() for name in (CONVERSATIONS, MANIFEST))


def _is_record(source: Source) -> bool:
    # Other data sets may have a `schema_version` too.
    return source.has("schema_version") and any(source.has(key) for key in ("id", "scenario", "messages"))
