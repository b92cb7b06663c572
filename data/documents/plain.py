"""Plain text: paragraphs between blank lines, read as Markdown where it has Markdown's headings."""

import re
from collections.abc import Iterator

from .blocks import Block, heading, paragraph, unwrapped
from .markdown import headed_blocks

CHAPTER = 2
"""Level of a chapter's heading, below the text's title."""
TITLE = 80
"""Most characters of a first line that is taken for the title."""

_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s|\s{2,}\S|\t")
"""A line that does not go on with the line before: an item of a list, or an indented line."""
_CHAPTER = re.compile(
    r"\s*(?:CHAPTER|Chapter)\s+(?:[IVXLC]{1,8}|\d{1,3})(?![\w'\u2019])\s*(?P<sign>[.:\u2013\u2014-]?)\s*(?P<title>.*?)\s*"
)
_BARE = re.compile(r"\s*\w+\s+\w+\W*")
"""A heading without a title."""
_END = re.compile(r"[.!?,;:。！？，；：…]\W*$")


def text_blocks(text: str) -> tuple[list[Block], str | None, list[str]]:
    """The blocks of a plain text, its title if it has one, and notes about what was left out.

    A title is a first paragraph of one short line without a full stop. A text with Markdown headings is Markdown. In
    any other text every word stays, and `CHAPTER I.` is a heading. The lines of a paragraph are joined, but not with a
    line that is indented or begins an item of a list.
    """
    headed = headed_blocks(text)
    if headed is not None:
        blocks, notes = headed
        return blocks, None, notes
    chunks = re.split(r"\n[^\S\n]*(?:\n[^\S\n]*)+", text)
    blocks = [block for chunk in _chapters(chunks) for block in chunk]
    if len(blocks) > 1 and _is_title(blocks[0].text) and not _CHAPTER.match(blocks[0].text):
        return blocks[1:], blocks[0].text.strip(), []
    return blocks, None, []


def _chapters(chunks: list[str]) -> Iterator[list[Block]]:
    """The blocks of each chunk between blank lines: a paragraph, a chapter's heading, or a heading with text below it.

    A title that stands behind a blank line belongs to its heading.
    """
    number = 0
    while number < len(chunks):
        head, rest = _head(chunks[number].strip("\n").split("\n"))
        following = chunks[number + 1 : number + 3]
        if head and not rest and _BARE.fullmatch(head) and len(following) == 2 and _is_title_line(following[0]):
            head, number = f"{head} {following[0]}", number + 1
        yield [*heading(head, CHAPTER), *paragraph("\n".join(_rows("\n".join(rest))))]
        number += 1


def _head(lines: list[str]) -> tuple[str, list[str]]:
    """The chapter's heading with which the lines begin, or nothing, and the lines below it.

    Several chapters in a row are a list of contents.
    """
    first, *rest = lines
    match = _CHAPTER.fullmatch(first)
    if (
        match is None
        or len(first) > TITLE
        or any(map(_CHAPTER.match, rest[:1]))
        or (rest and rest[0].lstrip()[:1].islower())
    ):
        return "", lines
    if not match["title"]:
        titles = rest[:1] if rest and (rest[0].isupper() or (len(rest) == 1 and _is_title_line(rest[0]))) else []
        return " ".join((first, *titles)), rest[len(titles) :]
    if match["sign"] and not rest:
        return first, []
    return (first, rest) if _is_title_line(match["title"]) and not match["title"][0].islower() else ("", lines)


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


def _is_title_line(line: str) -> bool:
    return (line.isupper() and len(line) <= TITLE) or _is_title(line)


def _is_title(text: str) -> bool:
    return "\n" not in text and len(text) <= TITLE and not _END.search(text) and not _ITEM.match(text)
