"""Which kind of person a pool of profiles lacks most: what the next profile is asked to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..data.recllmsim.profile_coverage import OTHER, Coverage

T = TypeVar("T")

WEIGHTS: Mapping[str, float] = {"0-17": 0.3, "other": 0.15}
"""How many profiles of a kind there should be for one of any other kind; 1 where nothing is said."""

FITTING: Mapping[str, tuple[int, int]] = {"student": (0, 44), "retired": (55, 120), "sport": (18, 44)}
"""First and last year of age at which an occupation is asked for; others from 18 to 60."""

OPPOSED = (
    ("outgoing", "reserved"),
    ("organised", "spontaneous"),
    ("calm", "restless"),
    ("optimistic", "pessimistic"),
    ("ambitious", "undecided"),
)
"""Traits that are not asked of one person."""


@dataclass(frozen=True)
class Wanted:
    """The kinds that the next profile is to be of, by their names in a `Coverage`."""

    gender: str
    age: str
    """A band of years, such as `25-34`."""
    occupation: str
    traits: tuple[str, str]


def wanted(pool: Coverage, draw: int) -> Wanted:
    """The kinds of which there are fewest; among equals the draw decides."""
    bands, works = _shares(pool.ages), _shares(pool.occupations, without=(OTHER,))
    pairs = _turned([(band, work) for band in bands for work in works if _fit(band, work)], draw)
    # A kind that is not there at all comes before any balance between those that are.
    band, work = min(
        pairs, key=lambda pair: (-(not bands[pair[0]]) - (not works[pair[1]]), bands[pair[0]] + works[pair[1]])
    )
    traits = _shares(pool.traits, without=(OTHER,))
    first = min(_turned(list(traits), draw >> 8), key=traits.__getitem__)
    rest = [trait for trait in _turned(list(traits), draw >> 12) if trait != first and not _opposed(trait, first)]
    genders = _shares(pool.genders)
    return Wanted(
        gender=min(_turned(list(genders), draw >> 4), key=genders.__getitem__),
        age=band,
        occupation=work,
        traits=(first, min(rest, key=traits.__getitem__)),
    )


def _shares(counts: Mapping[str, int], without: Sequence[str] = ()) -> dict[str, float]:
    return {name: count / WEIGHTS.get(name, 1) for name, count in counts.items() if name not in without}


def _fit(band: str, occupation: str) -> bool:
    begins = int(band.split("-")[0])
    first, last = FITTING.get(occupation, (18, 60))
    return first <= begins <= last


def _opposed(trait: str, other: str) -> bool:
    return any({trait, other} == set(pair) for pair in OPPOSED)


def _turned(items: list[T], draw: int) -> list[T]:
    start = draw % len(items)
    return [*items[start:], *items[:start]]
