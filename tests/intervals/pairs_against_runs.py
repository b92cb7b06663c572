"""Pairs against two runs: the conversations that both need, and forms of the sign-flip test for one pair of each scenario.

What has one pair of each scenario is computed without draws.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import binom

from duologue.analysis.over_users.rates import difference, exact
from tests.intervals.paired_differences import Cell, found, found_by_runs, outcomes, quantiles

PAIRED_OR_NOT = [(0.8, 0.6, 60, 1), (0.8, 0.65, 100, 1), (0.8, 0.7, 240, 1), (0.8, 0.65, 60, 4)]
"""Share of the old version and of the new, and scenarios and repeats of each run."""

MOST = 240
NUISANCES = np.linspace(0.005, 0.5, 100)
"""Shares of pairs that differ: of equal versions half, where the outcomes of a pair are independent, and fewer where they
are alike."""
USUAL, MID, UNCONDITIONAL = "usual p", "mid-p", "unconditional"


def sizes(differing: int) -> Any:
    """How far from 0 the sum of so many differences is, for each number of wins."""
    return abs(2 * np.arange(differing + 1) - differing)


@lru_cache(maxsize=MOST + 1)
def calls_by_signs(differing: int, mid: bool) -> Any:
    """For each number of wins whether p is below a twentieth."""
    chance, far = binom.pmf(np.arange(differing + 1), differing, 0.5), sizes(differing)
    weight = 0.5 if mid and differing > 6 else 1.0
    return np.array([chance[far > one].sum() + weight * chance[far == one].sum() < 0.05 - 1e-12 for one in far])


def calls_unconditional(scenarios: int) -> list[Any]:
    """The same by McNemar's statistic, from the least value with which no share of differing pairs is called too often.

    Suissa and Shuster, "The 2 x 2 matched-pairs trial: exact unconditional design and analysis", 1991.
    """
    far = [sizes(number) / max(number, 1) ** 0.5 for number in range(scenarios + 1)]
    steps = sorted({round(float(one), 9) for row in far for one in row if one > 1.4})
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        calls = [row >= steps[middle] - 1e-8 for row in far]
        low, high = (low, middle) if most_called(scenarios, calls) <= 0.05 else (middle + 1, high)
    return [row >= steps[low] - 1e-8 for row in far]


def calls_of(form: str, scenarios: int) -> list[Any]:
    """For each number of differing pairs, and each number of wins, whether the versions are called different."""
    if form == UNCONDITIONAL:
        return calls_unconditional(scenarios)
    return [calls_by_signs(number, form == MID) for number in range(scenarios + 1)]


def most_called(scenarios: int, calls: list[Any]) -> float:
    """How often equal versions are called different, at the share of differing pairs where that is most."""
    chance = [float(binom.pmf(np.arange(len(row)), len(row) - 1, 0.5)[row].sum()) for row in calls]
    return float((binom.pmf(np.arange(scenarios + 1), scenarios, NUISANCES[:, None]) @ np.array(chance)).max())


def power(scenarios: int, lost: float, won: float, calls: list[Any]) -> float:
    """How often they are called different where these shares of pairs are lost and won."""
    differing = lost + won
    chance = [float(binom.pmf(np.arange(len(row)), len(row) - 1, won / differing)[row].sum()) for row in calls]
    return float(binom.pmf(np.arange(scenarios + 1), scenarios, differing) @ np.array(chance))


def lost_and_won(cell: Cell) -> tuple[float, float]:
    """The shares of pairs that only the old version solves, and only the new one."""
    places = (np.arange(200_000) + 0.5) / 200_000
    old, new = (np.interp(places, np.linspace(0, 1, 2001), quantiles(one, cell.spread)) for one in (cell.old, cell.new))
    return float((old * (1 - new)).mean()), float((new * (1 - old)).mean())


def power_of_runs(old: float, new: float, trials: int) -> float:
    """How often two runs of so many independent conversations show the difference."""
    rates = [exact(count, trials) for count in range(trials + 1)]
    shares = [binom.pmf(np.arange(trials + 1), trials, one) for one in (old, new)]
    likely = [[count for count, chance in enumerate(row) if chance > 1e-9] for row in shares]
    shown = 0.0
    for before in likely[0]:
        for after in likely[1]:
            low, high = difference(rates[after], rates[before])
            shown += shares[0][before] * shares[1][after] * (low > 0 or high < 0)
    return float(shown)


def forms(_: int) -> list[str]:
    """What three forms of the test call different of equal versions, and the conversations that they need beside two runs."""
    rows = [(old, new, trials) for old, new, trials, repeats in PAIRED_OR_NOT if repeats == 1]
    head = " | ".join(f"{old} and {new}" for old, new, _ in rows)
    lines = [f"| form | most called different: 12 | 30 | 60 | conversations: {head} |", "|---|" + "---:|" * 6]
    wanted = [power_of_runs(*row) for row in rows]
    for form in (USUAL, MID, UNCONDITIONAL):
        cells = [f"{most_called(number, calls_of(form, number)):.3f}" for number in (12, 30, 60)]
        for (old, new, trials), least in zip(rows, wanted, strict=True):
            shares = lost_and_won(Cell(old, new, 0.5))
            enough = (n for n in range(trials // 3, trials) if power(n, *shares, calls_of(form, n)) >= least)
            cells.append(f"{next(enough) / trials:.2f}")
        lines.append(f"| {form} | " + " | ".join(cells) + " |")
    return lines


def paired_power(draws: int) -> list[str]:
    """Conversations with which pairs find a difference as often as two runs, at a correlation of .5 of old and new."""
    lines = [
        "| shares | two runs: scenarios x repeats | found | correlation | pairs: scenarios | found | of the conversations |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for old, new, scenarios, repeats in PAIRED_OR_NOT:
        cell = Cell(old, new, 0.5)
        if repeats == 1:
            by_runs, shares = power_of_runs(old, new, scenarios), lost_and_won(cell)
            of_pairs = [power(number, *shares, calls_of(MID, number)) for number in range(scenarios)]
        else:
            by_runs = found_by_runs(cell, scenarios, repeats, draws)
            of_pairs = [found(cell, number, repeats, draws) if number > 5 else 0.0 for number in range(scenarios // 2)]
        fewest = next(number for number, share in enumerate(of_pairs) if share >= by_runs)
        both = outcomes(np.random.default_rng(6), cell._replace(new=old), 4000, repeats, 2).reshape(-1, 2)
        cells = [f"{old} and {new}", f"{scenarios} x {repeats}", f"{by_runs:.2f}", f"{np.corrcoef(both.T)[0, 1]:.2f}"]
        cells += [f"{fewest}", f"{of_pairs[fewest]:.2f}", f"{fewest / scenarios:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
