"""Plain text: paragraphs between blank lines, read as Markdown where it has Markdown's headings."""

import re
from collections.abc import Iterator

from .blocks import Block, paragraph, unwrapped
from .markdown import headed_blocks

TITLE = 80
"""Most characters of a first line that is taken for the title."""

_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s|\s{2,}\S|\t")
"""A line that does not go on with the line before: an item of a list, or an indented line."""
_END = re.compile(r"[.!?,;:。！？，；：…]\W*$")


def text_blocks(text: str) -> tuple[list[Block], str | None]:
    """The blocks of a plain text, and its title if its first paragraph is one.

    A title is a short line without a full stop. A text with Markdown headings is Markdown. In any other every word
    stays; the lines of a paragraph are joined, but not with one that begins an item of a list or is indented.
    """
    headed = headed_blocks(text)
    if headed is not None:
        return headed, None
    blocks = [
        block for chunk in re.split(r"\n[^\S\n]*(?:\n[^\S\n]*)+", text) for block in paragraph("\n".join(_rows(chunk)))
    ]
    if len(blocks) > 1 and _is_title(blocks[0].text):
        return blocks[1:], blocks[0].text.strip()
    return blocks, None


def _rows(chunk: str) -> Iterator[str]:
    """The lines of a paragraph, those that were only broken to fit a width joined."""
    row: list[str] = []
    for line in chunk.split("\n"):
        if row and _ITEM.match(line):
            yield _row(row)
            row = []
        row.append(line)
    yield _row(row)


def _row(lines: list[str]) -> str:
    first = lines[0]
    return first[: len(first) - len(first.lstrip())] + unwrapped(lines)


def _is_title(text: str) -> bool:
    return "\n" not in text and len(text) <= TITLE and not _END.search(text) and not _ITEM.match(text)
