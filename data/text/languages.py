"""Detection of the language of a text by its characters."""

import re
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["en", "zh"]

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""A Chinese character."""

_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")


def language_of(text: str) -> Language | None:
    """`zh` or `en` by the majority of Chinese characters or Latin words; None without either.

    A tie is `zh`.
    """
    han, latin = len(HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if not han and not latin:
        return None
    return "zh" if han >= latin else "en"


def says_something(text: str) -> bool:
    """Whether the text has a letter or a digit."""
    return any(character.isalnum() for character in text)
