"""Profiles of users: reading and writing of pools, and sampling from them.

A pool is a text file in RecLLMSim's format: a block for each profile, separated by empty lines, with numbered lines
from `1. Gender: ...` to `9. Other Aspects: ...`. A profile's id is its index in the pool, from 0.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Self, TypeVar

from ...errors import DataError, at
from ..files.json_files import read_text
from ..records import Record
from ..text.languages import Language, language_of
from .situations import ATTRIBUTES, SituationLine, line_of, values_of

SEED = 2024
"""Seed of the published sample."""

FIELDS = tuple(key for key in ATTRIBUTES if key != "background")
"""The nine attributes of a profile, in the order of its lines."""

_LABELS: Mapping[str, str] = {label.casefold(): key for key in FIELDS for label in ATTRIBUTES[key]}
_BLOCKS = re.compile(r"\n(?:[^\S\n]*\n)+")

T = TypeVar("T")


class Profile(Record):
    """A user's nine attributes, each as the text of its line."""

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
    def of(cls, text: str, where: str = "profile") -> Self:
        """Parse a profile's text in either language; DataError names a missing attribute.

        An attribute is recognised by its label, or by its number if a translation uses another label.
        """
        values: dict[str, str] = {}
        for line in text.splitlines():
            if not line.strip():
                continue
            parts = line_of(line)
            key = field_of(parts) if parts else None
            if parts is None or key is None:
                raise DataError(f"{where}: {_shown(line)} is not an attribute: write such as '1. Gender: Female'")
            if key in values:
                raise DataError(f"{where}: {ATTRIBUTES[key][0]!r} appears twice: part profiles by an empty line")
            values[key] = parts.value
        for key in FIELDS:
            if not values.get(key):
                raise DataError(f"{where}: {ATTRIBUTES[key][0]!r} is {'empty' if key in values else 'missing'}: add it")
        age = re.match(r"\d{1,3}(?!\d)", values["age"])
        if not age:
            raise DataError(
                f"{where}: the age {_shown(values['age'])} is not a number of years: write such as '2. Age: 34'"
            )
        return cls.model_validate(values | {"age": int(age.group())})

    def text(self, language: Language = "en") -> str:
        """The profile as in a pool's file, with labels in the language."""
        colon = "：" if language == "zh" else ": "
        return "\n".join(
            f"{number}. {ATTRIBUTES[key][language == 'zh']}{colon}{getattr(self, key)}"
            for number, key in enumerate(FIELDS, start=1)
        )

    @property
    def traits(self) -> tuple[str, ...]:
        """The values of the personality."""
        return tuple(values_of(self.personality))


def field_of(line: SituationLine) -> str | None:
    """The attribute of a line, by its label or by its number."""
    number = line.number or 0
    by_number = FIELDS[number - 1] if 1 <= number <= len(FIELDS) else None
    return _LABELS.get(line.attribute.casefold(), by_number)


@dataclass(frozen=True)
class Pool:
    """Profiles in order; a profile's id is its index."""

    texts: tuple[str, ...]
    """The text of each profile in the file; a situation has it as its `preference`."""
    profiles: tuple[Profile, ...]
    language: Language = "en"

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def duplicates(self) -> tuple[tuple[int, ...], ...]:
        """Groups of ids of equal profiles."""
        groups: dict[str, list[int]] = {}
        for number, text in enumerate(self.texts):
            groups.setdefault(text, []).append(number)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @property
    def distinct(self) -> int:
        """Number of different profiles."""
        return len(set(self.texts))


def read_pool(path: str | Path) -> Pool:
    """The pool of a text file; DataError names the profile and its missing attribute."""
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not text.strip():
        raise DataError(f"{at(path)}: holds no profile: write nine numbered lines for each, parted by empty lines")
    blocks: list[str] = []
    profiles = []
    end, line = 0, 1
    for block in _BLOCKS.split(text):
        start = text.index(block, end)
        line += text.count("\n", end, start)
        where = at(path, f"profile {len(blocks)} (line {line})")
        end = start + len(block)
        line += block.count("\n")
        profiles.append(Profile.of(block, where))
        blocks.append(block)
    return Pool(tuple(blocks), tuple(profiles), language_of(text) or "en")


def shipped_profiles(language: Language = "en") -> Pool:
    """The package's own pool, with the same people in each language."""
    with as_file(files("duologue.data").joinpath("samples", "profiles", f"{language}.txt")) as path:
        return read_pool(path)


def pool_text(profiles: Sequence[Profile], language: Language = "en") -> str:
    """The text of a pool with these profiles."""
    return "\n\n".join(profile.text(language) for profile in profiles)


def sampled(pool: Sequence[T], count: int, seed: int = SEED) -> list[tuple[int, T]]:
    """Sample items of a pool without replacement: id and item, in the order of the sample.

    This is the published sample: `random.seed(seed); random.sample(list(enumerate(pool)), count)`.
    """
    if not 0 <= count <= len(pool):
        raise DataError(f"{count} profiles cannot be drawn from {len(pool)}: ask for fewer, or give a larger pool")
    return random.Random(seed).sample(list(enumerate(pool)), count)


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")
