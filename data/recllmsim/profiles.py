"""Profiles of users: a pool as text, each of its profiles as a record, and draws from it.

The text is RecLLMSim's: a block for each profile, parted by empty lines, with numbered lines from
`1. Gender: ...` to `9. Other Aspects: ...`; a profile's id is its place in the pool, from 0.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Self, TypeVar

from ...errors import DataError, at
from ..formats.jsonfiles import read_text
from ..records import Record
from ..text.languages import Language, language_of
from .situations import ATTRIBUTES, line_of, values_of

SEED = 2024
"""Seed of the published draw."""

FIELDS = tuple(key for key in ATTRIBUTES if key != "background")
"""The nine attributes of a profile in the order of its lines."""

_LABELS: Mapping[str, str] = {label.casefold(): key for key in FIELDS for label in ATTRIBUTES[key]}
_BLOCKS = re.compile(r"\n(?:[^\S\n]*\n)+")

T = TypeVar("T")


class Profile(Record):
    """A user in nine attributes, each as the text of its line."""

    gender: str
    age: int
    """In years."""
    personality: str
    occupation: str
    daily_interests: str
    travel_habits: str
    dining_preferences: str
    spending_habits: str
    other_aspects: str

    @classmethod
    def of(cls, text: str, place: str = "profile") -> Self:
        """The record of a profile's text in either language; DataError names the attribute that is missing.

        An attribute is known by its label, or, where a translation calls it otherwise, by its number.
        """
        found: dict[str, str] = {}
        for line in text.splitlines():
            if not line.strip():
                continue
            parts = line_of(line)
            number = (parts.number if parts else None) or 0
            key = _LABELS.get(parts.attribute.casefold()) if parts else None
            if parts is None or (key is None and not 1 <= number <= len(FIELDS)):
                raise DataError(f"{place}: {_shown(line)} is no attribute: write such as '1. Gender: Female'")
            key = key or FIELDS[number - 1]
            if key in found:
                raise DataError(f"{place}: {ATTRIBUTES[key][0]!r} appears twice: part profiles by an empty line")
            found[key] = parts.value
        for key in FIELDS:
            if not found.get(key):
                raise DataError(f"{place}: {ATTRIBUTES[key][0]!r} is {'empty' if key in found else 'missing'}: add it")
        age = re.match(r"\d{1,3}(?!\d)", found["age"])
        if not age:
            raise DataError(
                f"{place}: the age {_shown(found['age'])} is no number of years: write such as '2. Age: 34'"
            )
        return cls.model_validate(found | {"age": int(age.group())})

    def text(self, language: Language = "en") -> str:
        """The profile as a pool has it, its labels in the language."""
        colon = "：" if language == "zh" else ": "
        return "\n".join(
            f"{number}. {ATTRIBUTES[key][language == 'zh']}{colon}{getattr(self, key)}"
            for number, key in enumerate(FIELDS, start=1)
        )

    @property
    def traits(self) -> tuple[str, ...]:
        """The values of the personality."""
        return tuple(values_of(self.personality))


@dataclass(frozen=True)
class Pool:
    """Profiles in their order; a profile's id is its place."""

    texts: tuple[str, ...]
    """Each profile as it stands in the file: what a situation has as its `preference`."""
    profiles: tuple[Profile, ...]
    language: Language = "en"

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def duplicates(self) -> tuple[tuple[int, ...], ...]:
        """Ids of the profiles that are equal, a group for each that is there more than once."""
        groups: dict[str, list[int]] = {}
        for number, text in enumerate(self.texts):
            groups.setdefault(text, []).append(number)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @property
    def distinct(self) -> int:
        """Profiles that differ."""
        return len(set(self.texts))


def read_pool(path: str | Path) -> Pool:
    """The pool of a text file; DataError names the profile and the attribute that it lacks."""
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not text.strip():
        raise DataError(f"{at(path)}: holds no profile: write nine numbered lines for each, parted by empty lines")
    blocks: list[str] = []
    profiles = []
    end = 0
    for block in _BLOCKS.split(text):
        start = text.index(block, end)
        end = start + len(block)
        place = at(path, f"profile {len(blocks)} (line {text.count(chr(10), 0, start) + 1})")
        profiles.append(Profile.of(block, place))
        blocks.append(block)
    return Pool(tuple(blocks), tuple(profiles), language_of(text) or "en")


def shipped_profiles(language: Language = "en") -> Pool:
    """The pool that is shipped, in our own words; the same people in each language."""
    with as_file(files("duologue.data").joinpath("samples", "profiles", f"{language}.txt")) as path:
        return read_pool(path)


def pool_text(profiles: Sequence[Profile], language: Language = "en") -> str:
    """The profiles as the text of a pool."""
    return "\n\n".join(profile.text(language) for profile in profiles)


def sampled(pool: Sequence[T], count: int, seed: int = SEED) -> list[tuple[int, T]]:
    """Draw that many of a pool without putting back: id and item, in the order drawn.

    The published draw: `random.seed(seed); random.sample(list(enumerate(pool)), count)`.
    """
    if not 0 <= count <= len(pool):
        raise DataError(f"{count} profiles cannot be drawn from {len(pool)}: ask for fewer, or give a larger pool")
    return random.Random(seed).sample(list(enumerate(pool)), count)


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")
