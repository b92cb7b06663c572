"""Words and their weights: what the offline speakers compare texts by."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

_HAN = "\u4e00-\u9fff"
_WORD = re.compile(rf"[{_HAN}]|[^\W_]+(?:['’][^\W_]+)?")
PHRASES = json.loads(files("duologue.nodes.models.offline").joinpath("phrases.json").read_text(encoding="utf-8"))
"""The words of the offline speakers: templates of questions, words that begin sentences, words that tell nothing."""

_STOP = frozenset(PHRASES["stop_words"].split())


def words(text: str) -> list[str]:
    """Every word in lower case; a Chinese character is a word."""
    return [word.casefold() for word in _WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """Stems of the words that say what a text is about."""
    return [stem(word) for word in words(text) if word not in _STOP]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The word without a common English ending: enough to match `released` with `release`."""
    for ending, kept in (("ies", 3), ("ing", 4), ("ed", 4), ("es", 4), ("s", 3), ("e", 4)):
        if word.endswith(ending) and len(word) - len(ending) >= kept:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


class Ranking:
    """BM25 over short texts, with the weight log(1 + (N - n + 0.5) / (n + 0.5)) that is never negative."""

    K1, B = 1.2, 0.6

    def __init__(self, texts: Sequence[str]) -> None:
        self.counts = [Counter(content_words(text)) for text in texts]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.mean = sum(self.lengths) / max(1, len(texts)) or 1.0
        self.frequency = Counter(word for count in self.counts for word in count)

    def weight(self, word: str) -> float:
        """How much a word tells: rare ones more than frequent ones, unknown ones most."""
        n = self.frequency[word]
        return math.log(1 + (len(self.counts) - n + 0.5) / (n + 0.5))

    def score(self, number: int, query: Sequence[str]) -> float:
        """Score of one text for the query's words."""
        count, norm = self.counts[number], 1 - self.B + self.B * self.lengths[number] / self.mean
        return sum(
            self.weight(word) * count[word] * (self.K1 + 1) / (count[word] + self.K1 * norm)
            for word in dict.fromkeys(query)
            if count[word]
        )
