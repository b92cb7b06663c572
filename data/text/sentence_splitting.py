"""Sentences of English and Chinese text, by pysbd."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

PIECE = 1_000
"""Most characters for one call of pysbd, whose time grows with the square of the number of sentences."""

_HAN = re.compile(r"[\u4e00-\u9fff]")
_BREAK = re.compile(r"(?<=[.!?。！？])\s*")
_MARK = re.compile(r"[^\w ,;:，、；：]|_|  ")
"""A line without any of these is one sentence for pysbd."""


@lru_cache(maxsize=2)
def _segmenter(language: str) -> Any:
    import pysbd

    return pysbd.Segmenter(language=language, clean=False)


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text in order, without surrounding white space.

    A line break ends a sentence.
    """
    all_sentences: list[str] = []
    for line in text.split("\n"):
        if len(line) <= PIECE and not _MARK.search(line):
            all_sentences.append(line)
            continue
        line_sentences: list[str] = []
        goes_on = False
        for piece, ends in _pieces(line):
            parts = _segments(piece)
            if goes_on and parts:  # a sentence that continues over two pieces is joined
                line_sentences[-1] += parts.pop(0)
            line_sentences.extend(parts)
            goes_on = not ends and bool(line_sentences)
        all_sentences.extend(line_sentences)
    return tuple(filter(None, map(str.strip, all_sentences)))


def _segments(piece: str) -> list[str]:
    try:
        parts: list[str] = list(_segmenter("zh" if _HAN.search(piece) else "en").segment(piece))
    except ValueError:  # pysbd mistakes some control characters for digits
        parts = []
    return parts if "".join(parts) == piece else _BREAK.split(piece)  # it changed a character: they are not slices


def _pieces(line: str) -> Iterator[tuple[str, bool]]:
    """The line in pieces short enough for pysbd, and whether each ends at the end of a sentence."""
    while len(line) > PIECE:
        end = max(line.rfind(mark, 0, PIECE) for mark in (". ", "? ", "! ")) + 1
        end = max(end, *(line.rfind(mark, 0, PIECE) + 1 for mark in "。！？"))
        cut = end or line.rfind(" ", 0, PIECE) + 1 or PIECE
        yield line[:cut], bool(end)
        line = line[cut:]
    if line.strip():
        yield line, True
