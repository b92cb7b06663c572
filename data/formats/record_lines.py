"""Conversations as this project keeps them: one whole record a line, nothing lost."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...errors import DataError, at
from ..recllmsim import situations
from ..recllmsim.situations import Situation
from ..records import Conversation
from ..simquac.topics import KIND, Topic
from .detection import CONVERSATIONS, FAILURES, MANIFEST
from .journals import Codec, JournalReader
from .jsonfiles import dumps, read_json, read_lines, write_lines

_ABOUT: Mapping[str, type[Topic] | type[Situation]] = {KIND: Topic, situations.KIND: Situation}


def line(conversation: Conversation) -> str:
    """The record as one line of JSON, its newline included."""
    return dumps(conversation.plain()) + "\n"


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """One record a line. Nothing is left out."""
    write_lines(path, (conversation.plain() for conversation in conversations))
    return []


def read(path: str | Path) -> list[Conversation]:
    """The records of a file, in its order."""
    return list(iterate(path))


def read_run(folder: str | Path) -> list[Conversation]:
    """The conversations of a run folder, in the order in which they were planned."""
    manifest = read_json(Path(folder) / MANIFEST)
    planned = manifest.get("planned") if isinstance(manifest, dict) else None
    if not isinstance(planned, list) or not all(isinstance(name, str) for name in planned):
        raise DataError(f"{at(Path(folder) / MANIFEST)}: has no list 'planned': is this folder a run?")
    return JournalReader(Path(folder) / CONVERSATIONS, RECORDS).load(planned)


def cut_short(folder: str | Path) -> list[Conversation]:
    """The conversations of a run folder that were cut short and not finished since: the last try of each."""
    path = Path(folder) / FAILURES
    if not path.is_file():
        return []
    finished = JournalReader(Path(folder) / CONVERSATIONS, RECORDS)
    return [each for each in JournalReader(path, RECORDS).load() if each.id not in finished]


def iterate(path: str | Path) -> Iterator[Conversation]:
    """The records of a file one after the other."""
    for number, value in read_lines(path):
        try:
            yield from_plain(value)
        except DataError as error:
            raise DataError(f"{at(path, f'line {number}')}: {error}") from None


def from_plain(value: Any) -> Conversation:
    """The record of a line's JSON value; DataError says what is wrong with it."""
    if not isinstance(value, dict):
        raise DataError("is not an object: is this a file of records?")
    try:
        conversation = Conversation.from_plain(value)
        about = _ABOUT.get(str(conversation.scenario.get("kind")))
        if about is not None:
            about.of(conversation)
        return conversation
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{' '.join(key.split())}: {first['msg']}: is this a record?") from None
    except ValueError as error:
        raise DataError(str(error)) from None


RECORDS = Codec(key=lambda conversation: conversation.id, to_plain=Conversation.plain, from_plain=from_plain)
"""How the journals of a run hold conversations."""
