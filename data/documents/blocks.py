"""The content of a document of any format: headings and paragraphs in order."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...errors import DataError

MOST_LINES = 100_000
"""Most lines of Markdown and plain text: a book of 1,200 pages, broken to fit a width, has 70,000."""

_UNSPACED = "[\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\uff00-\uffef]"
"""Characters of scripts that put no space between words, with their punctuation. Korean puts spaces."""
_WRAP = re.compile(rf"(?<={_UNSPACED})\n(?={_UNSPACED})")


@dataclass(frozen=True)
class Block:
    """A heading, or a paragraph, list, table or piece of code as readable text."""

    text: str
    level: int | None = None
    """Level of a heading, 1 the highest; None for all other text."""


@dataclass(frozen=True)
class Document:
    """A document's headings and paragraphs, and what was left out of it."""

    name: str
    """Name of the file, or its path inside the folder that was read, with `/`."""
    blocks: tuple[Block, ...]
    title: str | None = None
    """Title that the file declares outside of its text: in front matter, or `<title>` in HTML."""
    notes: tuple[str, ...] = ()
    """Remarks about the reading, without the document's name."""


def check(count: int, most: int, what: str) -> None:
    """DataError if there is more of something than is read of one document in seconds."""
    if count > most:
        raise DataError(f"has {count:,} {what}, the bound is {most:,}: split the document")


def unwrapped(lines: Iterable[str]) -> str:
    """Lines that were broken to fit a width, joined by a space, or by nothing in Chinese and Japanese."""
    text = "\n".join(filter(None, (line.strip() for line in lines)))
    return _WRAP.sub("", text).replace("\n", " ")


def one_line(text: str) -> str:
    """The text with each run of white space as one space."""
    return unwrapped(" ".join(line.split()) for line in text.splitlines())


def heading(text: str, level: int) -> list[Block]:
    """The heading; nothing if it has no text."""
    text = one_line(text)
    return [Block(text, level)] if text else []


def paragraph(text: str) -> list[Block]:
    """The paragraph without blank lines around it and white space at the end; nothing if it has no text."""
    text = text.strip("\n").rstrip()
    return [Block(text)] if text.strip() else []
