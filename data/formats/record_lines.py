"""This project's own format: JSON lines with one complete record each."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from ...errors import DataError, at, first_invalid
from ..files.broken_lines import readable
from ..files.journals import Codec, Flaw, JournalReader, OutsideError
from ..files.json_files import dumps, open_lines, read_placed, write_lines
from ..files.regular_files import opened
from ..records import Conversation, as_object
from . import manifests
from .detection import CONVERSATIONS, FAILURES, MANIFEST, Contents, Format, Source
from .manifests import RESTORE

MOST = 10
"""Most lines that are named one by one."""

Validate: TypeAlias = Callable[[Conversation], object]
"""Raises ValueError for an invalid record, such as `domains.validate`, which asks the record's domain."""


def _accepted(conversation: Conversation) -> None:
    """Accepts every record, for readers that check the scenarios themselves."""


def line(conversation: Conversation) -> str:
    """The record as one line of JSON with its newline."""
    return dumps(conversation.plain()) + "\n"


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one record a line, with all its content."""
    write_lines(path, (conversation.plain() for conversation in conversations))
    return []


def read(path: str | Path, validate: Validate = _accepted) -> list[Conversation]:
    """The records of a file, in order."""
    return list(iterate(path, validate))


def iterate_run(folder: str | Path, validate: Validate = _accepted) -> Iterator[Conversation]:
    """The conversations of a run folder, in the order of its plan, one at a time.

    Lines that do not count are left out (`StoredRun.remarks`).
    """
    run = StoredRun(folder, validate)
    yield from run.finished.iterate(run.planned)


class StoredRun:
    """What a run folder holds: its manifest, its finished conversations, and those that were cut short.

    A line that cannot be read, is of another run or repeats a conversation is left out; the readers' `flaws` name it.
    DataError if there is no manifest.
    """

    def __init__(self, folder: str | Path, validate: Validate = _accepted) -> None:
        self.path = Path(folder)
        self.manifest: dict[str, Any]
        self.manifest, self.problem = _manifest(self.path)
        self.planned: list[str] = self.manifest["planned"]
        finished, failed = (of_run(self.manifest, records(check)) for check in (validate, _accepted))
        self.finished = JournalReader(self.path / CONVERSATIONS, finished, salvage=True)
        self.failures = JournalReader(self.path / FAILURES, failed, salvage=True)

    def load(self) -> list[Conversation]:
        """The finished conversations in the order of the plan, read in one pass."""
        return self.finished.load(self.planned)

    def contents(self) -> Contents:
        """The finished conversations.

        A line that cannot be read breaks the source only if a conversation is missing.
        """
        conversations = tuple(self.load())
        return Contents(conversations, *self.remarks(len(conversations)))

    def remarks(self, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Notes about the files once so many conversations were read, and problems that break them."""
        lines = (*filter(None, [self.problem]), *told_flaws(self.finished.flaws, self.path))
        lost = any(flaw.lost for flaw in self.finished.flaws) and count < len(set(self.planned))
        return ((), lines) if lost else (lines, ())

    def cut_short(self) -> Iterator[Conversation]:
        """The conversations that were cut short and not finished since: the last attempt at each, one at a time."""
        if self.failures.files():
            yield from (failed for failed in self.failures.iterate() if failed.id not in self.finished)


def _manifest(folder: Path) -> tuple[dict[str, Any], str]:
    """The manifest, and what is wrong with it beside its plan."""
    if not (folder / MANIFEST).is_file():
        raise DataError(f"{at(folder / MANIFEST)}: is missing: {RESTORE}")
    return manifests.read(folder, plan_alone=True)


def cut_short(folder: str | Path) -> Iterator[Conversation]:
    """The conversations of a run folder that were cut short and not finished since (`StoredRun.cut_short`)."""
    return StoredRun(folder).cut_short()


def attempted(folder: str | Path) -> Iterator[Conversation]:
    """The finished conversations of a run folder, then those that were cut short, one at a time."""
    yield from iterate_run(folder)
    yield from cut_short(folder)


def found_in(folder: str | Path) -> JournalReader[Conversation]:
    """The finished conversations of a folder, whether or not it still has the manifest of its run."""
    try:
        return StoredRun(folder).finished
    except DataError:
        return JournalReader(Path(folder) / CONVERSATIONS, RECORDS, salvage=True)


def of_run(manifest: Mapping[str, Any], base: Codec[Conversation]) -> Codec[Conversation]:
    """The codec for the lines of the run with this manifest: OutsideError for a conversation of another run.

    A conversation stands as it was first written, unless it may have been simulated again. That is so if `again` of the
    manifest names it, or if it ended in a way after which runs simulate again.
    """
    settings = as_object(manifest.get("settings"))
    planned, again = set(manifest["planned"]), set(manifest.get("again") or ())

    def from_plain(value: Any) -> Conversation:
        conversation = base.from_plain(value)
        if conversation.id not in planned:
            raise OutsideError(f"{conversation.id!r} is not in the plan of the run")
        if origin := _other_origin(conversation, settings):
            raise OutsideError(f"{conversation.id!r} is of another run: {origin}")
        return conversation

    def settled(conversation: Conversation) -> bool:
        return conversation.id not in again and conversation.ended_by_itself and conversation.fault in (None, "none")

    return replace(base, from_plain=from_plain, settled=settled)


def _other_origin(conversation: Conversation, settings: Mapping[str, Any]) -> str:
    """The first setting by which a conversation is of another run; empty if there is none."""
    provenance = conversation.provenance
    if provenance is None:
        return ""
    limits, pages = (as_object(settings.get(name)) for name in ("limits", "prompts"))
    here_and_there = [
        ("cast", provenance.cast, settings.get("cast")),
        ("seed", provenance.limits.get("seed"), limits.get("seed")),
    ]
    here_and_there += [
        (f"prompt page {name}", provenance.prompts[name], pages.get(name)) for name in provenance.prompts
    ]
    for name, here, there in here_and_there:
        if here is not None and there is not None and here != there:
            return f"its {name} is {here!r}, not {there!r}"
    return ""


def told_flaws(flaws: Sequence[Flaw], folder: Path) -> tuple[str, ...]:
    """A line for each of the first flaws, and one with their number; nothing without any."""
    if not flaws:
        return ()
    are = "1 line is" if len(flaws) == 1 else f"{len(flaws)} lines are"
    return (
        *(flaw.problem for flaw in flaws[:MOST]),
        f"{folder}: {are} left out",
    )


def iterate(path: str | Path, validate: Validate = _accepted) -> Iterator[Conversation]:
    """The records of a file, one at a time."""
    return (record for _, record in StoredLines(Path(path), validate))


class StoredLines:
    """The records of a file, in order or each by the byte at which it begins."""

    def __init__(self, path: Path, validate: Validate = _accepted) -> None:
        self._path, self._validate = path, validate
        self._unpacked: bytes | None = None
        """What a gzip file holds."""

    def __iter__(self) -> Iterator[tuple[int, Conversation]]:
        """Each record with the byte at which it begins."""
        with open_lines(self._path) as file:
            if isinstance(file, BytesIO):
                self._unpacked = file.getvalue()
            for number, begin, value in read_placed(file, self._path):
                record = None
                with readable(f"line {number}"):
                    try:
                        record = from_plain(value, self._validate)
                    except DataError as error:
                        raise DataError(f"{at(self._path, f'line {number}')}: {error}") from None
                if record is not None:
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
    """The record of a line that was checked when it was read before.

    None where this reader understands less than the first one.
    """
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


def records(validate: Validate = _accepted) -> Codec[Conversation]:
    """The codec for conversations in a run's journals."""
    return Codec(
        key=lambda conversation: conversation.id,
        to_plain=Conversation.plain,
        from_plain=lambda value: from_plain(value, validate),
        reread=reread,
    )


RECORDS = records()
"""The codec that does not validate scenarios."""


def formats(validate: Validate = _accepted) -> tuple[Format, Format]:
    """The formats of a run folder and of a file of records."""
    return (
        Format(
            "run",
            "the folder of a run",
            _is_run,
            lambda path: StoredRun(path, validate).contents(),
            sign=f"a folder with {CONVERSATIONS}, and {MANIFEST} or {FAILURES}",
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
    beside = (MANIFEST, FAILURES)  # a run that lost its manifest is still one, and its reader says what to do
    return (
        source.is_folder
        and (source.path / CONVERSATIONS).is_file()
        and any((source.path / name).is_file() for name in beside)
    )


def _is_record(source: Source) -> bool:
    # Other data sets may have a `schema_version` too.
    return source.has("schema_version") and any(source.has(key) for key in ("id", "scenario", "messages"))
