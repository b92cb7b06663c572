"""Words and their weights: what the offline speakers compare texts by."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

_HAN = "\u4e00-\u9fff"
_WORD = re.compile(rf"[{_HAN}]|[^\W_]+(?:['’][^\W_]+)?")
_STOP_WORDS = """
    a about after again all also am an and any are as at be because been before being between both but by can
    could did do does doing done during each else ever few for from further get got had has have having he her
    hers him his how i if in into is it its itself just kind know like made make many may me mention mentioned
    might more most much must my name no nor not of off on once one only or other our out over own part say
    said section she should so some something such tell than that the their them then there these they thing
    this those through to too under until up us very was way we were what when where whether which while who
    whom whose why will with would you your anything interesting aspect aspects article happen happened role
    play played talk find learn important
    的 了 是 在 和 有 什 么 吗 呢 他 她 它 这 那 哪 谁 何 与 及 中 为 从 一 开 始 时 候 年 发 生 事 怎 样 还 关 于 说 文 节 主 要
    介 绍 后 来 结 果 如 多 少 其 方 面 人 们 看 变 化 里 参 能 呢 会 点 第 有 趣 地
"""
_STOP = frozenset(_STOP_WORDS.split())


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
