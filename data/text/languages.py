"""Detection of the language of a text by its characters."""

import re
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["en", "zh"]

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""A Chinese character."""

_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")


def language_of(text: str) -> Language | None:
    """`zh` if the text has at least as many Chinese characters as Latin words, else `en`; None if it has neither."""
    han, latin = len(HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if not han and not latin:
        return None
    return "zh" if han >= latin else "en"
