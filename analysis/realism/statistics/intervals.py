"""95 % intervals of a difference and of Cliff's delta, by the users' own variance; none for few users.

The variance is that of the users' contributions (linearised, corrected for small samples). For numbers between -1 and 1
it is drawn towards their variance without a difference, the more the fewer users it stands on. It also shrinks towards
the ends of the scale as a share's does (Wilson 1927), so that bounds stay within the scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as students_t

from ...over_users.estimate import FEWEST_USERS
from ...over_users.rates import Bounds, effective_users, score_bounds
from .cells import TINY, Bools, Cells, Floats, balanced_scores, placements
from .strata import Stratified, by_user, of_sides, stratified, users_with

FEWEST_TELLING = 3
"""Of both sides together so many users must differ from the most frequent value, if each had one conversation."""
PRIOR = 5.0
"""Users that the variance without a difference is worth, beside those on which the found variance stands."""
_OUTSIDE = 0.05
_BISECTIONS = 40
"""Steps of the search for a bound, each of which halves where it can be."""


@dataclass(frozen=True)
class _Side:
    """The variance of one side's mean, by its users."""

    observed: Floats
    """As the users vary."""
    without: Floats
    """As they would vary if both sides were drawn from one mixture, half of it each side's."""
    users: Floats
    """On how many users the observed variance stands: few, where few of many vary."""
    freedom: Floats
    """Degrees of freedom."""


def too_few(cells: Cells) -> tuple[Floats, Floats]:
    """For each measure 1 where users are too few for an interval.

    The second array has 1 where too few of them differ from the others.
    """
    fewest = np.minimum(*users_with(cells, cells.counts > 0))
    # Users who have all about every task count once; so do those who are the only ones in most tasks.
    coefficients = stratified(cells, cells.means).coefficients
    for side in (cells.sides, ~cells.sides):
        fewest = np.minimum(fewest, effective_users(by_user(cells, coefficients)[side]))
    few_telling = np.add(*of_sides(cells, cells.telling)) < FEWEST_TELLING - TINY
    return (fewest < FEWEST_USERS - 0.5).astype(float), few_telling.astype(float)


def difference_bounds(
    cells: Cells, inflation: Floats, shares: Floats, together: int = 1, chance_ratio: Floats | None = None
) -> Bounds:
    """Bounds of simulated mean less people's; `shares` is 1 for measures between 0 and 1.

    `together`: of so many intervals all must hold (Bonferroni). `chance_ratio`: the effect at which p is a twentieth
    over the effect, NaN if that is 0. Of a share the bounds leave out 0 just where it is below 1.
    """
    means = stratified(cells, cells.means)
    difference = means.sim - means.human
    upper = 1 - _OUTSIDE / 2 / together
    sides = _sides(cells, means, cells.values - _mixture_mean(cells))
    # The users' own variance is too small as often as too large, and a skewed mean makes that worse: fewer degrees.
    least = np.minimum(*(side.freedom for side in sides))
    free = students_t.ppf(upper, least) * np.sqrt(sides[0].observed + sides[1].observed) * inflation
    at_none, freedom = _at_none(difference, sides, inflation)
    own = _student(upper, freedom) * np.sqrt(at_none)
    chance = own if chance_ratio is None else np.where(chance_ratio > 0, chance_ratio * np.abs(difference), own)
    bounded = bounds_from(difference, chance, own)
    return Bounds(
        np.where(shares > 0, bounded.low, difference - free), np.where(shares > 0, bounded.high, difference + free)
    )


@dataclass(frozen=True)
class EffectVariance:
    """Cliff's delta with the variance that it would have if it were 0, by the users.

    NaN where a side has no value.
    """

    effect: Floats
    at_none: Floats
    freedom: Floats

    @classmethod
    def of(cls, cells: Cells, inflation: Floats) -> "EffectVariance":
        """Those of the conversations of two sides."""
        placed = stratified(cells, placements(cells))
        at_none, freedom = _at_none(placed.sim, _sides(cells, placed, balanced_scores(cells)), inflation)
        return cls(placed.sim, at_none, freedom)

    @property
    def variance(self) -> Floats:
        """The variance of the effect as it is."""
        variance: Floats = np.maximum(self.at_none * (1 - self.effect**2), TINY)
        return variance

    @property
    def error(self) -> Floats:
        """The standard error that the effect would have if it were 0."""
        return np.sqrt(np.maximum(self.at_none, TINY**2))

    @property
    def chance(self) -> Floats:
        """The size of effect at which p is a twentieth."""
        return self.quantile() * self.error

    def quantile(self, p: Floats | float = _OUTSIDE) -> Floats:
        """The effect at which the two-sided p is this, in standard errors."""
        return _student(1 - p / 2, self.freedom)

    @property
    def p(self) -> Floats:
        """Two-sided p of the effect."""
        p: Floats = 2 * students_t.sf(np.abs(self.effect) / self.error, 2 * self.freedom)
        return p

    def bounds(self, level: float = 1 - _OUTSIDE) -> Bounds:
        """Bounds of the effect at a level of confidence."""
        return score_bounds(self.effect, self.at_none, _student((1 + level) / 2, self.freedom))

    def bounds_from(self, chance: Floats) -> Bounds:
        """Bounds outside of which 0 lies just where the effect is larger than `chance`.

        They hold the t with (effect - t)^2 <= K(t) (1 - t^2). K is the square of `chance` at 0 and beyond, that of the
        users' own variance at the effect and beyond, and linear between.
        """
        return bounds_from(self.effect, chance, self.chance)


def bounds_from(number: Floats, chance: Floats, own: Floats) -> Bounds:
    """Bounds of a number between -1 and 1 (`EffectVariance.bounds_from`)."""
    size = np.abs(number)

    def outside(t: Floats) -> Bools:
        k = chance**2 + (own**2 - chance**2) * np.clip(t / np.maximum(size, TINY), 0, 1)
        beyond: Bools = (size - t) ** 2 > k * (1 - t**2)
        return beyond

    significant = size > chance + TINY
    low, up_to = np.where(significant, 0.0, -1.0), np.where(significant, size, 0.0)
    for _ in range(_BISECTIONS):
        middle = (low + up_to) / 2
        beyond = outside(middle)
        low, up_to = np.where(beyond, middle, low), np.where(beyond, up_to, middle)
    high = score_bounds(size, own**2, np.ones_like(own)).high
    return Bounds(np.where(number < 0, -high, low), np.where(number < 0, -low, high))


def _student(share: Floats | float, freedom: Floats) -> Floats:
    """Student's quantile. As the score form is wider than Student's at few users, there are twice as many degrees.

    That was found by simulation.
    """
    quantile: Floats = students_t.ppf(share, 2 * freedom)
    return quantile


def _at_none(difference: Floats, sides: Sequence[_Side], inflation: Floats) -> tuple[Floats, Floats]:
    """The variance that a difference of 0 would have, and its degrees of freedom.

    The variance is that observed on each side, drawn towards the one without a difference. The degrees of freedom are
    as many as the users on which its parts stand (after Satterthwaite).
    """
    room = np.maximum(1 - difference**2, TINY)
    variance, spread = np.zeros((2, len(difference)))
    for side in sides:
        prior = PRIOR / (PRIOR + side.users)
        parts = ((1 - prior) * side.observed / room, prior * side.without)
        variance += parts[0] + parts[1]
        spread += parts[0] ** 2 / np.maximum(side.users, 1) + parts[1] ** 2 / side.freedom
    freedom = np.divide(variance**2, spread, out=np.ones_like(variance), where=spread > 0)
    return variance * inflation**2, np.maximum(freedom, 1)


def _sides(cells: Cells, means: Stratified, centred: Floats) -> list[_Side]:
    """The variances of both sides; `centred` are the conversations' values less the mixture's mean of their task."""
    contributions = by_user(cells, means.coefficients * means.deviations)
    weights = by_user(cells, means.coefficients)
    centred = np.where(cells.weights > 0, centred, 0.0)
    share = cells.weights * means.coefficients[cells.cell]
    squares, alike = _mixture(cells, centred, share)
    sides = []
    for of_side in (cells.sides, ~cells.sides):
        users = np.maximum(effective_users(weights[of_side]), 1 + TINY)
        own = contributions[of_side]
        rows = of_side[cells.user[cells.cell]]
        spread = (1 - alike) * (share[rows] ** 2).sum(axis=0) + alike * (weights[of_side] ** 2).sum(axis=0)
        sides.append(
            _Side(
                observed=(own**2).sum(axis=0) * users / (users - 1),
                without=squares * spread * users / (users - 1),
                users=effective_users(own**2),
                freedom=np.maximum(users - 1, 1),
            )
        )
    return sides


def _mixture(cells: Cells, centred: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Variance of a random conversation of the mixture, and correlation of two of one user, 0 to 1.

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
