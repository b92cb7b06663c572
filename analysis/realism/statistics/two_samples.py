"""Every statistic of two groups, only from the conversations' values; each is computed on first use."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

from ...over_users.rates import Bounds, score_bounds
from .cells import TINY, Bools, Cells, Floats, quantile, rank_scores
from .distances import wasserstein, within_task_deviation
from .intervals import EffectVariance, difference_bounds, too_few
from .samples import generator
from .shuffling import CONFIDENCE, Differences, permutation_test, permuted, ratio
from .strata import of_sides, side_means, users_with

FEWEST_USERS = 2
"""Users that each side needs for a p."""
RARE = 5
"""Users of a side who differ from the most frequent value, if each had one conversation; with fewer a measure is rare."""
UNEQUAL = 2
"""How many times more conversations the users of one side have, from where on sides are not shuffled for rare measures."""
POWER = 0.8
_NEXT_TO = 1e-6
"""What lies so near, as a share, is a tie."""


@dataclass(frozen=True)
class Draws:
    """How many random draws are made for what, and from which seed."""

    seed: int = 0
    shufflings: int = 2000
    halvings: int = 100


@dataclass(frozen=True)
class TwoSamples:
    """Every statistic that a row shows of two sides; each is an array with a column for each measure."""

    cells: Cells
    inflation: Floats
    """By how much chance is widened (`shuffling.permutation_test`)."""
    shares: Floats
    """1 for measures between 0 and 1."""
    draws: Draws

    @cached_property
    def users(self) -> tuple[Floats, Floats]:
        """Users of the simulated side, and of people's, that have a value."""
        return users_with(self.cells, self.cells.counts > 0)

    @cached_property
    def conversations(self) -> tuple[Floats, Floats]:
        """Conversations of either side that have a value."""
        defined = ~np.isnan(self.cells.values)
        simulated = self.cells.simulated[self.cells.cell]
        return defined[simulated].sum(axis=0), defined[~simulated].sum(axis=0)

    @cached_property
    def means(self) -> tuple[Floats, Floats]:
        """Mean of the simulated side, and of people's."""
        return side_means(self.cells)

    @cached_property
    def _differences(self) -> Differences:
        return Differences(self.cells, rank_scores(self.cells))

    @cached_property
    def _observed(self) -> tuple[Floats, Floats]:
        effect, error = self._differences.of(self.cells.labelling)
        return np.clip(effect[0], -1, 1), error[0]

    @property
    def effect(self) -> Floats:
        """Cliff's delta."""
        return self._observed[0]

    @cached_property
    def p_and_chance(self) -> tuple[Floats, Floats]:
        """The p of the effect, and the effect at which it would be a twentieth, 1 at most.

        The effect lies beyond the second just where the first is a twentieth at most.
        """
        p, chance = permutation_test(*self._observed, self.shuffled, self.inflation)
        own, level, least, size = self.effect_variance, round(1 - CONFIDENCE, 9), self._least_p, np.abs(self.effect)
        if self._rare_and_unequal.any():
            p, chance = (np.where(self._rare_and_unequal, *both) for both in ((own.p, p), (own.chance, chance)))
        p = np.maximum(p, least)
        chance = np.minimum(np.where(least > level, np.maximum(chance, size * least / level), chance), 1)
        # What is drawn has ties, in which the two must not contradict each other.
        return p, np.where(p <= level, np.minimum(chance, size * (1 - _NEXT_TO)), np.maximum(chance, size))

    @cached_property
    def _least_p(self) -> Floats:
        """The chance that all users who differ from the most frequent value stand on the side with most of them.

        With one or two such users all shufflings differ by dust alone, and nothing may be made of it. Where users differ
        rarely and have unequally many conversations, it is at least the chance that nobody of a side differs.
        """
        users = np.stack(self.users)
        of_side = np.stack(of_sides(self.cells, self.cells.telling > 0))
        all_on = _all_drawn(users, users.sum(axis=0), of_side.sum(axis=0))
        most_on = np.take_along_axis(all_on, (of_side / np.maximum(users, 1)).argmax(axis=0)[None, :], axis=0)
        least: Floats = np.where(all_on <= most_on + TINY, all_on, 0.0).sum(axis=0).clip(max=1)
        if self._rare_and_unequal.any():
            least = np.where(self._rare_and_unequal, np.maximum(least, self._none_by_chance), least)
        return least

    @cached_property
    def _rare_and_unequal(self) -> Bools:
        """For each measure whether few users of a side differ, and users of one side have more conversations.

        Users who have many conversations vary little, and those who have one vary much but show it only if it is the
        rare one: shuffled, the former stand in for the latter. The users' variance takes that into account.
        """
        per_user = np.stack(self.conversations) / np.maximum(np.stack(self.users), 1)
        unequal = per_user.max(axis=0) > UNEQUAL * per_user.min(axis=0)
        rare: Bools = unequal & (np.minimum(*of_sides(self.cells, self.cells.telling)) < RARE)
        return rare

    @property
    def _none_by_chance(self) -> Floats:
        """Where nobody of a side differs, the chance of that.

        It is that of one conversation of each of them if they were like the other side's.
        """
        differing, users = np.stack(of_sides(self.cells, self.cells.telling)), np.stack(self.users)
        rates = differing / np.maximum(users, 1)
        none: Floats = np.where(differing == 0, (1 - rates[::-1]) ** users, 0.0).max(axis=0)
        return none

    @cached_property
    def shuffled(self) -> Floats:
        """Shuffling x measure: the effect in its standard errors."""
        labellings = permuted(self.cells.sides, self.draws.shufflings, generator(self.draws.seed, "shuffling"))
        return ratio(*self._differences.of(labellings))

    @cached_property
    def without_interval(self) -> tuple[Floats, Floats]:
        """1 where users are too few for an interval; 1 where too few differ from the most frequent value."""
        return too_few(self.cells)

    @cached_property
    def difference_bounds(self) -> Bounds:
        """Bounds of the simulated mean less people's.

        Of a share they leave out 0 just where those of the effect do.
        """
        same_sign = (self.means[0] - self.means[1]) * self.effect > 0
        ratio_to_effect = np.where(
            same_sign, self.p_and_chance[1] / np.where(same_sign, np.abs(self.effect), 1), np.nan
        )
        return difference_bounds(self.cells, self.inflation, self.shares, chance_ratio=ratio_to_effect)

    @cached_property
    def effect_variance(self) -> EffectVariance:
        """The variance of Cliff's delta, by the users."""
        return EffectVariance.of(self.cells, self.inflation)

    @cached_property
    def effect_bounds(self) -> Bounds:
        """Bounds of Cliff's delta: 0 lies outside them just where p is a twentieth at most."""
        return self.effect_variance.bounds_from(self.p_and_chance[1])

    def detectable(self, levels: Floats) -> Floats:
        """The smallest effect that `POWER` of such samples would find at these p; 1 where none is so small."""
        own = self.effect_variance
        # Few of the shufflings lie beyond a small p, so the size that a twentieth exceeds is widened as Student's t is.
        chance = np.minimum(self.p_and_chance[1] * own.quantile(levels) / own.quantile(), 1)
        high = np.asarray(score_bounds(chance, own.at_none, np.full_like(chance, norm.ppf(POWER))).high)
        least = np.maximum(self._least_p, 1 / (1 + self.draws.shufflings))
        return np.where(least > levels, 1.0, high)

    @cached_property
    def distance(self) -> Floats:
        """Wasserstein's distance in people's standard deviations."""
        return wasserstein(self.cells, self.cells.sides[None, :], within_task_deviation(self.cells)).ravel()


def _all_drawn(side: Floats, users: Floats, few: Floats) -> Floats:
    """The chance that so few users, drawn without replacement from all users, are all on a side."""
    enough = side >= few
    log = gammaln(side + 1) - gammaln(np.maximum(side - few, 0) + 1) + gammaln(users - few + 1) - gammaln(users + 1)
    chance: Floats = np.where(enough, np.exp(log), 0.0)
    return chance


@dataclass(frozen=True)
class Floor:
    """What halves of the people differ in by themselves; a column for each measure."""

    distance: Floats
    """Median over halvings."""
    distance_high: Floats
    """What one in 20 halvings exceeds."""
    effect: Floats
    """Median size over halvings."""
    effect_high: Floats
    """What one in 20 halvings exceeds in size."""


def floor_of(cells: Cells, inflation: Floats, draws: Draws) -> Floor:
    """The human-human baseline; all NaN with too few users to divide."""
    halves = halvings(len(cells.sides), draws)
    if not len(halves):
        nothing = np.full(cells.values.shape[1], np.nan)
        return Floor(nothing, nothing, nothing, nothing)
    distances = wasserstein(cells, halves.astype(bool), within_task_deviation(cells)) * inflation
    effects = np.abs(Differences(cells, rank_scores(cells)).of(halves)[0]) * inflation
    effect, effect_high = (np.minimum(quantile(effects, share), 1) for share in (0.5, CONFIDENCE))
    return Floor(quantile(distances, 0.5), quantile(distances, CONFIDENCE), effect, effect_high)


def halvings(users: int, draws: Draws) -> Floats:
    """Labellings that put half of the users on each side; none with fewer than four users."""
    if users < 2 * FEWEST_USERS:
        return np.zeros((0, users))
    first_half = np.arange(users) < users // 2
    return permuted(first_half, draws.halvings, generator(draws.seed, "halving"))
