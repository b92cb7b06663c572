"""Words, their weights, and the phrases and word lists of the offline speakers."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

READ = 6_000
"""Maximum characters of a text that the task-oriented speakers read; the rest is ignored."""

_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_]+(?:['’][^\W_]+)?")


@cache
def vocabulary(name: str) -> Any:
    """The phrases, patterns and word lists of a JSON file in this folder."""
    return json.loads(files("duologue.nodes.models.offline").joinpath(f"{name}.json").read_text(encoding="utf-8"))


_STOP = frozenset(vocabulary("simquac")["stop_words"].split())


def words(text: str) -> list[str]:
    """Every word in lower case; a Chinese character is a word."""
    return [word.casefold() for word in _WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """Stems of a text's words without stop words."""
    return [stem(word) for word in words(text) if word not in _STOP]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The word without a common English ending: enough to match `released` with `release`."""
    for ending, minimum in (("ies", 3), ("ing", 4), ("ed", 4), ("es", 4), ("s", 3), ("e", 4)):
        if word.endswith(ending) and len(word) - len(ending) >= minimum:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def rotated(items: Sequence[str], draw: int) -> list[str]:
    """The items in the same cyclic order, starting at a position that depends on the draw."""
    start = draw % max(1, len(items))
    return [*items[start:], *items[:start]]


def phrase(templates: Sequence[str], draw: int, **gaps: str) -> str:
    """The template chosen by the draw, with its variables filled.

    Values are text: variables in them are not filled.
    """
    return re.sub(r"\{(\w+)\}", lambda gap: gaps.get(gap[1], gap[0]), templates[draw % len(templates)])


def sentences(text: str) -> list[str]:
    """The sentences of a text, split by punctuation only: fast, and good enough for a baseline."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n+", text[:READ]) if part.strip()]


def short(text: str, most: int) -> str:
    """At most `most` words of a text, or three times as many Chinese characters."""
    pieces = text.split()
    return " ".join(pieces[:most])[: most * (12 if len(pieces) > 1 else 3)].strip(" .,;:!?。，；：！？")


class WordRanking:
    """BM25 (k 1.2, b 0.6) over short texts, with weights that are never negative.

    The weight of a word is log(1 + (N - n + 0.5) / (n + 0.5)).
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.counts = [Counter(content_words(text)) for text in texts]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.mean = sum(self.lengths) / max(1, len(texts)) or 1.0
        self.frequency = Counter(word for count in self.counts for word in count)

    def weight(self, word: str) -> float:
        """Inverse document frequency of a word: higher for rare words, highest for unknown ones."""
        texts_with_word = self.frequency[word]
        return math.log(1 + (len(self.counts) - texts_with_word + 0.5) / (texts_with_word + 0.5))

    def score(self, number: int, query: Sequence[str]) -> float:
        """Score of one text for the query's words."""
        count, norm = self.counts[number], 1 - 0.6 + 0.6 * self.lengths[number] / self.mean
        shared = [word for word in dict.fromkeys(query) if count[word]]
        return sum(self.weight(word) * count[word] * (1.2 + 1) / (count[word] + 1.2 * norm) for word in shared)
