"""Reading of conversations about topics, and of topics, from any file that has them."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from ...errors import DataError, at
from .. import documents
from ..formats import messages, record_lines, sharegpt
from ..formats.detection import Source, detected
from ..records import Conversation
from . import dataset, rows, teacher, topics
from .domain import DOMAIN
from .sections import MAX_SECTION_BYTES, Background, topics_of_document
from .topics import MAX_BYTES, Topic


def _validate(conversation: Conversation) -> None:
    if DOMAIN.is_about(conversation):
        DOMAIN.validate(conversation)


_SOURCES = (*record_lines.formats(_validate), *DOMAIN.formats)
"""Formats of files that hold topics, with or without conversations about them."""
_OTHERS = (*record_lines.formats(), messages.FORMAT, sharegpt.FORMAT)


def read(path: str | Path) -> list[Conversation]:
    """The conversations of SimQuAC or QuAC JSON, of rows of QuAC or of teacher topics, in the file's order.

    Unusual values and unknown keys are kept, so `write` gives the object of a JSON file again. DataError names the
    format of a file in another known format.
    """
    source = Source(path)
    form = detected(source, DOMAIN.formats)
    if form is not None and form.read is teacher.read:
        return teacher.read(path)
    if form in rows.FORMATS:
        return list(form.contents(source.path).conversations)
    other = detected(source, _OTHERS) if form is None else None
    if other is not None:
        raise DataError(
            f"{at(path)}: is {other.description}, not SimQuAC or QuAC JSON nor teacher topics: give such a file, "
            "or make one of it with `duologue convert SRC DST --to simquac` if it is about sections"
        )
    return dataset.read(path)


@dataclass(frozen=True)
class TopicSet:
    """The topics of a source, in order."""

    topics: list[Topic]
    notes: tuple[str, ...] = ()
    """A line for each thing that was split, passed over or left out."""


def read_topics(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    background: Background = "lead",
    max_section_bytes: int = MAX_SECTION_BYTES,
) -> list[Topic]:
    """Every topic of a path, in order; equal topics are repeated.

    The path may be a document (Markdown, text, HTML, Word) or a folder of documents. It may also be JSON lines of
    topics, SimQuAC or QuAC JSON, teacher topics, records or a run. DataError if a topic cannot be simulated: an empty
    section, no header, more than `max_bytes` bytes. `background` and `max_section_bytes` are for documents: see
    `topic_set`.
    """
    return topic_set(path, max_bytes=max_bytes, background=background, max_section_bytes=max_section_bytes).topics


def topic_set(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    background: Background = "lead",
    max_section_bytes: int = MAX_SECTION_BYTES,
) -> TopicSet:
    """What `read_topics` gives, with notes.

    Of a document, the background is the text between title and next heading (`lead`), its first `paragraph`, or `none`.
    A section of more than `max_section_bytes` bytes is split.
    """
    source = Source(path)
    named = not source.is_folder and documents.is_document(source.path)
    if named and source.path.suffix.lower() not in documents.TEXT:
        return _of_documents(source.path, background, max_section_bytes, max_bytes)
    formats = (*_SOURCES, messages.FORMAT, sharegpt.FORMAT)
    # A text is a document unless it is one of the data sets' files; a folder unless it is a run.
    form = next((candidate for candidate in formats if candidate.recognises(source)), None)
    if form is None and (source.is_folder or (named and source.text.strip())):
        return _of_documents(source.path, background, max_section_bytes, max_bytes)
    form = form or detected(source, ())
    if form is None:
        known_sources = ", ".join(topic_format.description for topic_format in _SOURCES)
        raise DataError(
            f"{at(path)}: is not in a known format: give {known_sources}, or a document (.md, .txt, .html, .docx)"
        )
    if form not in _SOURCES:
        raise DataError(
            f"{at(path)}: is {form.description}, not a source of topics: give a data set's file or JSON lines"
        )
    if topics.are_topics(source):
        return TopicSet(topics.checked(topics.read_topic_lines(path), path, max_bytes))
    return TopicSet(topics_of(form.contents(Path(path)).conversations, path, max_bytes=max_bytes))


def _of_documents(path: Path, background: Background, max_section_bytes: int, max_bytes: int) -> TopicSet:
    """The topics of a document or of a folder of them; DataError if none has text."""
    read_documents, notes = documents.read(path)
    located: list[tuple[str, Topic]] = []
    for document in read_documents:
        of_document, remarks = topics_of_document(
            document, background=background, max_section_bytes=max_section_bytes, max_bytes=max_bytes
        )
        if not of_document:
            remarks.append("has no text: no topic")
        notes += [f"{document.name}: {remark}" for remark in remarks]
        located += [(f"{document.name}, {topic.header!r}", topic) for topic in of_document]
    if not located:
        which = "has no text" if len(read_documents) == 1 else f"none of its {len(read_documents)} documents has text"
        raise DataError(f"{at(path)}: {which}: give a document with text")
    return TopicSet(topics.checked(located, path, max_bytes), tuple(notes))


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
