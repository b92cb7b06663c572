"""How much of a difference is chance: a permutation test and bootstrap intervals over users, never over messages.

Users with all their cells are shuffled between the sides and drawn with replacement.
"""

from dataclasses import dataclass

import numpy as np

from .cells import TINY, Bools, Cells, Floats, placements, quantile, user_totals, weighted_means

CONFIDENCE = 0.95
_CHUNK = 200
"""Labellings or draws that are computed at a time, to spare memory."""


@dataclass(frozen=True)
class UserScores:
    """Scores of the cells added up by user: all that a labelling of users needs."""

    score: Floats
    """User x measure: sum of scores, each task's centred at its mean over both sides."""
    defined: Floats
    """User x task x measure: 1 where there is a value."""

    def differences(self, labellings: Floats) -> Floats:
        """Labelling x measure: mean score of side 1 less that of side 0; NaN where a side is empty.

        `labellings` has a row for each labelling and a column for each user. With the weights of tasks as in
        `cells`, the difference is the sum of side 1's centred scores over the sum of the weights.
        """
        users, tasks, width = self.defined.shape
        first = (labellings @ self.defined.reshape(users, tasks * width)).reshape(len(labellings), tasks, width)
        both = self.defined.sum(axis=0)
        weight = (first * (both - first) / np.maximum(both, 1)).sum(axis=1)
        difference = np.full(weight.shape, np.nan)
        np.divide(labellings @ self.score, weight, out=difference, where=weight > TINY)
        # Ranks leave rounding errors, and zeros with a sign.
        return np.asarray(np.round(difference, 12) + 0.0, dtype=np.float64)

    def differences_in_chunks(self, labellings: Floats) -> Floats:
        """The same for many labellings, some at a time."""
        starts = range(0, len(labellings), _CHUNK)
        chunks = [self.differences(labellings[start : start + _CHUNK]) for start in starts]
        return np.concatenate(chunks) if chunks else np.zeros((0, self.score.shape[1]))


def user_scores(cells: Cells, scores: Floats) -> UserScores:
    """The scores (a row for each cell, NaN where none) by user, centred by task."""
    users, tasks, width = len(cells.sides), int(cells.task.max(initial=0)) + 1, scores.shape[1]
    defined = ~np.isnan(scores)
    filled = np.where(defined, scores, 0.0)
    total, count = np.zeros((2, tasks, width))
    np.add.at(total, cells.task, filled)
    np.add.at(count, cells.task, defined)
    centred = np.where(defined, filled - (total / np.maximum(count, 1))[cells.task], 0.0)
    by_user, present = np.zeros((users, width)), np.zeros((users, tasks, width))
    np.add.at(by_user, cells.user, centred)
    np.add.at(present, (cells.user, cells.task), defined.astype(float))
    return UserScores(by_user, present)


def permuted(sides: Bools, draws: int, rng: np.random.Generator) -> Floats:
    """Labellings of users with as many on side 1 as `sides` has, in random order; a row each."""
    return rng.permuted(np.tile(sides.astype(float), (draws, 1)), axis=1)


def permutation_test(observed: Floats, null: Floats, inflation: Floats) -> tuple[Floats, Floats]:
    """For each measure the two-sided p of a difference, and the size that one of 20 permutations exceeds.

    `null` has a row for each permutation. `inflation` widens it where a value depends on the others of its side (2
    for means over pairs: each conversation counts as the one that is compared and as one of the others; Hoeffding
    1948).
    """
    sizes = np.abs(np.where(np.isnan(null), 0.0, null)) * inflation
    exceeding = (sizes >= np.abs(observed) - TINY).sum(axis=0)
    p = (1 + exceeding) / (1 + len(null))
    return np.where(np.isnan(observed), np.nan, p), np.quantile(sizes, CONFIDENCE, axis=0)


def bootstrap(cells: Cells, draws: int, inflation: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """95 % intervals of the difference of means and of Cliff's delta; each is lower and upper bound x measure.

    Users of each side are drawn with replacement. Delta is drawn through its placements (DeLong et al. 1988;
    by cluster: Obuchowski 1997).
    """
    width = cells.values.shape[1]
    table = user_totals(cells, np.concatenate([cells.values, placements(cells)], axis=1))
    simulated, people = np.flatnonzero(cells.sides), np.flatnonzero(~cells.sides)
    chunks = []
    for start in range(0, draws, _CHUNK):
        size = min(_CHUNK, draws - start)
        sim, human = np.zeros((2, size, len(cells.sides)))
        for drawn_of, users in ((sim, simulated), (human, people)):
            if users.size:
                drawn_of[:, users] = rng.multinomial(users.size, np.full(users.size, 1 / users.size), size=size)
        chunks.append(weighted_means(table, sim, human)[2])
    drawn = np.concatenate(chunks)
    observed = weighted_means(table, cells.labelling, 1 - cells.labelling)[2][0]
    # Each placement is half of a delta, so its deviations count twice.
    widened = observed + (drawn - observed) * np.concatenate([inflation, 2 * inflation])
    tail = (1 - CONFIDENCE) / 2
    bounds = np.stack([quantile(widened, tail), quantile(widened, 1 - tail)])
    return bounds[:, :width], np.clip(bounds[:, width:], -1, 1)
