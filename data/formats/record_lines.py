"""This project's own format: JSON lines with one complete record each."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from ...errors import DataError, at
from ..records import Conversation
from .detection import CONVERSATIONS, FAILURES, MANIFEST, Format, Source
from .journals import Codec, JournalReader
from .jsonfiles import dumps, read_json, read_lines, write_lines

Validate: TypeAlias = Callable[[Conversation], object]
"""Raises ValueError for an invalid record, such as `domains.validate`, which asks the record's domain."""


def _accepted(conversation: Conversation) -> None:
    """Accepts every record, for readers that check the scenarios themselves."""


def line(conversation: Conversation) -> str:
    """The record as one line of JSON with its newline."""
    return dumps(conversation.plain()) + "\n"


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one record a line. Nothing is left out."""
    write_lines(path, (conversation.plain() for conversation in conversations))
    return []


def read(path: str | Path, validate: Validate = _accepted) -> list[Conversation]:
    """The records of a file, in order."""
    return list(iterate(path, validate))


def read_run(folder: str | Path, validate: Validate = _accepted) -> list[Conversation]:
    """The conversations of a run folder, in the order of its plan."""
    planned, reader = _run(folder, validate)
    return reader.load(planned)


def iterate_run(folder: str | Path, validate: Validate = _accepted) -> Iterator[Conversation]:
    """The conversations of a run folder, in the order of its plan, one at a time."""
    planned, reader = _run(folder, validate)
    yield from reader.iterate(planned)


def _run(folder: str | Path, validate: Validate) -> tuple[list[str], JournalReader[Conversation]]:
    """The planned ids of a run folder, and the reader of its conversations."""
    manifest = read_json(Path(folder) / MANIFEST)
    planned = manifest.get("planned") if isinstance(manifest, dict) else None
    if not isinstance(planned, list) or not all(isinstance(name, str) for name in planned):
        raise DataError(f"{at(Path(folder) / MANIFEST)}: has no list 'planned': is this folder a run?")
    return planned, JournalReader(Path(folder) / CONVERSATIONS, records(validate))


def cut_short(folder: str | Path) -> Iterator[Conversation]:
    """The conversations of a run folder that were cut short and not finished since: the last attempt at each, one at
    a time."""
    path = Path(folder) / FAILURES
    if path.is_file():
        finished = JournalReader(Path(folder) / CONVERSATIONS, RECORDS)
        yield from (failed for failed in JournalReader(path, RECORDS).iterate() if failed.id not in finished)


def iterate(path: str | Path, validate: Validate = _accepted) -> Iterator[Conversation]:
    """The records of a file, one at a time."""
    for number, value in read_lines(path):
        try:
            yield from_plain(value, validate)
        except DataError as error:
            raise DataError(f"{at(path, f'line {number}')}: {error}") from None


def from_plain(value: Any, validate: Validate = _accepted) -> Conversation:
    """The record of a line's JSON value; DataError says what is wrong with it."""
    if not isinstance(value, dict):
        raise DataError("is not an object: is this a file of records?")
    try:
        conversation = Conversation.from_plain(value)
        validate(conversation)
        return conversation
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{' '.join(key.split())}: {first['msg']}: is this a record?") from None
    except ValueError as error:
        raise DataError(str(error)) from None


def records(validate: Validate = _accepted) -> Codec[Conversation]:
    """The codec for conversations in a run's journals."""
    return Codec(
        key=lambda conversation: conversation.id,
        to_plain=Conversation.plain,
        from_plain=lambda value: from_plain(value, validate),
    )


RECORDS = records()
"""The codec that does not validate scenarios."""


def formats(validate: Validate = _accepted) -> tuple[Format, Format]:
    """The formats of a run folder and of a file of records."""
    return (
        Format("run", "the folder of a run", _is_run, lambda path: read_run(path, validate)),
        Format("replay", "JSON lines of records", _is_record, lambda path: read(path, validate), write),
    )


def _is_run(source: Source) -> bool:
    return source.is_folder and (source.path / MANIFEST).is_file() and (source.path / CONVERSATIONS).is_file()


def _is_record(source: Source) -> bool:
    # Other data sets may have a `schema_version` too.
    return source.has("schema_version") and any(source.has(key) for key in ("id", "scenario", "messages"))
