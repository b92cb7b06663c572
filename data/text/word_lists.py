"""Small lexicons of our own, in English and Chinese: courtesies, and words and forms of questions and answers."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from .languages import Language

_AROUND = " \t\n.,!?;。，！？；~～"


def says(text: str, entry: str, language: Language) -> bool:
    """Whether the text has one of the expressions of the lexicon's entry."""
    return _pattern(entry, language).search(text) is not None


def begins_with(text: str, entry: str, language: Language) -> bool:
    """Whether the text begins with one of the expressions of the lexicon's entry, white space aside."""
    return _pattern(entry, language).match(text.lstrip()) is not None


def whole(text: str, entry: str, language: Language) -> bool:
    """Whether the text is nothing but one of the expressions of the lexicon's entry, punctuation aside."""
    return _pattern(entry, language).fullmatch(text.strip(_AROUND)) is not None


@lru_cache(maxsize=64)
def _pattern(entry: str, language: Language) -> re.Pattern[str]:
    either = "|".join(lexicons()[language][entry])
    return re.compile(rf"\b(?:{either})\b" if language == "en" else f"(?:{either})", re.IGNORECASE)


@lru_cache(maxsize=1)
def lexicons() -> Mapping[Language, Mapping[str, Sequence[str]]]:
    """For each language the entries, each a list of regular expressions."""
    entries: Mapping[Language, Mapping[str, Sequence[str]]] = json.loads(
        files("duologue.data.text").joinpath("lexicons.json").read_text(encoding="utf-8")
    )
    return entries
