"""Pieces of a text below a bound: whole paragraphs, and whole sentences of a longer one.

No word is lost.
"""

import re
from collections.abc import Iterator, Sequence

BETWEEN = "\n\n"
"""Stands between the paragraphs of a section."""

_BREAKS = (
    re.compile(r"\n"),
    re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？][”’」』）]*"),
    re.compile(r"\s"),
)
"""Where a paragraph may be cut, the best place first: a line's end, a sentence's end, white space."""


def size(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def pieces(paragraphs: Sequence[str], bound: int) -> list[str]:
    """The paragraphs in as few texts of about the same size as go, each of at most `bound` bytes."""
    total = size(BETWEEN.join(paragraphs))
    target_size = total / -(-total // bound)
    texts: list[str] = []
    open_piece = ""
    for paragraph in paragraphs:
        for text in _cut(paragraph, bound):
            joined = f"{open_piece}{BETWEEN}{text}" if open_piece else text
            if open_piece and (size(joined) > bound or size(open_piece) >= target_size):
                texts.append(open_piece)
                joined = text
            open_piece = joined
    return [*texts, open_piece]


def within(paragraphs: Sequence[str], bound: int) -> str:
    """The first paragraphs as far as the bound allows, of a single longer one its beginning."""
    beginning = next(_cut(paragraphs[0], bound))
    for paragraph in paragraphs[1:] if beginning == paragraphs[0] else ():
        if size(f"{beginning}{BETWEEN}{paragraph}") > bound:
            break
        beginning += BETWEEN + paragraph
    return beginning


def _cut(text: str, bound: int) -> Iterator[str]:
    """The text whole, or in pieces of about the same size."""
    rest = size(text)
    while rest > bound:
        length = min(bound, int(rest / -(-rest // bound) * 1.1) + 1)
        start = text[:length].encode("utf-8", "replace")[:length].decode("utf-8", "ignore")
        end = next(filter(None, (_last(mark, start) for mark in _BREAKS)), len(start)) or 1
        if piece := text[:end].rstrip():
            yield piece
        following = text[end:].lstrip(" \t\n")
        rest -= size(text[: len(text) - len(following)])
        text = following
    if text:
        yield text


def _last(mark: re.Pattern[str], text: str) -> int:
    """The end of the last such break in the second half of the text; 0 if there is none."""
    return max((match.end() for match in mark.finditer(text, len(text) // 2)), default=0)
