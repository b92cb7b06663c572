"""Words of a text, in English by letters and in Chinese by `jieba`; and about how many tokens it is to a model."""

import logging
import re
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from sys import intern
from typing import Any

from ...errors import of_extra
from ..records import inside
from .languages import Language

REMEMBERED = 50_000
"""Texts, and their pieces, whose words are remembered: each measure asks for those of the same messages."""
CHARACTERS = 4
"""Characters of a token in scripts other than those of Chinese, Japanese and Korean, about."""

_EN_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LETTERS = re.compile(r"\w")
_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+")
"""Runs of characters of Chinese, Japanese and Korean: about a token each."""


@lru_cache(maxsize=1)
def segmentation() -> Callable[[str], tuple[str, ...]]:
    """The words by `jieba` (extra `zh`), without its warnings of old escapes and its log of what it loads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jieba: Any = of_extra("jieba", "zh")
        jieba.setLogLevel(logging.ERROR)
        jieba.initialize()
    # Texts differ, but what lies between two of their punctuation marks, beyond which no word reaches, often recurs.
    of_piece = lru_cache(maxsize=REMEMBERED)(
        lambda piece: tuple(map(intern, filter(_LETTERS.search, jieba.cut(piece))))
    )
    pieces = jieba.re_han_default.split
    return lru_cache(maxsize=REMEMBERED)(lambda text: tuple(chain.from_iterable(map(of_piece, pieces(text)))))


def words_of(text: str, language: Language) -> list[str]:
    """The words in lower case without punctuation: by letters in English, by `jieba` in Chinese (extra `zh`)."""
    if language == "en":
        return list(map(intern, _EN_WORD.findall(text.lower())))  # equal words of many texts are one in memory
    return list(segmentation()(text.lower()))


def tokens_about(text: str) -> int:
    """About how many tokens the text is: one for four characters, or for each Chinese one, rounded up."""
    wide = 0 if text.isascii() else sum(map(len, _WIDE.findall(text)))
    return wide + -(-(len(text) - wide) // CHARACTERS)


def texts_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, such as the section of a scenario; keys are not among them."""
    return (one for one in inside(value) if isinstance(one, str))
