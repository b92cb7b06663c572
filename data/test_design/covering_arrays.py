"""Covering arrays: rows in which each pair of levels of two factors occurs, by covertable.

covertable takes constraints, and its rows follow from a seed. allpairspy has neither a seed nor a look ahead: under a
constraint it may miss pairs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import fsum
from types import MappingProxyType
from typing import TypeAlias

from covertable.main import Controller

from ...errors import DataError
from ..records import Record

ArrayRow: TypeAlias = dict[str, str]
"""A level of each factor, by the factor's name."""
Level: TypeAlias = tuple[str, str]
"""A factor and one of its levels."""
LevelPair: TypeAlias = tuple[Level, Level]
"""Levels of two factors, in the order of the factors."""

MOST_COMBINATIONS = 200_000
"""Most combinations of the factors under constraints, all of which are looked at."""
MOST_PAIRS = 50_000


class InfeasiblePair(Record):
    """Two levels that no scenario can have together."""

    first: str
    second: str
    because: str
    """The rule that forbids it, or what is lacking."""


@dataclass(frozen=True)
class Exclusion:
    """A constraint of a design."""

    fields: tuple[str, ...]
    """The factors that it looks at."""
    reason: Callable[[Mapping[str, str]], str]
    """Why these levels cannot be together; empty if they can."""


@dataclass(frozen=True)
class Design:
    """Factors with their levels, and which levels cannot be together."""

    factors: Mapping[str, tuple[str, ...]]
    exclusions: tuple[Exclusion, ...] = ()

    def __post_init__(self) -> None:
        pairs = sum(len(one) * len(two) for one, two in combinations(self.factors.values(), 2))
        if pairs > MOST_PAIRS:
            raise DataError(f"{pairs:,} pairs of levels are to be covered, the bound is {MOST_PAIRS:,}: leave some out")
        if len(self._combinations) > MOST_COMBINATIONS:
            raise DataError(
                f"{len(self._combinations):,} combinations of tools, kinds and rules, the bound is {MOST_COMBINATIONS:,}: "
                "give fewer tools or rules"
            )

    @cached_property
    def _bound(self) -> tuple[str, ...]:
        """The factors under constraints."""
        return tuple(name for name in self.factors if any(name in one.fields for one in self.exclusions))

    @cached_property
    def _combinations(self) -> list[tuple[ArrayRow, str]]:
        """Each combination of the factors under constraints, with why it cannot be."""
        levels = [self.factors[name] for name in self._bound]
        size = 1
        for one in levels:
            size *= len(one)
        if size > MOST_COMBINATIONS:
            return [({}, "")] * (MOST_COMBINATIONS + 1)
        rows = (dict(zip(self._bound, combination, strict=True)) for combination in product(*levels))
        return [(row, self.reason(row)) for row in rows]

    def reason(self, row: Mapping[str, str]) -> str:
        """Why the levels of a row, which may lack factors, cannot be together; empty if they can."""
        reasons = (one.reason(row) for one in self.exclusions if set(one.fields) <= row.keys())
        return next(filter(None, reasons), "")

    @cached_property
    def pairs(self) -> frozenset[LevelPair]:
        """The pairs of levels that some row can have."""
        return frozenset(pair for pair in self._every_pair() if self._is_feasible(pair))

    @cached_property
    def infeasible(self) -> tuple[InfeasiblePair, ...]:
        """The pairs that no row can have, each with the most frequent reason."""
        return tuple(
            InfeasiblePair(first=level_name(pair[0]), second=level_name(pair[1]), because=self._because(pair))
            for pair in self._every_pair()
            if pair not in self.pairs
        )

    def _every_pair(self) -> Iterable[LevelPair]:
        for (one, levels), (other, others) in combinations(self.factors.items(), 2):
            yield from (((one, level), (other, another)) for level, another in product(levels, others))

    def _with(self, pair: LevelPair) -> list[str]:
        """The reasons of the combinations that have the pair, as far as its factors are under constraints."""
        bound = [(name, level) for name, level in pair if name in self._bound]
        if not bound:
            return [""]
        return [why for row, why in self._combinations if all(row[name] == level for name, level in bound)]

    def _is_feasible(self, pair: LevelPair) -> bool:
        return "" in self._with(pair)

    def _because(self, pair: LevelPair) -> str:
        counts = Counter(self._with(pair))
        return max(counts, key=lambda why: (any(level in why for _, level in pair), counts[why]))


def level_name(level: Level) -> str:
    """A level with its factor, for people."""
    return f"{level[0]} {level[1]}"


def pairs_of(row: Mapping[str, str], factors: Iterable[str]) -> frozenset[LevelPair]:
    """The pairs of levels that a row covers."""
    levels = [(name, row[name]) for name in factors if name in row]
    return frozenset(combinations(levels, 2))


def covering_array(
    design: Design,
    *,
    seed: int = 0,
    count: int | None = None,
    present: Sequence[Mapping[str, str]] = (),
    least: Mapping[LevelPair, int] = MappingProxyType({}),
) -> list[ArrayRow]:
    """Rows that cover each feasible pair of a design, those that cover most first; equal for equal seeds.

    `count`: that many rows; more than needed take further combinations. `present`: rows that exist, whose pairs are
    covered already. `least`: the fewest rows that have a pair, if it can be.
    """
    covered: set[LevelPair] = {pair for row in present for pair in pairs_of(row, design.factors)}
    if len(design.factors) == 1:
        ((name, levels),) = design.factors.items()
        present_levels = {row.get(name) for row in present}
        rows = [{name: level} for level in levels if level not in present_levels and not design.reason({name: level})]
        return rows[:count]
    rows = _ordered(_array(design, seed), design, covered)
    short = any(_count((*present, *rows), pair) < number for pair, number in least.items() if pair in design.pairs)
    if not short and (count is None or len(rows) >= count):
        return rows[:count]
    others = [row for turn in range(seed + 1, seed + 1 + _ARRAYS) for row in _array(design, turn) if row not in rows]
    for pair, number in least.items():
        _fill(rows, [row for row in others if _has(row, pair)], number - _count((*present, *rows), pair), design)
    _fill(rows, others, (count or 0) - len(rows), design)
    return rows[:count]


_ARRAYS = 6
"""How many arrays give further rows."""


def _fill(rows: list[ArrayRow], others: Sequence[ArrayRow], number: int, design: Design) -> None:
    """Add so many of the other rows, each time the one whose pairs are rarest."""
    left = {tuple(row.items()): row for row in others if row not in rows}
    counts = Counter(pair for row in rows for pair in pairs_of(row, design.factors))
    for _ in range(min(number, len(left))):
        # A set has another order in each process, on which a plain sum depends in its last digit.
        best = max(left, key=lambda one: fsum(1 / (1 + counts[pair]) for pair in pairs_of(left[one], design.factors)))
        rows.append(left.pop(best))
        counts.update(pairs_of(rows[-1], design.factors))


def _count(rows: Iterable[Mapping[str, str]], pair: LevelPair) -> int:
    return sum(_has(row, pair) for row in rows)


def _has(row: Mapping[str, str], pair: LevelPair) -> bool:
    return all(row.get(name) == level for name, level in pair)


def _array(design: Design, seed: int) -> list[ArrayRow]:
    """A covering array of the whole design."""
    constraints = [
        {
            "operator": "fn",
            "requires": list(one.fields),
            "evaluate": lambda row, one=one: not one.reason(row),
        }
        for one in design.exclusions
    ]
    factors = {name: list(levels) for name, levels in design.factors.items()}
    return [dict(row) for row in Controller(factors, salt=str(seed), constraints=constraints).make()]


def _ordered(rows: Sequence[ArrayRow], design: Design, covered: set[LevelPair]) -> list[ArrayRow]:
    """The rows that cover something new, each time the one that covers most."""
    left = [(row, pairs_of(row, design.factors) & design.pairs) for row in rows]
    ordered: list[ArrayRow] = []
    while left:
        row, pairs = max(left, key=lambda one: len(one[1] - covered))
        if not pairs - covered:
            break
        ordered.append(row)
        covered |= pairs
        left = [one for one in left if one[0] is not row]
    return ordered
