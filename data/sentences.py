"""Sentences of English and Chinese text: pysbd, kept from inputs that it takes minutes for."""

import re
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
        for piece in _pieces(line):
            parts = _segmenter("zh" if _HAN.search(piece) else "en").segment(piece)
            if "".join(parts) != piece:  # pysbd changed a character: its sentences are not slices
                parts = _BREAK.split(piece)
            found.extend(part.strip() for part in parts)
    return tuple(sentence for sentence in found if sentence)


def _pieces(line: str) -> list[str]:
    """The line in pieces that pysbd can take, cut behind the end of a sentence or at a space."""
    pieces = []
    while len(line) > PIECE:
        cut = max(line.rfind(mark, 0, PIECE) for mark in (". ", "? ", "! ", "。", "！", "？")) + 1
        cut = cut or line.rfind(" ", 0, PIECE) + 1 or PIECE
        pieces.append(line[:cut])
        line = line[cut:]
    return [*pieces, line] if line.strip() else pieces
