"""Reading of conversations about topics, and of topics, from any file that has them."""

from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path

from ...errors import DataError, at
from ..formats import messages, record_lines, sharegpt
from ..formats.detection import Source, detected
from ..records import Conversation
from . import dataset, teacher, topics
from .domain import DOMAIN
from .topics import MAX_BYTES, Topic


def _validate(conversation: Conversation) -> None:
    if DOMAIN.is_about(conversation):
        DOMAIN.validate(conversation)


_SOURCES = (*record_lines.formats(_validate), *DOMAIN.formats)
"""Formats of files that hold topics, with or without conversations about them."""
_OTHERS = (*record_lines.formats(), messages.FORMAT, sharegpt.FORMAT)


def read(path: str | Path) -> list[Conversation]:
    """The conversations of SimQuAC or QuAC JSON or of teacher topics, in the file's order.

    Unusual values and unknown keys are kept, so `write` gives the object of a JSON file again. DataError names the
    format of a file in another known format.
    """
    source = Source(path)
    form = detected(source, DOMAIN.formats)
    if form is not None and form.read is teacher.read:
        return teacher.read(path)
    other = detected(source, _OTHERS) if form is None else None
    if other is not None:
        raise DataError(
            f"{at(path)}: is {other.description}, not SimQuAC or QuAC JSON nor teacher topics: give such a file, "
            "or make one of it with `duologue convert SRC DST --to simquac` if it is about sections"
        )
    return dataset.read(path)


def read_topics(path: str | Path, *, max_bytes: int = MAX_BYTES) -> list[Topic]:
    """Every topic of a path, in order; equal topics are repeated.

    The path may be JSON lines of topics, SimQuAC or QuAC JSON, teacher topics, records or a run. DataError if a topic
    cannot be simulated: an empty section, no header, more than `max_bytes` bytes.
    """
    source = Source(path)
    form = detected(source, (*_SOURCES, messages.FORMAT, sharegpt.FORMAT))
    if form is None:
        raise DataError(
            f"{at(path)}: is none of the known formats: give {', '.join(known.description for known in _SOURCES)}"
        )
    if form not in _SOURCES:
        raise DataError(
            f"{at(path)}: is {form.description}, not a source of topics: give a data set's file or JSON lines"
        )
    if topics.are_topics(source):
        return topics.checked(topics.read_topic_lines(path), path, max_bytes)
    return topics_of(form.contents(Path(path)).conversations, path, max_bytes=max_bytes)


def topics_of(conversations: Iterable[Conversation], path: str | Path, *, max_bytes: int = MAX_BYTES) -> list[Topic]:
    """The topic of each conversation, in order; `path` is their source, for error messages."""
    located = []
    for number, conversation in enumerate(conversations):
        try:
            located.append((f"conversation {number}", Topic.of(conversation)))
        except ValueError as error:
            raise DataError(f"{at(path, f'conversation {number}')}: {error}") from None
    return topics.checked(located, path, max_bytes)


def samples() -> list[Topic]:
    """The topics of the package: a few texts of our own, of different shape, one in Chinese."""
    with as_file(files("duologue.data").joinpath("samples", "topics.jsonl")) as path:
        return read_topics(path)
