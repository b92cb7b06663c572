"""95 % intervals of a difference and of Cliff's delta, by the users' own variance; none where users are too few.

The variance is that of the users' contributions (linearised, corrected for small samples). For numbers between -1 and
1 it is drawn towards the variance that they would have without a difference, the more the fewer users it stands on,
and it shrinks towards the ends of the scale as a share's does (Wilson 1927), so that bounds stay within it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as students_t

from .cells import TINY, Cells, Floats, balanced_scores, placements
from .strata import Stratified, by_user, differing, stratified, users_with

FEWEST_USERS = 8
"""Users that each side needs for an interval."""
FEWEST_TELLING = 6
"""Users of both sides together that must differ from the most frequent value."""
PRIOR = 5.0
"""Users that the variance without a difference is worth, beside those on which the found variance stands."""
_OUTSIDE = 0.05


@dataclass(frozen=True)
class Bounds:
    """Lower and upper bound for each measure; NaN where there is no interval."""

    low: Floats
    high: Floats


@dataclass(frozen=True)
class _Variance:
    """The variance of a difference, by users."""

    found: Floats
    least_freedom: Floats
    """Degrees of freedom of the side with fewer users."""
    users: Floats
    """On how many users it stands: few, where few of many vary."""


def too_few(cells: Cells) -> tuple[Floats, Floats]:
    """For each measure 1 where users are too few for an interval; and 1 where too few differ from the others."""
    fewest = np.minimum(*users_with(cells, cells.counts > 0))
    # Users who have all about every task count once; so do those who are the only ones in most tasks.
    coefficients = stratified(cells, cells.means).coefficients
    for side in (cells.sides, ~cells.sides):
        fewest = np.minimum(fewest, _effective(by_user(cells, coefficients)[side]))
    few_users = fewest < FEWEST_USERS - 0.5
    return few_users.astype(float), (differing(cells).sum(axis=0) < FEWEST_TELLING).astype(float)


def difference_bounds(cells: Cells, inflation: Floats, shares: Floats, together: int = 1) -> Bounds:
    """Bounds of simulated mean less people's; `shares` is 1 for measures between 0 and 1.

    `together`: of so many intervals all must hold (Bonferroni).
    """
    means = stratified(cells, cells.means)
    difference = means.sim - means.human
    found = _variance(cells, means)
    upper = 1 - _OUTSIDE / 2 / together
    # The users' own variance is too small as often as too large, and a skewed mean makes that worse: fewer degrees.
    free = students_t.ppf(upper, found.least_freedom) * np.sqrt(found.found) * inflation
    middle = _mixture_mean(cells)
    without = _without_difference(cells, means, np.where(np.isnan(cells.means), 0.0, cells.means - middle))
    bounded = _bounded(difference, found, without, inflation, upper)
    return Bounds(
        np.where(shares > 0, bounded.low, difference - free), np.where(shares > 0, bounded.high, difference + free)
    )


def effect_bounds(cells: Cells, inflation: Floats) -> Bounds:
    """Bounds of Cliff's delta."""
    placed = stratified(cells, placements(cells))
    without = _without_difference(cells, placed, np.nan_to_num(balanced_scores(cells)))
    return _bounded(placed.sim, _variance(cells, placed), without, inflation, 1 - _OUTSIDE / 2)


def effect_variance(cells: Cells, inflation: Floats) -> Floats:
    """The variance of Cliff's delta; NaN where a side has no value."""
    placed = stratified(cells, placements(cells))
    without = _without_difference(cells, placed, np.nan_to_num(balanced_scores(cells)))
    at_none = _variance_at_none(placed.sim, _variance(cells, placed), without, inflation)
    variance: Floats = np.maximum(at_none * (1 - placed.sim**2), TINY)
    return variance


def _bounded(difference: Floats, variance: _Variance, without: _Variance, inflation: Floats, upper: float) -> Bounds:
    """Bounds of a number between -1 and 1."""
    at_none = _variance_at_none(difference, variance, without, inflation)
    prior = _prior(variance)
    # Both parts of the variance are known as well as the users on which they stand are many (after Satterthwaite). Since
    # the score form is wider than Student's at few users, there are half as many degrees more (found by simulation).
    spread = (1 - prior) ** 2 / np.maximum(variance.users, 1) + prior**2 / np.maximum(without.users, 1)
    return score_bounds(difference, at_none, students_t.ppf(upper, 1.5 / spread))


def score_bounds(difference: Floats, at_none: Floats, quantile: Floats) -> Bounds:
    """The differences t, -1 to 1, with (difference - t)^2 <= q^2 V (1 - t^2), V being the variance at no difference."""
    k = quantile**2 * at_none
    half = np.sqrt(np.maximum(k * (1 + k - difference**2), 0.0))
    return Bounds((difference - half) / (1 + k), (difference + half) / (1 + k))


def stands_on(contributions: Floats) -> Floats:
    """On how many users a variance stands: few, where few of many vary. `contributions` is user x measure."""
    fourth = (contributions**4).sum(axis=0)
    users: Floats = np.divide((contributions**2).sum(axis=0) ** 2, fourth, out=np.zeros_like(fourth), where=fourth > 0)
    return users


def _variance_at_none(difference: Floats, variance: _Variance, without: _Variance, inflation: Floats) -> Floats:
    """The variance that a difference of 0 would have: what was found, drawn towards that of equal sides."""
    prior = _prior(variance)
    room = 1 - difference**2
    found = np.where(room > TINY, variance.found / np.maximum(room, TINY), 0.0)
    at_none: Floats = ((1 - prior) * found + prior * without.found) * inflation**2
    return at_none


def _prior(variance: _Variance) -> Floats:
    prior: Floats = PRIOR / (PRIOR + variance.users)
    return prior


def _variance(cells: Cells, means: Stratified) -> _Variance:
    contributions = by_user(cells, means.coefficients * means.deviations)
    weights = by_user(cells, means.coefficients)
    found = np.zeros(contributions.shape[1])
    fewest = np.full(contributions.shape[1], np.inf)
    for side in (cells.sides, ~cells.sides):
        users = np.maximum(_effective(weights[side]), 1 + TINY)
        found += (contributions[side] ** 2).sum(axis=0) * users / (users - 1)
        fewest = np.minimum(fewest, users)
    return _Variance(found, np.maximum(fewest - 1, 1), stands_on(contributions))


def _without_difference(cells: Cells, means: Stratified, scores: Floats) -> _Variance:
    """The variance if both sides were drawn from one mixture, half of it each side's; `scores` are centred on it."""
    contributions, weights = by_user(cells, means.coefficients * scores), by_user(cells, means.coefficients)
    rates, sizes = np.zeros((2, contributions.shape[1]))
    for side in (cells.sides, ~cells.sides):
        size = (weights[side] ** 2).sum(axis=0)
        sizes += size
        rates += (contributions[side] ** 2).sum(axis=0) / np.maximum(size, TINY) / 2
    users = _effective(weights[cells.sides]) + _effective(weights[~cells.sides])
    freedom = np.maximum(users - 1, 1)
    return _Variance(rates * sizes * users / freedom, freedom, stands_on(contributions))


def _mixture_mean(cells: Cells) -> Floats:
    """Cell x measure: the mean of its task, half of it each side's."""
    place = 2 * cells.task + cells.simulated
    defined = ~np.isnan(cells.means)
    total, count = np.zeros((2, 2 * cells.tasks, cells.means.shape[1]))
    np.add.at(total, place, np.where(defined, cells.means, 0.0))
    np.add.at(count, place, defined)
    mean = total / np.maximum(count, 1)
    middle: Floats = ((mean[0::2] + mean[1::2]) / 2)[cells.task]
    return middle


def _effective(weights: Floats) -> Floats:
    """Number of users with equal weights that would weigh like these; 0 where there are none."""
    squares = (weights**2).sum(axis=0)
    users: Floats = np.divide(weights.sum(axis=0) ** 2, squares, out=np.zeros_like(squares), where=squares > TINY**2)
    return users
