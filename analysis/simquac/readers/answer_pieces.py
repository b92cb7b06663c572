"""Pieces of a section that may be an answer: sentences, their clauses, and both without their first word."""

import re
from dataclasses import dataclass
from functools import lru_cache

from ....data.text.sentence_splitting import sentences

MOST_CLAUSES = 4
"""Most clauses in a row that are one candidate."""

_CLAUSE = re.compile(r"[,;:()\u2013\u2014]\s+|\s+[\u2013\u2014(]|\s-\s")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Candidate:
    """A piece of a section."""

    text: str
    sentence: int
    """Number of the sentence that it is from, or that it begins in, from 0."""
    whole: bool
    """Whether it ends where a sentence ends."""
    skipped: int | None
    """Words of the sentence before it, if these are at most one; None for a piece from the middle."""


@lru_cache(maxsize=1024)
def candidates(section: str) -> tuple[Candidate, ...]:
    """The candidates of a section, in order, each text once.

    Of every sentence: the whole, runs of up to 4 clauses, and the sentence together with the next one. Each of the runs
    is also taken from the sentence's second word if it begins at the first.
    """
    by_text: dict[str, Candidate] = {}
    of_section = sentences(section)
    for number, sentence in enumerate(of_section):
        bounds = [0, *(match.end() for match in _CLAUSE.finditer(sentence)), len(sentence)]
        for begin in range(len(bounds) - 1):
            for end in range(begin + 1, min(begin + MOST_CLAUSES, len(bounds) - 1) + 1):
                _add(by_text, sentence, bounds[begin], bounds[end], number)
        _add(by_text, sentence, 0, len(sentence), number)
        if number + 1 < len(of_section):
            pair = f"{sentence} {of_section[number + 1]}"
            _add(by_text, pair, 0, len(pair), number)
    return tuple(by_text.values())


def _add(by_text: dict[str, Candidate], sentence: str, begin: int, end: int, number: int) -> None:
    """Add a piece, and if it begins the sentence the same without its first word."""
    starts = [(begin, 0 if begin == 0 else None)]
    if begin == 0 and (second := next(iter(list(_WORD.finditer(sentence))[1:2]), None)) and second.start() < end:
        starts.append((second.start(), 1))
    for start, skipped in starts:
        text = sentence[start:end].strip(" ,;:()\u2013\u2014")
        if text and text not in by_text:
            by_text[text] = Candidate(text, number, end == len(sentence), skipped)
