"""Words of a text in a language, and which of them carry its content."""

from collections.abc import Collection, Sequence
from functools import lru_cache

from ....data.text.languages import ENGLISH, Language
from ....data.text.words import words_of

_ZH_STOP = frozenset(
    """的 了 和 是 在 我 你 您 他 她 它 们 我们 你们 他们 这 那 这个 那个 一个 一些 一 有 也 都 就 还 而 及 与 或 等 为
    为了 以 以及 对 从 到 向 把 被 让 使 要 会 能 可以 应 应该 应当 将 但 因为 所以 如果 其 其中 并 并且 中 上 下 内
    个 种 些 自己 自身 希望 想 想要 需要 进行 完成 使用 通过 根据 情况 什么 怎么 如何 哪些 请 喜欢 现在 最近 你的
    最终 尽量 做到 一场 打算 计划 方式 对话 语言 模型 大语言 LLM""".split()
)


def content_words(words: Sequence[str], language: Language) -> set[str]:
    """The words without function words, and in Chinese without single characters."""
    if language == "en":
        return {word for word in words if word not in ENGLISH}
    return {word for word in words if word not in _ZH_STOP and (len(word) > 1 or word.isdigit())}


def searched(text: str, language: Language) -> str:
    """The text as `share_in` searches it: in English its words with a blank around each, in Chinese the text itself.

    Cutting long replies into Chinese words would take most of the time of a comparison. A word that is cut in another
    way in the reply would be missed.
    """
    return f" {' '.join(words_of(text, 'en'))} " if language == "en" else text.lower()


def share_in(words: Collection[str], text: str, language: Language) -> float:
    """Share of the words that a text has, 0 to 1; the text as `searched` gives it."""
    return sum(map(text.__contains__, as_searched(words, language))) / len(words)


def as_searched(words: Collection[str], language: Language) -> Collection[str]:
    """The words as a text has them that `searched` gives."""
    return [f" {word} " for word in words] if language == "en" else words


@lru_cache(maxsize=20_000)
def content_of(text: str, language: Language) -> frozenset[str]:
    """The content words of a text; kept, as many conversations have one profile or task, and many turns one message."""
    return frozenset(content_words(words_of(text, language), language))
