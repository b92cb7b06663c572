"""Two versions of an agent in pairs, drawn with known shares: how often they are called different, covered and found."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from scipy.stats import beta, norm

from duologue.analysis.over_users import paired
from duologue.analysis.over_users.paired import PairedDifference, differs, paired_difference
from duologue.analysis.over_users.rates import clustered, difference

SUCCESS = (0.0, 1.0)
DESIGNS = [*product((6, 12, 30, 60), (1, 4, 8, 0))]
"""Scenarios, and pairs of each; 0: 1, 2, 5 or 8, since some were left out."""


class Cell(NamedTuple):
    """How both versions are drawn."""

    old: float
    """The mean share of successes over scenarios."""
    new: float
    spread: float
    """Intraclass correlation of a scenario's conversations: shares are beta distributed."""
    same: float = 1.0
    """Correlation of a scenario's two shares, by a Gaussian copula; 1: the better scenario for one is so for the other."""
    seed: float = 0.0
    """Correlation of a pair's two outcomes within its scenario, by a Gaussian copula."""
    broken: float = 0.0
    """Share of scenarios in which the new version always fails."""

    @property
    def truth(self) -> float:
        return self.new * (1 - self.broken) - self.old


EQUAL = [
    *(Cell(mean, mean, spread, 1.0, seed) for mean, (spread, seed) in product((0.5, 0.8, 0.95), ((0.1, 0.0), (0.6, 0.8)))),
    Cell(0.5, 0.5, 0.6, 0.6, 0.5), Cell(0.8, 0.8, 0.3, 0.6, 0.5),
]  # fmt: skip
APART = [
    Cell(0.5, 0.4, 0.1, 0.8, 0.5), Cell(0.8, 0.5, 0.6, 0.8, 0.5), Cell(0.95, 0.85, 0.3, 0.8, 0.5), Cell(0.6, 0.65, 0.3, 0.8, 0.5),
    Cell(0.8, 0.8, 0.5, 1.0, 0.8, 0.2), Cell(0.95, 0.95, 0.1, 1.0, 0.8, 0.05), Cell(0.95, 0.95, 0.1, 1.0, 0.8, 0.2),
    Cell(1.0, 0.9, 0.3), Cell(1.0, 1.0, 0.0, broken=0.1), Cell(1.0, 1.0, 0.0),
]  # fmt: skip
"""With a true difference: in all scenarios, in a few, and from a version that always succeeds or always fails."""


@lru_cache(maxsize=64)
def quantiles(mean: float, spread: float) -> Any:
    """Shares at 2001 steps of their distribution."""
    steps = np.linspace(0, 1, 2001)
    if not spread or mean in (0, 1):
        return np.full(len(steps), mean)
    both = 1 / spread - 1
    return beta.ppf(steps, mean * both, (1 - mean) * both)


def outcomes(rng: Any, cell: Cell, scenarios: int, repeats: int, draws: int) -> Any:
    """Draw x scenario x repeat x version: success."""
    steps = np.linspace(0, 1, 2001)
    place, other = rng.normal(size=(2, draws, scenarios))
    place_new = cell.same * place + (1 - cell.same**2) ** 0.5 * other
    old, new = (
        np.interp(norm.cdf(one), steps, quantiles(mean, cell.spread))[..., None]
        for one, mean in ((place, cell.old), (place_new, cell.new))
    )
    new = np.where(rng.random(new.shape) < cell.broken, 0.0, new)
    chance, own = rng.normal(size=(2, draws, scenarios, repeats))
    chance_new = cell.seed * chance + (1 - cell.seed**2) ** 0.5 * own
    return np.stack([norm.cdf(chance) < old, norm.cdf(chance_new) < new], axis=-1)


def drawn(cell: Cell, scenarios: int, repeats: int, draws: int, seed: int = 1) -> Iterator[list[Any]]:
    """Of each draw the pairs of each scenario."""
    sizes = [repeats] * scenarios if repeats else np.resize((1, 2, 5, 8), scenarios).tolist()
    rng = np.random.default_rng([seed, scenarios, sum(sizes), *(round(100 * one) for one in cell)])
    for one in outcomes(rng, cell, scenarios, max(sizes), draws).tolist():
        yield [pairs[:size] for pairs, size in zip(one, sizes, strict=True)]


class Held(NamedTuple):
    """Of all draws of a cell: the share called different, the interval's coverage, and its mean width."""

    different: float
    coverage: float
    width: float


@lru_cache(maxsize=200_000)
def compared(scenarios: tuple[tuple[tuple[bool, bool], ...], ...]) -> PairedDifference:
    """The difference, without the power that no row asks for."""
    with patch.object(paired, "detectable_share", return_value=None):
        return paired_difference(scenarios, scale=SUCCESS)


def without_order(scenarios: list[Any]) -> Any:
    """Sorted, since the order changes nothing and equal draws are computed once."""
    return tuple(sorted(tuple(sorted(map(tuple, pairs))) for pairs in scenarios))


def paired_cell(cell: Cell, scenarios: int, repeats: int, draws: int, seed: int = 1) -> Held:
    """How often the difference of a cell is called one and lies in its interval."""
    rows = []
    for one in drawn(cell, scenarios, repeats, draws, seed):
        result = compared(without_order(one))
        assert result.low <= 0 <= result.high or differs(result)
        # Where p is below a twentieth, an end that is 0 stands for the numbers beside it.
        covers = result.low - 1e-9 <= cell.truth <= result.high + 1e-9 and not (differs(result) and not cell.truth)
        rows.append((differs(result), covers, result.high - result.low))
    return Held(*np.mean(rows, axis=0).tolist())


def paired_tests(draws: int) -> list[str]:
    """Equal versions in pairs: called different, so that 0 is not in the interval; different ones: coverage."""
    lines = [
        "| scenarios x repeats | equal versions: most called different | mean | width | different versions: least coverage | mean | width |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for scenarios, repeats in DESIGNS:
        equal, apart = (
            np.array([paired_cell(cell, scenarios, repeats, draws) for cell in cells]) for cells in (EQUAL, APART)
        )
        (called, _, wide), (_, coverage, width) = equal.T, apart.T
        numbers = [called.max(), called.mean(), wide.mean(), coverage.min(), coverage.mean(), width.mean()]
        lines.append(f"| {scenarios} x {repeats or '1 to 8'} | " + " | ".join(f"{one:.3f}" for one in numbers) + " |")
    return lines


def balanced(draws: int) -> list[str]:
    """Versions with equal means of which the new one breaks a few scenarios and gains in the rest: called different."""
    cells = [Cell(0.9, 0.9 / 0.95, 0.0, broken=0.05), Cell(0.85, 0.85 / 0.9, 0.0, broken=0.1), Cell(0.75, 0.75 / 0.8, 0.0, broken=0.2)]  # fmt: skip
    lines = ["| scenarios x repeats | a twentieth broken | a tenth | a fifth |", "|---|---:|---:|---:|"]
    for scenarios in (12, 16, 30, 60):
        called = [paired_cell(cell, scenarios, 4, draws).different for cell in cells]
        lines.append(f"| {scenarios} x 4 | " + " | ".join(f"{share:.3f}" for share in called) + " |")
    return lines


def found(cell: Cell, scenarios: int, repeats: int, draws: int, seed: int = 2) -> float:
    """How often pairs show a difference."""
    return float(
        np.mean([differs(compared(without_order(one))) for one in drawn(cell, scenarios, repeats, draws, seed)])
    )


def found_by_runs(cell: Cell, scenarios: int, repeats: int, draws: int) -> float:
    """How often two runs over scenarios of their own show it: the interval of the difference of two shares is without 0."""
    shown = []
    for one, other in zip(*(drawn(cell, scenarios, repeats, draws, seed) for seed in (3, 4)), strict=True):
        old, new = (
            clustered([(sum(pair[side] for pair in pairs), len(pairs)) for pairs in own])
            for own, side in ((one, 0), (other, 1))
        )
        low, high = difference(new, old)
        shown.append(low > 0 or high < 0)
    return float(np.mean(shown))


def stated(cell: Cell, scenarios: int, repeats: int, draws: int) -> tuple[float, float, float]:
    """How often the difference is found that a comparison of equal versions states, its mean, and how often it is stated."""
    smallest = [paired_difference(one, scale=SUCCESS).detectable for one in drawn(cell, scenarios, repeats, draws, 5)]
    possible = [one for one in smallest if one is not None and one <= cell.old]
    again = [
        next(drawn(cell._replace(new=round(cell.old - one, 3)), scenarios, repeats, 1, 100 + number))
        for number, one in enumerate(possible)
    ]
    shown = np.mean([differs(compared(without_order(one))) for one in again]) if again else np.nan
    return float(shown), float(np.mean(possible)) if possible else np.nan, len(possible) / draws


ALIKE = [Cell(0.8, 0.8, 0.1), Cell(0.8, 0.8, 0.5), Cell(0.8, 0.8, 0.5, 0.6, 0.5), Cell(0.95, 0.95, 0.3, 1.0, 0.5), Cell(0.6, 0.6, 0.3, 0.8, 0.5)]  # fmt: skip
OFTEN = 0.8
"""Share of comparisons that must state a difference below the old share, for a mean over them."""


def detectable(draws: int) -> list[str]:
    """How often the difference is found that a comparison of equal versions calls detectable, over five ways of drawing."""
    lines = ["| scenarios x repeats | stated, on average | found: least | mean | most |", "|---|---:|---:|---:|---:|"]
    for scenarios, repeats in ((8, 8), (12, 4), (12, 8), (30, 1), (30, 4), (60, 1), (60, 4)):
        cells = np.array([stated(cell, scenarios, repeats, draws // 8) for cell in ALIKE])
        shown, smallest, _ = cells[cells[:, 2] >= OFTEN].T
        numbers = [smallest.mean(), shown.min(), shown.mean(), shown.max()]
        lines.append(f"| {scenarios} x {repeats} | " + " | ".join(f"{one:.2f}" for one in numbers) + " |")
    return lines
