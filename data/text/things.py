"""Kinds of things and the words that name them, in English and Chinese: `salmon` is fish, and `a tablet` electronics."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from .languages import HAN


class ThingWords(NamedTuple):
    """The words of all kinds."""

    pattern: re.Pattern[str]
    general: Mapping[str, frozenset[str]]
    """The kinds that a word is a name of, such as `fish`."""
    named: Mapping[str, frozenset[str]]
    """The kinds that a word names something of, such as `salmon`; a kind's own names too."""


@lru_cache(maxsize=1)
def thing_words() -> ThingWords:
    """The words of `things.json`: for each kind its own names, and names of what belongs to it."""
    kinds: Mapping[str, tuple[list[str], list[str]]] = json.loads(
        files("duologue.data.text").joinpath("things.json").read_text(encoding="utf-8")
    )
    general: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    for kind, (heads, members) in kinds.items():
        heads, members = _with_plurals(heads), _with_plurals(members)
        for word in heads:
            general.setdefault(word, set()).add(kind)
        for word in (*heads, *members):
            named.setdefault(word, set()).add(kind)
    words = sorted(named, key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in words if not HAN.search(word))
    chinese = "|".join(word for word in words if HAN.search(word))
    return ThingWords(
        re.compile(rf"(?<![\w-])(?:{latin})(?![\w-])|(?:{chinese})", re.IGNORECASE),
        {word: frozenset(kinds) for word, kinds in general.items()},
        {word: frozenset(kinds) for word, kinds in named.items()},
    )


def _with_plurals(words: list[str]) -> list[str]:
    """The words, and the plurals of those in Latin letters; not all of them are words."""
    return [*dict.fromkeys([*words, *(f"{word}s" for word in words if not HAN.search(word) and word[-1] != "s")])]


@lru_cache(maxsize=20_000)
def kinds_named(text: str) -> frozenset[str]:
    """The kinds of which a text names something.

    >>> sorted(kinds_named("Could we have a salmon starter?"))
    ['fish']
    """
    words = thing_words()
    return frozenset().union(*(words.named[match.casefold()] for match in words.pattern.findall(text)))


@lru_cache(maxsize=20_000)
def kinds_in_general(text: str) -> tuple[frozenset[str], str]:
    """The kinds that a text names as such, and the text without these names.

    >>> kinds_in_general("any fish dishes")
    (frozenset({'fish'}), 'any   dishes')
    """
    words = thing_words()
    names = [match for match in words.pattern.findall(text) if match.casefold() in words.general]
    rest = words.pattern.sub(lambda match: " " if match.group().casefold() in words.general else match.group(), text)
    return frozenset().union(*(words.general[name.casefold()] for name in names)), rest
