"""95 % intervals of a difference and of Cliff's delta, by the users' own variance; none where users are too few.

The variance is that of the users' contributions (linearised, corrected for small samples). For numbers between -1 and
1 it is drawn towards the variance that they would have without a difference, the more the fewer users it stands on,
and it shrinks towards the ends of the scale as a share's does (Wilson 1927), so that bounds stay within it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as students_t

from .cells import TINY, Cells, Floats, balanced_scores, placements
from .strata import Stratified, by_user, stratified, telling, users_with

FEWEST_USERS = 8
"""Users that each side needs for an interval."""
FEWEST_TELLING = 3
"""Of both sides together so many users must differ from the most frequent value, if each had one conversation."""
SMALL_SIDE = 20
"""Users below which a side is small."""
FEWEST_EXPECTED = 4
"""Of a small side so many users must be expected to differ, by the rates of both sides. (What it has itself must not
decide: the samples in which a rare event is frequent are those that mislead.)"""
PRIOR = 5.0
"""Users that the variance without a difference is worth, beside those on which the found variance stands."""
_OUTSIDE = 0.05


@dataclass(frozen=True)
class Bounds:
    """Lower and upper bound for each measure; NaN where there is no interval."""

    low: Floats
    high: Floats


@dataclass(frozen=True)
class _Side:
    """The variance of one side's mean, by its users."""

    found: Floats
    """As the users vary."""
    without: Floats
    """As they would vary if both sides were drawn from one mixture, half of it each side's."""
    users: Floats
    """On how many users the found one stands: few, where few of many vary."""
    freedom: Floats
    """Degrees of freedom."""


def too_few(cells: Cells) -> tuple[Floats, Floats]:
    """For each measure 1 where users are too few for an interval; and 1 where too few differ from the others."""
    fewest = np.minimum(*users_with(cells, cells.counts > 0))
    # Users who have all about every task count once; so do those who are the only ones in most tasks.
    coefficients = stratified(cells, cells.means).coefficients
    for side in (cells.sides, ~cells.sides):
        fewest = np.minimum(fewest, _effective(by_user(cells, coefficients)[side]))
    share = telling(cells)
    of_sides = [share[side].sum(axis=0) for side in (cells.sides, ~cells.sides)]
    rate = sum(
        told / np.maximum(users, 1) for told, users in zip(of_sides, users_with(cells, cells.counts > 0), strict=True)
    )
    small = (fewest < SMALL_SIDE) & (fewest * rate / 2 < FEWEST_EXPECTED - TINY)
    few_telling = small | (of_sides[0] + of_sides[1] < FEWEST_TELLING - TINY)
    return (fewest < FEWEST_USERS - 0.5).astype(float), few_telling.astype(float)


def difference_bounds(cells: Cells, inflation: Floats, shares: Floats, together: int = 1) -> Bounds:
    """Bounds of simulated mean less people's; `shares` is 1 for measures between 0 and 1.

    `together`: of so many intervals all must hold (Bonferroni).
    """
    means = stratified(cells, cells.means)
    difference = means.sim - means.human
    upper = 1 - _OUTSIDE / 2 / together
    sides = _sides(cells, means, cells.values - _mixture_mean(cells))
    # The users' own variance is too small as often as too large, and a skewed mean makes that worse: fewer degrees.
    least = np.minimum(*(side.freedom for side in sides))
    free = students_t.ppf(upper, least) * np.sqrt(sides[0].found + sides[1].found) * inflation
    bounded = _bounded(difference, sides, inflation, upper)
    return Bounds(
        np.where(shares > 0, bounded.low, difference - free), np.where(shares > 0, bounded.high, difference + free)
    )


def effect_bounds(cells: Cells, inflation: Floats) -> Bounds:
    """Bounds of Cliff's delta."""
    placed = stratified(cells, placements(cells))
    return _bounded(placed.sim, _sides(cells, placed, balanced_scores(cells)), inflation, 1 - _OUTSIDE / 2)


def effect_variance(cells: Cells, inflation: Floats) -> tuple[Floats, Floats]:
    """The variance of Cliff's delta, NaN where a side has no value; and its degrees of freedom."""
    placed = stratified(cells, placements(cells))
    at_none, freedom = _at_none(placed.sim, _sides(cells, placed, balanced_scores(cells)), inflation)
    variance: Floats = np.maximum(at_none * (1 - placed.sim**2), TINY)
    return variance, freedom


def _bounded(difference: Floats, sides: Sequence[_Side], inflation: Floats, upper: float) -> Bounds:
    """Bounds of a number between -1 and 1."""
    at_none, freedom = _at_none(difference, sides, inflation)
    # Since the score form is wider than Student's at few users, there are twice as many degrees (found by simulation).
    return score_bounds(difference, at_none, students_t.ppf(upper, 2 * freedom))


def _at_none(difference: Floats, sides: Sequence[_Side], inflation: Floats) -> tuple[Floats, Floats]:
    """The variance that a difference of 0 would have: what was found on each side, drawn towards that without a
    difference; and its degrees of freedom, as many as the users are on which its parts stand (after Satterthwaite)."""
    room = np.maximum(1 - difference**2, TINY)
    variance, spread = np.zeros((2, len(difference)))
    for side in sides:
        prior = PRIOR / (PRIOR + side.users)
        parts = ((1 - prior) * side.found / room, prior * side.without)
        variance += parts[0] + parts[1]
        spread += parts[0] ** 2 / np.maximum(side.users, 1) + parts[1] ** 2 / side.freedom
    freedom = np.divide(variance**2, spread, out=np.ones_like(variance), where=spread > 0)
    return variance * inflation**2, np.maximum(freedom, 1)


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


def _sides(cells: Cells, means: Stratified, centred: Floats) -> list[_Side]:
    """The variances of both sides; `centred` are the conversations' values less the mixture's mean of their task."""
    contributions = by_user(cells, means.coefficients * means.deviations)
    weights = by_user(cells, means.coefficients)
    centred = np.where(cells.weights > 0, centred, 0.0)
    share = cells.weights * means.coefficients[cells.cell]
    squares, alike = _mixture(cells, centred, share)
    sides = []
    for of_side in (cells.sides, ~cells.sides):
        users = np.maximum(_effective(weights[of_side]), 1 + TINY)
        own = contributions[of_side]
        rows = of_side[cells.user[cells.cell]]
        spread = (1 - alike) * (share[rows] ** 2).sum(axis=0) + alike * (weights[of_side] ** 2).sum(axis=0)
        sides.append(
            _Side(
                found=(own**2).sum(axis=0) * users / (users - 1),
                without=squares * spread * users / (users - 1),
                users=stands_on(own),
                freedom=np.maximum(users - 1, 1),
            )
        )
    return sides


def _mixture(cells: Cells, centred: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Of a random conversation of the mixture the variance; and how much two of one user go together, 0 to 1.

    Users of one side may have many conversations and those of the other one: what means of many vary in says little of
    a single one.
    """
    user = cells.user[cells.cell]
    count, total, of_squares = np.zeros((3, len(cells.sides), centred.shape[1]))
    for numbers, values in ((count, cells.weights > 0), (total, centred), (of_squares, centred**2)):
        np.add.at(numbers, user, values)
    repeated = count > 1
    pairs = np.where(repeated, (total**2 - of_squares) / np.maximum(count * (count - 1), 1), 0.0)
    squares, together, sides = np.zeros((3, centred.shape[1]))
    for of_side in (cells.sides, ~cells.sides):
        rows = of_side[user]
        weight = share[rows].sum(axis=0)
        squares += (share[rows] * centred[rows] ** 2).sum(axis=0) / np.maximum(weight, TINY) / 2
        users = repeated[of_side].sum(axis=0)
        together += np.where(users > 0, pairs[of_side].sum(axis=0) / np.maximum(users, 1), 0.0)
        sides += users > 0
    mean = np.where(sides > 0, together / np.maximum(sides, 1), squares)
    return squares, np.clip(mean / np.maximum(squares, TINY**2), 0, 1)


def _mixture_mean(cells: Cells) -> Floats:
    """Conversation x measure: the mean of its task, half of it each side's."""
    place = 2 * cells.task + cells.simulated
    defined = ~np.isnan(cells.means)
    total, count = np.zeros((2, 2 * cells.tasks, cells.means.shape[1]))
    np.add.at(total, place, np.where(defined, cells.means, 0.0))
    np.add.at(count, place, defined)
    mean = total / np.maximum(count, 1)
    middle: Floats = ((mean[0::2] + mean[1::2]) / 2)[cells.task[cells.cell]]
    return middle


def _effective(weights: Floats) -> Floats:
    """Number of users with equal weights that would weigh like these; 0 where there are none."""
    squares = (weights**2).sum(axis=0)
    users: Floats = np.divide(weights.sum(axis=0) ** 2, squares, out=np.zeros_like(squares), where=squares > TINY**2)
    return users
