"""Where conversations about topics, and topics alone, are read from: any file that has them."""

from importlib.resources import as_file, files
from pathlib import Path

from ...errors import DataError, at
from ..formats import record_lines
from ..formats.detection import Source, detected
from ..formats.jsonfiles import read_text
from ..records import Conversation
from . import dataset, teacher, topics
from .domain import DOMAIN
from .topics import MAX_BYTES, Topic


def read(path: str | Path) -> list[Conversation]:
    """The conversations of SimQuAC or QuAC JSON or of teacher topics, in the file's order.

    What was read is kept, odd values and unknown keys included: `write` gives a JSON file's object again.
    """
    return teacher.read(path) if teacher.is_teacher(read_text(path)) else dataset.read(path)


def read_topics(path: str | Path, *, max_bytes: int = MAX_BYTES) -> list[Topic]:
    """Every topic that a path holds, in order, equal ones as often as they stand there.

    From JSON lines of topics, SimQuAC or QuAC JSON, teacher topics, records or a run. DataError if one
    cannot be simulated: an empty section, no header, more bytes than the bound.
    """
    source = Source(path)
    form = detected(source, (*record_lines.formats(), *DOMAIN.formats))
    if form is None:
        known = ", ".join(each.about for each in (*DOMAIN.formats, *record_lines.formats()))
        raise DataError(f"{at(path)}: is none of the known formats of topics: give {known}")
    if topics.are_topics(source):
        return topics.checked(topics.read_topic_lines(path), path, max_bytes)
    placed = []
    for number, conversation in enumerate(form.contents(Path(path)).conversations):
        try:
            placed.append((f"conversation {number}", Topic.of(conversation)))
        except ValueError as error:
            raise DataError(f"{at(path, f'conversation {number}')}: {error}") from None
    return topics.checked(placed, path, max_bytes)


def samples() -> list[Topic]:
    """The topics that are shipped: a few in our own words, of different shape, one in Chinese."""
    with as_file(files("duologue.data").joinpath("samples", "topics.jsonl")) as path:
        return read_topics(path)
