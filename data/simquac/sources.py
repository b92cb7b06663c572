"""Reading of conversations about topics, and of topics, from any file that has them, documents too.

Of a document the highest heading is the title, the text under it the background, each further heading a topic.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import DataError, at
from .. import documents
from ..documents import Document
from ..domains import RECORDS, RUN
from ..formats import messages
from ..formats.source import Source, detected
from ..records import Conversation
from . import topics
from .domain import DOMAIN
from .topics import Topic

MAX_SECTION_BYTES = 8_000
"""Default bound of a section of a document, in bytes of UTF-8: about 1,300 English words."""

BETWEEN = "\n\n"
"""Stands between the paragraphs of a section."""

_BREAKS = (
    re.compile(r"\n"),
    re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？][”’」』）]*"),
    re.compile(r"\s"),
)
"""Where a paragraph may be cut, the best place first: a line's end, a sentence's end, white space."""


@dataclass
class _Section:
    """A heading and the text under it, up to the next heading."""

    path: tuple[str, ...]
    """The headings above it below the title, its own last."""
    paragraphs: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path[-1]


@dataclass
class _Part:
    """A title with its sections."""

    title: str
    lead: list[str] = field(default_factory=list)
    """Paragraphs between the title and the next heading."""
    sections: list[_Section] = field(default_factory=list)


def topics_of_document(document: Document, max_section_bytes: int) -> tuple[list[Topic], list[str]]:
    """The topics of a document in order, and notes about splits and omissions.

    A document without text has no topics. The topic's id is the file's name and the heading. A longer section is split
    between paragraphs, a longer paragraph behind a sentence; each piece is a topic.
    """
    topics: list[Topic] = []
    notes: list[str] = list(document.notes)
    if not document.blocks:
        return topics, notes
    part = _part(document)
    bare = [section.name for section in part.sections if not section.paragraphs]
    if not part.lead and not part.sections:
        bare.append(part.title)
    sections, lead = [section for section in part.sections if section.paragraphs], part.lead
    if lead and not sections:
        if part.sections:
            notes.append(f"no heading under {part.title!r} has text: the text under it is the section")
        sections, lead = [_Section((part.title,), lead)], []
    before, *rest = pieces(lead, max_section_bytes) if lead else [""]
    if left := sum(map(len, rest)):
        notes.append(f"{left:,} characters under {part.title!r} are in no background")
    ids: Counter[str] = Counter()
    for section, header in zip(sections, _headers(sections), strict=True):
        texts = pieces(section.paragraphs, max_section_bytes)
        if len(texts) > 1:
            notes.append(f"{header!r} is split into {len(texts)} topics of at most {max_section_bytes:,} bytes")
        for number, text in enumerate(texts, start=1):
            name = header if len(texts) == 1 else f"{header} ({number}/{len(texts)})"
            ids[name] += 1
            own = f"{document.name}#{name}" + (f"~{ids[name]}" if ids[name] > 1 else "")
            topics.append(Topic(title=part.title, background=before, header=name, section=text, id=own))
    if bare:
        which = "1 heading has no text of its" if len(bare) == 1 else f"{len(bare)} headings have no text of their"
        notes.append(f"{which} own and no topic: {_some(bare)}")
    return topics, notes


def _part(document: Document) -> _Part:
    """The document by its title and its sections.

    The title is the only heading of the highest level, else what the file declares, else its name.
    """
    levels = [block.level for block in document.blocks if block.level is not None]
    top = min(levels, default=0)
    declared = document.title is not None and top > 1
    part = _Part(document.title or _readable(document.name))
    into = part.lead
    above: list[tuple[int, str]] = []
    for block in document.blocks:
        if block.level is None:
            into.append(block.text)
        elif block.level == top and levels.count(top) == 1 and not declared:
            part.title, above, into = block.text, [], part.lead  # what stands before it is the document's too
        else:
            above = [(level, text) for level, text in above if level < block.level] + [(block.level, block.text)]
            part.sections.append(_Section(tuple(text for _, text in above)))
            into = part.sections[-1].paragraphs
    return part


def _headers(sections: Sequence[_Section]) -> Iterator[str]:
    """The sections' headings, those of equal name with the headings above them."""
    names = Counter(section.name for section in sections)
    return (section.name if names[section.name] == 1 else ": ".join(section.path) for section in sections)


def _readable(name: str) -> str:
    """The name of a file as a title: without folders and ending, with spaces for `_` and `-`."""
    stem = name.rpartition("/")[2].rpartition(".")[0] or name
    return " ".join(stem.replace("_", " ").replace("-", " ").split()) or stem


def _some(names: Sequence[str], most: int = 5) -> str:
    listed = ", ".join(repr(name if len(name) <= 60 else name[:59] + "…") for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def size(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def pieces(paragraphs: Sequence[str], bound: int) -> list[str]:
    """Texts of whole paragraphs, each of at most `bound` bytes; a longer paragraph is cut where a sentence or word ends."""
    texts: list[str] = []
    for text in (piece for paragraph in paragraphs for piece in _cut(paragraph, bound)):
        joined = f"{texts[-1]}{BETWEEN}{text}" if texts else ""
        if texts and size(joined) <= bound:
            texts[-1] = joined
        else:
            texts.append(text)
    return texts


def _cut(text: str, bound: int) -> Iterator[str]:
    while size(text) > bound:
        start = text[:bound].encode("utf-8", "replace")[:bound].decode("utf-8", "ignore")
        end = next(filter(None, (_last(mark, start) for mark in _BREAKS)), len(start)) or 1
        if piece := text[:end].rstrip():
            yield piece
        text = text[end:].lstrip(" \t\n")
    if text:
        yield text


def _last(mark: re.Pattern[str], text: str) -> int:
    return max((match.end() for match in mark.finditer(text, len(text) // 2)), default=0)


_SOURCES = (RUN, RECORDS, *DOMAIN.formats)
"""Formats of files that hold topics, with or without conversations about them."""


class TopicSet(NamedTuple):
    """The topics of a source, in order."""

    topics: list[Topic]
    notes: tuple[str, ...] = ()
    """A line for each thing that was split, passed over or left out."""


def read_topics(path: str | Path, **settings: Any) -> list[Topic]:
    """Every topic of a path, in order; equal topics are repeated. Settings are those of `topic_set`, which has notes too."""
    return topic_set(path, **settings).topics


def topic_set(path: str | Path, *, max_section_bytes: int = MAX_SECTION_BYTES) -> TopicSet:
    """Every topic of a path, in order, with notes.

    The path may be a document (Markdown, text, HTML, Word) or a folder of documents. It may also be JSON lines of
    topics, the published script's topic files, SimQuAC or QuAC JSON, records or a run. DataError if a topic cannot be
    simulated: an empty section, no header.

    Of a document, the background is the text between title and next heading. A section of more than `max_section_bytes`
    bytes is split.
    """
    source = Source(path)
    ending = source.path.suffix.lower()
    named = not source.is_folder and ending in (*documents.SUFFIXES, *documents.OTHERS)
    is_text = named and ending in documents.TEXT
    form = None
    if is_text or not named:  # a text is a document unless it is a data set's file; a folder unless it is a run
        others = (messages.FORMAT, messages.SHAREGPT)
        form = next((candidate for candidate in (*_SOURCES, *others) if candidate.recognises(source)), None)
    if form is None and (source.is_folder or (named and (not is_text or source.text.strip()))):
        return _of_documents(source.path, max_section_bytes)
    form = form or detected(source, ())
    if form not in _SOURCES:
        what = f"is {form.description}" if form is not None else "is in no known format"
        known = ", ".join(one.description for one in _SOURCES)
        raise DataError(f"{at(path)}: {what}: give {known}, or a document (.md, .txt, .html, .docx)")
    if topics.are_topics(source):
        return TopicSet(topics.checked(topics.read_topic_lines(path), path))
    return TopicSet(topics_of(form.contents(Path(path)).conversations, path))


def _of_documents(path: Path, max_section_bytes: int) -> TopicSet:
    read_documents, notes = documents.read(path)
    located: list[tuple[str, Topic]] = []
    for document in read_documents:
        of_document, remarks = topics_of_document(document, max_section_bytes)
        if not of_document:
            remarks.append("has no text: no topic")
        notes += [f"{document.name}: {remark}" for remark in remarks]
        located += [(f"{document.name}, {topic.header!r}", topic) for topic in of_document]
    if not located:
        raise DataError(f"{at(path)}: has no text: give a document with text")
    return TopicSet(topics.checked(located, path), tuple(notes))


def topics_of(conversations: Iterable[Conversation], path: str | Path) -> list[Topic]:
    """The topic of each conversation, in order; `path` is their source, for error messages."""
    located = []
    for number, conversation in enumerate(conversations):
        try:
            located.append((f"conversation {number}", Topic.of(conversation)))
        except ValueError as error:
            raise DataError(f"{at(path, f'conversation {number}')}: {error}") from None
    return topics.checked(located, path)


def samples() -> list[Topic]:
    """The topics of the package: a few texts of our own, of different shape, one in Chinese."""
    with as_file(files("duologue.data").joinpath("samples", "topics.jsonl")) as path:
        return topics.checked(topics.read_topic_lines(path), path)
