"""Sentences of English and Chinese text: pysbd, kept from inputs that it takes minutes for."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

PIECE = 1_000
"""Characters given to pysbd at once: its time grows with the square of the number of sentences."""

_HAN = re.compile(r"[\u4e00-\u9fff]")
_BREAK = re.compile(r"(?<=[.!?。！？])\s*")


@lru_cache(maxsize=4)
def _segmenter(language: str) -> Any:
    import pysbd

    return pysbd.Segmenter(language=language, clean=False)


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text in order, without surrounding white space, line by line."""
    found: list[str] = []
    for line in text.split("\n"):
        of_line: list[str] = []
        goes_on = False
        for piece, ends in _pieces(line):
            try:
                parts = list(_segmenter("zh" if _HAN.search(piece) else "en").segment(piece))
            except ValueError:  # pysbd takes some control characters for digits
                parts = []
            if "".join(parts) != piece:  # pysbd changed a character: its sentences are not slices
                parts = _BREAK.split(piece)
            if goes_on and parts:  # a sentence that is longer than a piece is one all the same
                of_line[-1] += parts.pop(0)
            of_line.extend(parts)
            goes_on = not ends and bool(of_line)
        found.extend(part.strip() for part in of_line)
    return tuple(sentence for sentence in found if sentence)


def _pieces(line: str) -> Iterator[tuple[str, bool]]:
    """The line in pieces that pysbd can take, and whether each ends where a sentence does."""
    while len(line) > PIECE:
        end = max(line.rfind(mark, 0, PIECE) for mark in (". ", "? ", "! ")) + 1
        end = max(end, *(line.rfind(mark, 0, PIECE) + 1 for mark in "。！？"))
        cut = end or line.rfind(" ", 0, PIECE) + 1 or PIECE
        yield line[:cut], bool(end)
        line = line[cut:]
    if line.strip():
        yield line, True
