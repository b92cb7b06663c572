"""Reading of conversations about topics, and of topics, from any file that has them."""

from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from ...errors import DataError, at
from .. import documents
from ..formats import messages, record_lines, sharegpt
from ..formats.detection import Source, detected
from ..records import Conversation
from . import dataset, topics
from .domain import DOMAIN
from .sections import MAX_SECTION_BYTES, Background, topics_of_document
from .topics import MAX_BYTES, Topic


def _validate(conversation: Conversation) -> None:
    if DOMAIN.is_about(conversation):
        DOMAIN.validate(conversation)


_SOURCES = (*record_lines.formats(_validate), *DOMAIN.formats)
"""Formats of files that hold topics, with or without conversations about them."""
_OTHERS = (messages.FORMAT, sharegpt.FORMAT)


def read(path: str | Path) -> list[Conversation]:
    """The conversations of SimQuAC or QuAC JSON, of rows of QuAC or of teacher topics, in the file's order.

    Unusual values and unknown keys are kept, so `write` gives the object of a JSON file again. DataError names the
    format of a file in another known format.
    """
    source = Source(path)
    form = detected(source, DOMAIN.formats)
    if form is not None and form.read is not dataset.read:
        return list(form.contents(source.path).conversations)
    other = detected(source, (*record_lines.formats(), *_OTHERS)) if form is None else None
    if other is not None:
        raise DataError(
            f"{at(path)}: is {other.description}, not SimQuAC or QuAC JSON nor teacher topics: give such a file, "
            "or make one of it with `duologue convert SRC DST --to simquac` if it is about sections"
        )
    return dataset.read(path)


class TopicSet(NamedTuple):
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
    """Every topic of a path, in order; equal topics are repeated. See `topic_set`, which has notes too."""
    return topic_set(path, max_bytes=max_bytes, background=background, max_section_bytes=max_section_bytes).topics


def topic_set(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    background: Background = "lead",
    max_section_bytes: int = MAX_SECTION_BYTES,
) -> TopicSet:
    """Every topic of a path, in order, with notes.

    The path may be a document (Markdown, text, HTML, Word) or a folder of documents. It may also be JSON lines of
    topics, the published script's topic files, SimQuAC or QuAC JSON, records or a run. DataError if a topic cannot be
    simulated: an empty section, no header, more than `max_bytes` bytes.

    Of a document, the background is the text between title and next heading (`lead`), its first `paragraph`, or `none`.
    A section of more than `max_section_bytes` bytes is split.
    """
    source = Source(path)
    named = not source.is_folder and documents.is_document(source.path)
    is_text = named and source.path.suffix.lower() in documents.TEXT
    form = None
    if (
        is_text or not named
    ):  # a text is a document unless it is one of the data sets' files; a folder unless it is a run
        form = next((candidate for candidate in (*_SOURCES, *_OTHERS) if candidate.recognises(source)), None)
    if form is None and (source.is_folder or (named and (not is_text or source.text.strip()))):
        return _of_documents(source.path, background, max_section_bytes, max_bytes)
    form = form or detected(source, ())
    if form not in _SOURCES:
        what = f"is {form.description}" if form is not None else "is in no known format"
        known = ", ".join(one.description for one in _SOURCES)
        raise DataError(f"{at(path)}: {what}: give {known}, or a document (.md, .txt, .html, .docx)")
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
        raise DataError(f"{at(path)}: has no text: give a document with text")
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
