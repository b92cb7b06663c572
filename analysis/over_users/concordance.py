"""Concordance of pairs within groups: how often of two items of one group the score puts the right one higher.

Each group counts by itself, such as a person with their conversations. Differences between groups (one person gives
more points than another) neither help a score nor hurt it.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True)
class Pair(Generic[Group]):
    """Two items of a group, by their places, whose truth differs."""

    group: Group
    better: int
    """The one whose truth is greater."""
    worse: int


@dataclass(frozen=True)
class Pairs:
    """How many pairs a score orders rightly."""

    right: float = 0.0
    """Those that the score orders as the truth does, and half of those that it puts level."""
    count: int = 0


def pairs_within(truth: Sequence[float], group: Sequence[Group]) -> Iterator[Pair[Group]]:
    """All pairs of items of one group whose truth differs, group by group in the order of their first items.

    ValueError for sequences of different lengths.
    """
    places: dict[Group, list[int]] = {}
    for place, (_, name) in enumerate(zip(truth, group, strict=True)):
        places.setdefault(name, []).append(place)
    for name, own in places.items():
        for one, other in combinations(own, 2):
            if (first := preference(truth[one], truth[other])) != 0.5:
                yield Pair(name, one, other) if first else Pair(name, other, one)


def preference(one: float, other: float) -> float:
    """1 if the first value is greater, 0 if the other is, a half if they are equal.

    Values that differ only in the last digits of a float are equal.
    """
    return 0.5 if math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) else float(one > other)


def concordance_within(truth: Sequence[float], score: Sequence[float], group: Sequence[Group]) -> dict[Group, Pairs]:
    """The pairs of each group, in the order in which groups first appear; one without any pair has `Pairs()`.

    `truth`, `score` and `group` have a value for each item; pairs whose truth is equal are left out. Summed over groups
    this is Harrell's C without censoring ("Evaluating the yield of medical tests", 1982), within strata. ValueError for
    sequences of different lengths.
    """
    preferences: dict[Group, list[float]] = {name: [] for _, name in zip(score, group, strict=True)}
    for pair in pairs_within(truth, group):
        preferences[pair.group].append(preference(score[pair.better], score[pair.worse]))
    return {name: Pairs(sum(own), len(own)) for name, own in preferences.items()}
