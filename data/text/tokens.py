"""Where a piece of text stands in another, compared as rows of tokens.

Tokens are words, single characters of scripts without spaces, and punctuation; white space is none. So a
match always begins and ends at word boundaries, and white space is ignored without a second view.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache

from ..records import Span

EDGES = frozenset(".,;:?!…。，、；：？！\"'“”‘’„‚«»‹›「」『』`´-–—―‐‑‒−")
"""Punctuation that may differ at the edges of a piece. Brackets never may."""

# Scripts that put no space between words: each of their characters is a token of its own.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|[^\w\s]")
_BRACKETS = {")": "(", "]": "["}


@dataclass
class Work:
    """How much a search past brackets may still look at.

    The budget grows with the texts alone, so input made to be slow (thousands of equal beginnings) ends
    the search, not the program.
    """

    left: int
    nowhere_from: dict[tuple[str, str], int] = field(default_factory=dict)
    """Patterns that were looked for from this token on in vain; the rest of a search need not try again."""
    first: dict[tuple[str, str], tuple[int, int] | None] = field(default_factory=dict)
    """The first place of patterns that were looked for from the beginning."""

    @classmethod
    def over(cls, *texts: str) -> "Work":
        """Work in proportion to the length of the texts."""
        return cls(64 * sum(map(len, texts)) + 4_096)


def tokens(text: str) -> list[str]:
    """Words, single characters of scripts without spaces, and punctuation marks, in order."""
    return _TOKEN.findall(text)


def token_count(text: str) -> int:
    """Words, single characters of scripts without spaces, and punctuation marks."""
    return sum(1 for _ in _TOKEN.finditer(text))


@lru_cache(maxsize=32)
def token_index(text: str) -> "TokenIndex":
    """The text made searchable; the last few are kept."""
    return TokenIndex(text)


class TokenIndex:
    """A text as two rows of token codes, one with and one without case, that can be searched."""

    def __init__(self, text: str) -> None:
        self.text = text
        matches = list(_TOKEN.finditer(text))
        tokens = [match.group() for match in matches]
        self.starts = [match.start() for match in matches]
        self.ends = [match.end() for match in matches]
        self.codes: dict[str, str] = {}
        self.rows = tuple("".join(self._code(t) for t in row) for row in (tokens, [t.casefold() for t in tokens]))
        self.behind_group = _balanced(tokens)
        self.openings = sorted(self.behind_group)

    def _code(self, token: str) -> str:
        """One private character per distinct token."""
        if token not in self.codes:
            number = len(self.codes) + 1
            self.codes[token] = chr(number if number < 0xD800 else number + 0x800)  # not a surrogate
        return self.codes[token]

    def find(self, piece: str, behind: int, work: Work) -> Span | None:
        """The best place of a piece, as this text's own slice; None if it is not there.

        Of several places one with the same case comes first, then the first at or behind the offset,
        then the first. A balanced (...) or [...] of this text may be missing from the piece.
        """
        tokens = _TOKEN.findall(piece)
        first, last = _core(tokens)
        if first == last:
            return None
        for row, fold in ((self.rows[0], False), (self.rows[1], True)):
            codes = [self.codes.get(t.casefold() if fold else t, "") for t in tokens[first:last]]
            if all(codes):
                match = self._first(row, "".join(codes), behind, work)
                if match is not None:
                    return self._with_edges(match, tokens[:first], tokens[last:])
        return None

    def _first(self, row: str, pattern: str, behind: int, work: Work) -> tuple[int, int] | None:
        """First and last token of the first place behind the offset, else of the first of all."""
        after, key = bisect_left(self.starts, behind), (row, pattern)
        if 0 < after < work.nowhere_from.get(key, len(row)):
            match = self._from(row, pattern, after, work)
            if match is not None:
                return match
            work.nowhere_from[key] = after
        if key not in work.first:
            work.first[key] = self._from(row, pattern, 0, work)
        return work.first[key]

    def _from(self, row: str, pattern: str, start: int, work: Work) -> tuple[int, int] | None:
        """The first place at or behind a token."""
        if work.left <= 0:
            return None
        at = row.find(pattern, start)
        work.left -= ((at if at >= 0 else len(row)) - start) // 64
        past = self._past_brackets(row, pattern, start, at if at >= 0 else len(row), work)
        return past or ((at, at + len(pattern)) if at >= 0 else None)

    def _past_brackets(self, row: str, pattern: str, start: int, before: int, work: Work) -> tuple[int, int] | None:
        """The first place before a token where the pattern leaves out balanced brackets of the text."""
        at = row.find(pattern[0], start, before) if self.openings else -1
        while at >= 0 and work.left > 0:
            end = self._match_from(row, pattern, at, work)
            if end is not None:
                return at, end
            at = row.find(pattern[0], at + 1, before)
        return None

    def _match_from(self, row: str, pattern: str, at: int, work: Work) -> int | None:
        """Where a match that begins at this token ends; None if there is none."""
        states = [(at, 0)]
        seen = set(states)
        while states and work.left > 0:
            i, j = states.pop()
            if i in self.behind_group and j > 0:
                # Both ways are open: the group left out, or its bracket matched like any other token.
                self._push(states, seen, (self.behind_group[i], j))
            stop = self._opening_from(i + 1)
            length = min(stop - i, len(pattern) - j)
            work.left -= 32
            if row[i : i + min(length, 32)] != pattern[j : j + min(length, 32)]:
                continue
            work.left -= length // 8
            if row[i : i + length] != pattern[j : j + length]:
                continue
            if j + length == len(pattern):
                return i + length
            if stop < len(row):
                self._push(states, seen, (stop, j + length))
        return None

    @staticmethod
    def _push(states: list[tuple[int, int]], seen: set[tuple[int, int]], state: tuple[int, int]) -> None:
        if state not in seen:
            seen.add(state)
            states.append(state)

    def _opening_from(self, at: int) -> int:
        """Number of the first balanced opening bracket at or behind a token; the row's length if none."""
        number = bisect_left(self.openings, at)
        return self.openings[number] if number < len(self.openings) else len(self.rows[0])

    def _with_edges(self, match: tuple[int, int], before: list[str], after: list[str]) -> Span:
        """The slice of the place, and of the answer's own edge punctuation as far as it stands there."""
        first, last = match
        for token in reversed(before):
            if first == 0 or self._token(first - 1) != token or self.ends[first - 1] != self.starts[first]:
                break
            first -= 1
        for token in after:
            if last == len(self.starts) or self._token(last) != token or self.starts[last] != self.ends[last - 1]:
                break
            last += 1
        return self.slice(self.starts[first], self.ends[last - 1])

    def _token(self, number: int) -> str:
        return self.text[self.starts[number] : self.ends[number]]

    def slice(self, start: int, end: int) -> Span:
        """The text between two places, with where it begins."""
        return Span(text=self.text[start:end], start=start)

    def touch(self, end: int, start: int) -> bool:
        """Whether nothing but white space and edge punctuation stands between two places, in order."""
        between = self.text[end:start]
        return start >= end and all(c.isspace() or c in EDGES for c in between)


def _core(tokens: list[str]) -> tuple[int, int]:
    """The tokens without edge punctuation: number of the first, and of the one behind the last."""
    first, last = 0, len(tokens)
    while first < last and tokens[first] in EDGES:
        first += 1
    while last > first and tokens[last - 1] in EDGES:
        last -= 1
    return first, last


def _balanced(tokens: list[str]) -> dict[int, int]:
    """For each opening bracket that is closed: the number of the token behind its closing one."""
    groups: dict[int, int] = {}
    open_brackets: list[int] = []
    waiting = {"(": 0, "[": 0}
    for number, token in enumerate(tokens):
        if token in waiting:
            open_brackets.append(number)
            waiting[token] += 1
        elif token in _BRACKETS and waiting[_BRACKETS[token]]:
            while True:  # an opening bracket of the other kind in between was never closed
                opening = open_brackets.pop()
                waiting[tokens[opening]] -= 1
                if tokens[opening] == _BRACKETS[token]:
                    break
            groups[opening] = number + 1
    return groups
