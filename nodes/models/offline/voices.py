"""Whose words they are: a text about "you" told by oneself, and back; sentences, language, shortening."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeAlias

from ....data.text.languages import Language, language_of

Words: TypeAlias = Mapping[str, Any]

READ = 6_000
"""Characters of a text that the task-oriented speakers read: more is cut off."""

_ENDS = re.compile(r"(?<=[.!?])[\"”’)]?\s+|(?<=[。！？])[”’」]?\s*|\n+|,\s+(?=(?:The|You|This)\s)")
_ME = r"help|helps|let|lets|give|gives|tell|tells|join|joins|ask|show|suits?|fits?|for|to|with|of|by|from|about|invite|invites|advise|remind|send|between|around|near|like"
_DOES = r"are|were|can|could|should|will|would|want|need|have|had|may|might|must|like|wish|hope|plan|do|did|also|really|never|live|work|know|prefer|intend|own|already|still|only"
_MINE: Sequence[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern, re.IGNORECASE), by)
    for pattern, by in (
        (r"\byou and your (\w+)", r"my \1 and I"),
        (r"\b(?:are|were) you\b", "am I"),
        (r"\byou(?:['’]re| are)\b", "I am"),
        (r"\byou were\b", "I was"),
        (r"\byou aren['’]t\b", "I am not"),
        (r"\byou weren['’]t\b", "I was not"),
        (r"\byourself\b", "myself"),
        (r"\byours\b", "mine"),
        (r"\byour\b", "my"),
        (rf"\b({_ME}) you\b(?!['’]|\s+(?:{_DOES})\b)", r"\1 me"),
        (r"\byou(?=\s*(?:[.,;:!?)]|$))", "me"),
        (r"\byou\b", "I"),
    )
]
_YOURS: Sequence[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern), by)
    for pattern, by in (
        (r"\bam I\b", "are you"),
        (r"\bI(?:['’]m| am)\b", "you are"),
        (r"\bI was\b", "you were"),
        (r"\b(?:[Mm]yself)\b", "yourself"),
        (r"\b[Mm]ine\b", "yours"),
        (r"\b[Mm]y\b", "your"),
        (r"\bme\b", "you"),
        (r"\bI\b", "you"),
    )
]


@lru_cache(maxsize=2)
def phrases(language: Language) -> Words:
    """The phrases of the task-oriented user and assistant in a language."""
    file = files("duologue.nodes.models.offline").joinpath(f"tasks_{language}.json")
    words: Words = json.loads(file.read_text(encoding="utf-8"))
    return words


def spoken(text: str) -> Language:
    """The language that a text is in, English if it has no letters."""
    return language_of(text[:READ]) or "en"


def sentences(text: str) -> list[str]:
    """The sentences of a text, found by their punctuation alone: fast, and good enough for a baseline."""
    return [" ".join(part.split()) for part in _ENDS.split(text[:READ]) if part and part.strip()]


def mine(text: str, language: Language) -> str:
    """A text that tells somebody about "you", told by that person."""
    if language == "zh":
        return re.sub("[你您]", "我", text)
    for pattern, by in _MINE:
        text = pattern.sub(by, text)
    return text[:1].upper() + text[1:] if text[:2] in ("my", "am") else text


def yours(text: str, language: Language) -> str:
    """What somebody told of themselves, told to them."""
    if language == "zh":
        return text.replace("我", "您")
    for pattern, by in _YOURS:
        text = pattern.sub(by, text)
    return text


def short(text: str, most: int = 16) -> str:
    """At most so many words of a text (three characters of Chinese count as one), cut at a comma if there is one."""
    text = " ".join(text.split())
    pieces = text.split(" ")
    cut = " ".join(pieces[:most])[: most * 12 if len(pieces) > 1 else most * 3]
    if len(cut) < len(text):
        comma = max(cut.rfind(", "), cut.rfind("，"))
        cut = cut[:comma] if comma > len(cut) // 2 else cut
    return cut.strip(" ,，;；:：")


def begin_small(text: str) -> str:
    """The text without the capital that only begins a sentence; names and abbreviations keep theirs."""
    first = text.split(" ", 1)[0].split("-")[0]
    keeps = (
        first == "I"
        or first.startswith(("I'", "I’"))
        or first[1:] != first[1:].lower()
        or first in phrases("en")["proper"].split()
    )
    return text if keeps else text[:1].lower() + text[1:]


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def turned(items: Sequence[str], draw: int) -> list[str]:
    """The items from another beginning, so that not every talk is the same."""
    start = draw % len(items) if items else 0
    return [*items[start:], *items[:start]]
