"""How often intervals hold a known truth: shares of scenarios, coefficients of agreement, AUCs, two versions in pairs."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from duologue.analysis.coefficients import (
    alpha_disagreement,
    beyond_chance,
    chance_of_margins,
    chance_of_uncertain,
    coefficient,
    distances_of,
)
from duologue.analysis.estimates import Estimate, score, share

ALIKE = 0.15
"""Correlation of how often raters are right of a user."""
SHARES = {"97 and 3 %": (0.97, 0.03), "three values": (0.6, 0.3, 0.1), "five": (0.1, 0.2, 0.3, 0.25, 0.15)}
"""How often each value is true."""
OFTEN = 0.2
"""Share of draws that must have an interval for its coverage to count."""


class Cell(NamedTuple):
    """What was drawn, how many draws had an interval, and how many of these hold the truth."""

    of: str
    where: str
    coverage: float
    with_interval: float
    width: float


def cell(of: str, where: str, truth: float, drawn: Sequence[Estimate]) -> Cell:
    """The cell of these draws."""
    ends = [(one.low, one.high) for one in drawn if one.low is not None and one.high is not None]
    holds = [low <= truth <= high for low, high in ends]
    width = float(np.mean([high - low for low, high in ends])) if ends else float("nan")
    return Cell(of, where, float(np.mean(holds)) if holds else float("nan"), len(ends) / len(drawn), width)


def success(draws: int, scenarios: int, repeats: int, rate: float, alike: float) -> Cell:
    """The share of successes; `alike`: the correlation of a scenario's repeats."""
    rng = np.random.default_rng([scenarios, repeats, int(100 * rate), int(100 * alike)])
    spread = 1 / alike - 1 if alike else np.inf
    own = (
        rng.beta(rate * spread, (1 - rate) * spread, (draws, scenarios)) if alike else np.full((draws, scenarios), rate)
    )
    reached = rng.binomial(repeats, own)
    found = {key: share([(one, repeats) for one in key]) for key in {tuple(sorted(row)) for row in reached.tolist()}}
    where = f"{scenarios} scenarios x {repeats}, success {rate}, correlation {alike}"
    return cell("success", where, rate, [found[tuple(sorted(row))] for row in reached.tolist()])


def successes(draws: int) -> Iterator[Cell]:
    """The whole grid of shares."""
    for scenarios, repeats, rate in product((6, 12, 20, 60), (1, 2, 4, 8), (0.05, 0.2, 0.5, 0.8, 0.95)):
        for alike in (0.0,) if repeats == 1 else (0.0, 0.3, 0.7):
            yield success(draws, scenarios, repeats, rate, alike)


def sizes_of(users: int, unequal: bool, items: int) -> list[int]:
    """How many items each user has: as many, or a fifth of the users has ten times as many as the others."""
    return [30 if unequal and number < users // 5 else 3 if unequal else items for number in range(users)]


def tables_of(rng: np.random.Generator, draws: int, sizes: Sequence[int], shares: Sequence[float], right: float):
    """Draw x user x first x second label: each is the truth with the chance `right`, else a guess."""
    users, values, spread = len(sizes), len(shares), 1 / ALIKE - 1
    rightly = rng.beta(right * spread, (1 - right) * spread, (draws, users))
    own = rng.dirichlet(8 * np.array(shares), (draws, users)).cumsum(axis=-1)[..., :-1]
    tables, (draw, user) = np.zeros((draws, users, values, values)), np.indices((draws, users))
    for number in range(max(sizes)):
        true = (rng.random((draws, users, 1)) > own).sum(axis=-1)
        guess = (rng.random((2, draws, users, 1)) > np.cumsum(shares)[:-1]).sum(axis=-1)
        one, other = np.where(rng.random((2, draws, users)) < rightly, true, guess)
        np.add.at(tables, (draw, user, one, other), np.array(sizes) > number)
    return tables


def agreement(draws: int, users: int, unequal: bool, name: str, right: float) -> Iterator[Cell]:
    """Coefficients of two labels."""
    shares = SHARES[name]
    apart = distances_of(np.arange(len(shares), dtype=float), None)
    further = distances_of(np.arange(len(shares), dtype=float), "quadratic")
    many = tables_of(np.random.default_rng(0), 1, [2] * 50_000, shares, right)[0].sum(axis=0)
    drawn = tables_of(
        np.random.default_rng([users, unequal, len(shares)]), draws, sizes_of(users, unequal, 8), shares, right
    )
    where = f"{users} users, {'30 or 3' if unequal else '8'} labels of each, {name}, right {right}"
    for of, disagreement, both in (
        ("kappa", chance_of_margins(apart), False),
        ("weighted kappa", chance_of_margins(further), False),
        ("alpha", alpha_disagreement("nominal", np.arange(len(shares), dtype=float)), True),
        ("AC1", chance_of_uncertain(apart), False),
    ):
        tables = drawn + drawn.swapaxes(-1, -2) if both else drawn
        of_many = many + many.T if both else many
        truth = float(beyond_chance(of_many[None], disagreement)(np.ones((1, 1)))[0])
        yield cell(of, where, truth, [coefficient(one, disagreement, each=2.0 if both else 1.0) for one in tables])


def agreements(draws: int) -> Iterator[Cell]:
    """The whole grid of coefficients."""
    for users, unequal, name, right in product((8, 20, 60), (False, True), SHARES, (0.3, 0.8, 0.97)):
        yield from agreement(draws, users, unequal, name, right)


def auc(draws: int, users: int, unequal: bool, rate: float, apart: float) -> Cell:
    """The AUC where so many items are positive, whose scores are so many standard deviations above the others'."""
    rng = np.random.default_rng([users, unequal, int(100 * rate), int(10 * apart)])
    sizes, drawn = sizes_of(users, unequal, 6), list[Estimate]()
    user = np.repeat(np.arange(users), sizes)
    for _ in range(draws):
        positive = rng.random(len(user)) < rng.beta(3 * rate, 3 * (1 - rate), users)[user]
        scores = rng.normal(0, 0.3**0.5, users)[user] + rng.normal(0, 0.7**0.5, len(user)) + apart * positive
        drawn.append(auc_of(positive, scores, user, users))
    where = f"{users} users, {'30 or 3' if unequal else '6'} items of each, {rate} positive, {apart} apart"
    return cell("AUC", where, float(norm.cdf(apart / 2**0.5)), drawn)


def auc_of(positive: np.ndarray, scores: np.ndarray, user: np.ndarray, users: int) -> Estimate:
    """The AUC of these items with its interval over users."""
    right, pairs = np.zeros((2, users, users))
    for place in np.flatnonzero(positive):
        above = (scores[place] > scores[~positive]) + 0.5 * (scores[place] == scores[~positive])
        np.add.at(right[user[place]], user[~positive], above)
        np.add.at(pairs[user[place]], user[~positive], 1)

    def of(drawn: np.ndarray) -> np.ndarray:
        whole = ((drawn @ pairs) * drawn).sum(axis=1)
        return np.divide(((drawn @ right) * drawn).sum(axis=1), whole, out=np.full(len(drawn), np.nan), where=whole > 0)

    items = pairs.sum(axis=0) + pairs.sum(axis=1)
    return score(of, items, scale=(0.0, 1.0), rarer=float(min(positive.sum(), (~positive).sum())))


def aucs(draws: int) -> Iterator[Cell]:
    """The whole grid of AUCs."""
    for users, unequal, rate, apart in product((8, 20, 60), (False, True), (0.03, 0.1, 0.3), (0.0, 1.0, 2.5)):
        yield auc(draws, users, unequal, rate, apart)


def rules(draws: int) -> Iterator[str]:
    """How often `--threshold 0.9` and `--at-least 0.9` pass, with a correlation of .3 between a scenario's repeats."""
    for rate, (scenarios, repeats) in product((0.85, 0.9, 0.95, 0.98), ((12, 8), (30, 4), (60, 4), (200, 2))):
        rng = np.random.default_rng([scenarios, repeats, int(100 * rate)])
        spread = 1 / 0.3 - 1
        reached = rng.binomial(repeats, rng.beta(rate * spread, (1 - rate) * spread, (draws, scenarios)))
        found = [share([(one, repeats) for one in row]) for row in reached.tolist()]
        threshold = np.mean([(one.value or 0) >= 0.9 for one in found])
        at_least = np.mean([(one.low or 0) >= 0.9 for one in found])
        yield f"{rate:4} {scenarios:3} x {repeats}: {threshold:.2f} {at_least:.2f}"
