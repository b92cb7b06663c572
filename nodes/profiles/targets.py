"""Targets of new profiles: the kinds of people that a pool lacks most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...data.recllmsim.pool_coverage import OTHER, Coverage

T = TypeVar("T")

WEIGHTS: Mapping[str, float] = {"0-17": 0.3, "other": 0.15}
"""Desired number of profiles of a kind, relative to any other kind; 1 for kinds that are not listed."""

FITTING: Mapping[str, tuple[int, int]] = {"student": (0, 44), "retired": (55, 120), "sport": (18, 44)}
"""First and last age, in years, with which an occupation is combined; other occupations: 18 to 60."""

OPPOSED = (
    ("outgoing", "reserved"),
    ("organised", "spontaneous"),
    ("calm", "restless"),
    ("optimistic", "pessimistic"),
    ("ambitious", "undecided"),
)
"""Traits that are not combined in one person."""


@dataclass(frozen=True)
class Target:
    """The kinds of the next profile, by their names in a `Coverage`."""

    gender: str
    age: str
    """An age band in years, such as `25-34`."""
    occupation: str
    traits: tuple[str, str]


def next_target(pool: Coverage, draw: int) -> Target:
    """The kinds with the fewest profiles; `draw` decides between equal ones."""
    bands, occupations = _shares(pool.ages), _shares(pool.occupations, without=(OTHER,))
    pairs = _rotated(
        [(band, occupation) for band in bands for occupation in occupations if _fit(band, occupation)], draw
    )

    def need(pair: tuple[str, str]) -> tuple[int, float]:
        """Sorts kinds without any profile before all others, then by the number of profiles."""
        ages, workers = bands[pair[0]], occupations[pair[1]]
        return -(not ages) - (not workers), ages + workers

    band, occupation = min(pairs, key=need)
    traits = _shares(pool.traits, without=(OTHER,))
    first = min(_rotated(list(traits), draw >> 8), key=traits.__getitem__)
    opposed = {trait for pair in OPPOSED if first in pair for trait in pair}
    rest = [trait for trait in _rotated(list(traits), draw >> 12) if trait not in {first, *opposed}]
    genders = _shares(pool.genders)
    return Target(
        gender=min(_rotated(list(genders), draw >> 4), key=genders.__getitem__),
        age=band,
        occupation=occupation,
        traits=(first, min(rest, key=traits.__getitem__)),
    )


def _shares(counts: Mapping[str, int], without: Sequence[str] = ()) -> dict[str, float]:
    return {name: count / WEIGHTS.get(name, 1) for name, count in counts.items() if name not in without}


def _fit(band: str, occupation: str) -> bool:
    first_of_band = int(band.split("-")[0])
    first, last = FITTING.get(occupation, (18, 60))
    return first <= first_of_band <= last


def _rotated(items: list[T], draw: int) -> list[T]:
    start = draw % len(items)
    return [*items[start:], *items[:start]]
