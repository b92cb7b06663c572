"""Every statistic of two sides, from the conversations' values alone; what is not asked for is not computed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from .cells import TINY, Cells, Floats, quantile, rank_scores
from .distances import wasserstein, within_task_deviation
from .intervals import Bounds, difference_bounds, effect_bounds, too_few
from .samples import generator
from .shuffling import CONFIDENCE, Differences, permutation_test, permuted, ratio
from .strata import side_means, telling, users_with

FEWEST_USERS = 2
"""Users that each side needs for a p."""
RARE = 5
"""Users of a side who differ from the most frequent value, if each had one conversation; with fewer a measure is rare."""
UNEQUAL = 2
"""How many times more conversations the users of one side have, from where on sides are not shuffled for rare measures."""
ONE_EACH = 4
"""Draws of one conversation of each user."""


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
        """The p of the effect, and the effect that one of 20 shufflings exceeds, 1 at most."""
        p, chance = permutation_test(*self._observed, self.shuffled, self.inflation)
        least = np.maximum(self._least_p, self._p_of_one_each)
        level = 1 - CONFIDENCE
        chance = np.where(least > level, np.maximum(chance, np.abs(self.effect) * least / level), chance)
        return np.maximum(p, least), np.minimum(chance, 1)

    @cached_property
    def _telling(self) -> Floats:
        """Side x measure: users who differ from the most frequent value, if each had one conversation; simulated first."""
        share = telling(self.cells)
        return np.stack([share[self.cells.sides].sum(axis=0), share[~self.cells.sides].sum(axis=0)])

    @cached_property
    def _least_p(self) -> Floats:
        """The chance that all users who differ from the most frequent value stand on one side, as most of them do.

        With one or two such users all shufflings differ by dust alone, and nothing may be made of it.
        """
        users = np.stack(self.users)
        differ = telling(self.cells) > 0
        of_side = np.stack([differ[self.cells.sides].sum(axis=0), differ[~self.cells.sides].sum(axis=0)]).astype(float)
        all_on = _all_drawn(users, users.sum(axis=0), of_side.sum(axis=0))
        most_on = np.take_along_axis(all_on, (of_side / np.maximum(users, 1)).argmax(axis=0)[None, :], axis=0)
        least: Floats = np.where(all_on <= most_on + TINY, all_on, 0.0).sum(axis=0).clip(max=1)
        return least

    @cached_property
    def _p_of_one_each(self) -> Floats:
        """For measures in which few users of a side differ from the most frequent value, and users of one side have many
        more conversations, the p of one conversation of each user, mean over draws of them (within-cluster
        resampling: Hoffman et al. 2001); 0 for other measures.

        Users who have many conversations vary little, and those who have one vary much but show it only if it is the
        rare one: shuffled, the former stand in for the latter.
        """
        p = np.zeros(self.cells.values.shape[1])
        each = np.stack(self.conversations) / np.maximum(np.stack(self.users), 1)
        unequal = each.max(axis=0) > UNEQUAL * each.min(axis=0)
        rare = np.flatnonzero(unequal & (self._telling.min(axis=0) < RARE))
        if not rare.size:
            return p
        rng = generator(self.draws.seed, "one each")
        some = Cells(self.cells.values[:, rare], self.cells.cell, self.cells.user, self.cells.task, self.cells.sides)
        for _ in range(ONE_EACH):
            part = some.one_each(rng)
            differences = Differences(part, rank_scores(part))
            effect, error = differences.of(part.labelling)
            null = ratio(*differences.of(permuted(part.sides, self.draws.shufflings // 2, rng)))
            drawn = permutation_test(effect[0], error[0], null, self.inflation[rare])[0]
            p[rare] += np.where(np.isnan(drawn), 1.0, drawn) / ONE_EACH
        return p

    @cached_property
    def shuffled(self) -> Floats:
        """Shuffling x measure: the effect in its standard errors."""
        labellings = permuted(self.cells.sides, self.draws.shufflings, generator(self.draws.seed, "shuffling"))
        return ratio(*self._differences.of(labellings))

    @cached_property
    def without_interval(self) -> tuple[Floats, Floats]:
        """1 where users are too few for an interval; 1 where too few of them differ from the most frequent value."""
        return too_few(self.cells)

    @cached_property
    def difference_bounds(self) -> Bounds:
        """Bounds of the simulated mean less people's."""
        return difference_bounds(self.cells, self.inflation, self.shares)

    @cached_property
    def effect_bounds(self) -> Bounds:
        """Bounds of Cliff's delta."""
        return effect_bounds(self.cells, self.inflation)

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


def floor_of(cells: Cells, inflation: Floats, draws: Draws) -> Floor:
    """The floor of people's conversations alone; all NaN with too few users for halves."""
    halves = halvings(len(cells.sides), draws)
    if not len(halves):
        nothing = np.full(cells.values.shape[1], np.nan)
        return Floor(nothing, nothing, nothing)
    distances = wasserstein(cells, halves.astype(bool), within_task_deviation(cells)) * inflation
    effects = np.abs(Differences(cells, rank_scores(cells)).of(halves)[0]) * inflation
    return Floor(quantile(distances, 0.5), quantile(distances, 0.95), np.minimum(quantile(effects, 0.5), 1))


def halvings(users: int, draws: Draws) -> Floats:
    """Labellings that put half of the users on each side; none with fewer than four users."""
    if users < 2 * FEWEST_USERS:
        return np.zeros((0, users))
    first_half = np.arange(users) < users // 2
    return permuted(first_half, draws.halvings, generator(draws.seed, "halving"))
