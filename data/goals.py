"""Whether a user's words name its goal, by the words and values that both share: rough, and so only used for none at all."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from .text.languages import ENGLISH, HAN, Language, language_of
from .text.values import values_in

_WORD = re.compile(r"[^\W\d_]{3,}")
_ENDING = re.compile(r"(?:ies|ing|ation|ment|ed|es|s|e|y)$")
_EMPTY = frozenset(
    "help please hello like get make something someone today anything question issue problem thing".split()
)
_EMPTY_ZH = frozenset("我你您的了吗呢请想要一下个有是在和把这那帮助问题您好谢")


def names_goal(goal: str, said: Iterable[str]) -> bool | None:
    """Whether one of a user's messages shares a word or a value with its goal; None if that cannot be told.

    That is so of a goal without words of content, and of one in another language than the messages.
    """
    texts = "\n".join(said)
    language = language_of(goal)
    wanted = _content(goal, language) if language else set[str]()
    if not wanted or language != language_of(texts):
        return None if wanted or not texts else True
    return bool(wanted & _content(texts, language))


def _content(text: str, language: Language | None) -> set[str]:
    """Stems of a text's words without empty ones, and its values; of Chinese its pairs of characters."""
    values = set(values_in(text))
    if language == "zh":
        signs = [one.group() for one in HAN.finditer(text)]
        return values | {a + b for a, b in pairwise(signs) if not {a, b} & _EMPTY_ZH}
    words = (word.casefold() for word in _WORD.findall(text))
    return values | {_ENDING.sub("", word) for word in words if word not in ENGLISH | _EMPTY}


def holds(text: str, value: Any) -> bool:
    """Whether a text has a value, in any of the forms that are one value (`3 pm` and `15:00`)."""
    words = str(value)
    values = values_in(words)
    folded = re.sub(r"[\W_]+", "", words).casefold()
    return (bool(values) and values <= values_in(text)) or folded in re.sub(r"[\W_]+", "", text).casefold()


def scalars(value: Any) -> Iterator[Any]:
    """The values inside objects and lists, without null."""
    if isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from scalars(one)
    elif value is not None:
        yield value
