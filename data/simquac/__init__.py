"""The teacher-student data sets: SimQuAC, QuAC in its own layout, and the published teacher topics."""

from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path

from ...errors import DataError, at
from ..formats import record_lines
from ..formats.detection import FORMATS, kind_of
from ..records import Conversation
from . import dataset, released, teacher, topics
from .dataset import by_people, misplaced, references, to_object, write
from .topics import KIND, MAX_BYTES, Topic

__all__ = [
    "KIND",
    "MAX_BYTES",
    "Topic",
    "by_people",
    "misplaced",
    "read",
    "read_topics",
    "references",
    "released",
    "samples",
    "to_object",
    "topics_of",
    "write",
]


def read(path: str | Path) -> list[Conversation]:
    """The conversations of SimQuAC or QuAC JSON or of teacher topics, in the file's order.

    What was read is kept, odd values and unknown keys included: `write` gives a JSON file's object again.
    DataError for a file of another format, by its name.
    """
    match kind_of(path):
        case "teacher":
            return teacher.read(path)
        case "simquac":
            return dataset.read(path)
        case other:
            raise DataError(
                f"{at(path)}: is {FORMATS[other]}, not SimQuAC or QuAC JSON nor teacher topics: give such a file, "
                "or make one of it with `duologue convert SRC DST --to simquac` if it is about sections"
            )


def read_topics(path: str | Path, *, max_bytes: int = MAX_BYTES) -> list[Topic]:
    """Every topic that a path holds, in order, equal ones as often as they stand there.

    From JSON lines of topics, SimQuAC or QuAC JSON, teacher topics, records or a run. DataError if one
    cannot be simulated: an empty section, no header, more bytes than the bound.
    """
    if kind_of(path) == "topics":
        return topics.checked(topics.read_topic_lines(path), path, max_bytes)
    return topics_of(_conversations(path), path, max_bytes=max_bytes)


def topics_of(conversations: Iterable[Conversation], path: str | Path, *, max_bytes: int = MAX_BYTES) -> list[Topic]:
    """The topic of each conversation, in order; `path` is where they were read from, for errors."""
    candidates = []
    for number, conversation in enumerate(conversations):
        try:
            candidates.append((f"conversation {number}", Topic.of(conversation)))
        except ValueError as error:
            raise DataError(f"{at(path, f'conversation {number}')}: {error}") from None
    return topics.checked(candidates, path, max_bytes)


def samples() -> list[Topic]:
    """The topics that are shipped: a few in our own words, of different shape, one in Chinese."""
    with as_file(files("duologue.data").joinpath("samples", "topics.jsonl")) as path:
        return read_topics(path)


def _conversations(path: str | Path) -> list[Conversation]:
    match kind_of(path):
        case "run":
            return record_lines.read_run(path)
        case "replay":
            return record_lines.read(path)
        case "simquac" | "teacher":
            return read(path)
        case other:
            raise DataError(
                f"{at(path)}: is {FORMATS[other]}, not a source of topics: give a data set's file or JSON lines"
            )
