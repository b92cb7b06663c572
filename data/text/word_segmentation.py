"""Words of a text: in English by letters, in Chinese by the tables of `jieba`.

The cut is that of `jieba`, in half of its time.

The same Chinese words by the same sums (Viterbi's best path through the dictionary; unknown runs by `jieba.finalseg`),
with a table of logarithms in place of a graph for each sentence. A test compares them with `jieba.lcut` over all open
texts.
"""

import logging
import re
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from math import inf, log, nan
from typing import Any

from ...errors import of_extra
from .languages import Language

_EN_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LETTERS = re.compile(r"\w")


class Segmentation:
    """The dictionary of `jieba` as weights of words."""

    def __init__(self, jieba: Any) -> None:
        total = log(jieba.dt.total)
        # The table holds the beginnings of words too, with frequency 0: nan is never the best.
        self._weights: dict[str, float] = {word: log(n) - total if n else nan for word, n in jieba.dt.FREQ.items()}
        self._unknown = log(1) - total
        self._chinese, self._other = jieba.re_han_default, jieba.re_skip_default
        recognised: Callable[[str], Iterator[str]] = jieba.finalseg.cut
        self._unknown_words = lru_cache(maxsize=50_000)(lambda run: tuple(recognised(run)))
        self._words_of_block = lru_cache(maxsize=50_000)(self._cut)

    def words(self, text: str) -> list[str]:
        """The words, signs and white space of the text, as `jieba.lcut` gives them."""
        words: list[str] = []
        for block in self._chinese.split(text):
            if not block:
                continue
            if self._chinese.match(block):
                words.extend(self._words_of_block(block))
                continue
            for part in self._other.split(block):
                words.extend([part] if self._other.match(part) else part)
        return words

    def _cut(self, block: str) -> tuple[str, ...]:
        """The words of a block; what the dictionary has as single characters only may be unknown words."""
        words: list[str] = []
        ends = self._best_path(block)
        start, run_start, length = 0, 0, len(block)
        while start < length:
            end = ends[start]
            if end - start > 1:
                if run_start < start:
                    self._add_run(block[run_start:start], words)
                words.append(block[start:end])
                run_start = end
            start = end
        if run_start < length:
            self._add_run(block[run_start:], words)
        return tuple(words)

    def _add_run(self, run: str, words: list[str]) -> None:
        weight = self._weights.get(run, nan)
        # A run that is a word, though not on the best path, stays as single characters.
        words.extend(run if len(run) == 1 or weight == weight else self._unknown_words(run))

    def _best_path(self, block: str) -> list[int]:
        """For each character the end of its word on the best path to the block's end."""
        weights, length = self._weights, len(block)
        best, ends = [0.0] * (length + 1), [0] * length
        for start in range(length - 1, -1, -1):
            highest, last, end = -inf, start + 1, start + 1
            part = block[start]
            while (weight := weights.get(part)) is not None:
                if (sum_ := weight + best[end]) >= highest:  # of equal ones the longest word
                    highest, last = sum_, end
                end += 1
                if end > length:
                    break
                part = block[start:end]
            best[start] = highest if highest > -inf else self._unknown + best[start + 1]
            ends[start] = last
        return ends


@lru_cache(maxsize=1)
def segmentation() -> Segmentation:
    """The segmentation of `jieba` (extra `zh`), without its warnings of old escapes and its log of what it loads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jieba = of_extra("jieba", "zh")
        jieba.setLogLevel(logging.ERROR)
        jieba.initialize()
    return Segmentation(jieba)


def words_of(text: str, language: Language) -> list[str]:
    """The words in lower case without punctuation: by letters in English, by `jieba` in Chinese (extra `zh`)."""
    if language == "en":
        return _EN_WORD.findall(text.lower())
    words = segmentation().words(text.lower())
    return [word for word in words if word.isalnum() or _LETTERS.search(word)]
