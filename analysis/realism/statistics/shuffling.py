"""How much of an effect is chance: users with all their conversations are shuffled between the sides.

The difference is divided by its own standard error in every shuffling (Janssen 1997; Chung and Romano 2013). Users of
one side may have fewer conversations, or stand in other tasks, and so vary more than those of the other. The size of an
undivided difference would then mean nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .cells import TINY, Bools, Cells, Floats, Ints
from .strata import by_user

CONFIDENCE = 0.95
_AT_A_TIME = 4_000_000
"""Shares of tasks times labellings that are computed at a time, to spare memory."""


@dataclass(frozen=True)
class Differences:
    """Differences of scores between sides, for any labelling of the users. Scores have a row for each cell.

    The weights of tasks are those of `cells`. A difference is the sum of side 1's scores, less their task's mean, over
    the sum of the weights. A user adds to its variance the square of a sum over cells: the score times the label less
    side 1's share of the task's users. Expanded, that is products of the labellings with matrices that no labelling
    changes.
    """

    cells: Cells
    scores: Floats

    def of(self, labellings: Floats) -> tuple[Floats, Floats]:
        """Labelling x measure: mean score of side 1 less that of side 0, and its standard error if nothing differs.

        `labellings` has a row for each labelling and a column for each user. Difference and error are NaN where a
        side is empty in every task.
        """
        difference, error = np.empty((2, len(labellings), self.scores.shape[1]))
        step = max(1, _AT_A_TIME // max(1, self._sizes.size))
        for start in range(0, len(labellings), step):
            rows = slice(start, start + step)
            difference[rows], error[rows] = self._of(np.ascontiguousarray(labellings[rows].T))
        return difference, error

    def _of(self, labels: Floats) -> tuple[Floats, Floats]:
        """The same of some labellings, a column each."""
        users, tasks = self._of_users
        width = self.scores.shape[1]
        of_sides = np.concatenate([users, users**2], axis=1).T @ labels
        scores, variance = of_sides[:width], of_sides[width:]
        shares = np.empty((*self._sizes.shape, labels.shape[1]))
        weight = np.zeros((self._sizes.shape[1], labels.shape[1]))
        for task, rows in enumerate(tasks):
            user = self.cells.user[rows]
            of_task = labels[user]
            first = self._defined[rows].T @ of_task
            size = self._sizes[task][:, None]
            shares[task] = first / np.maximum(size, 1)
            weight += first * (1 - shares[task])
            together = (users[user] * self._centred[rows]).T @ of_task
            variance -= 2 * shares[task][self._pattern] * together
        one, another, products = self._products
        for number in range(len(weight)):
            columns = self._pattern == number
            of_pattern = shares[:, number]
            variance[columns] += products[:, columns].T @ (of_pattern[one] * of_pattern[another])
        none = weight[self._pattern] <= TINY
        safe = np.where(none, 1.0, weight[self._pattern])
        # Sums of ranks leave rounding errors, and zeros with a sign.
        difference = np.round(scores / safe, 12) + 0.0
        error = np.sqrt(np.maximum(variance, 0.0)) / safe
        return np.where(none, np.nan, difference).T, np.where(none, np.nan, error).T

    @cached_property
    def _patterns(self) -> tuple[Floats, Ints]:
        """Cell x pattern: 1 where it is defined; and the pattern of each measure.

        Measures that are defined for the same cells have one: their tasks have the same weights.
        """
        defined, numbers = np.unique(~np.isnan(self.scores), axis=1, return_inverse=True)
        return defined.astype(float), numbers.ravel()

    @property
    def _defined(self) -> Floats:
        return self._patterns[0]

    @property
    def _pattern(self) -> Ints:
        return self._patterns[1]

    @cached_property
    def _sizes(self) -> Floats:
        """Task x pattern: users with a score."""
        sizes = np.zeros((self.cells.tasks, self._defined.shape[1]))
        np.add.at(sizes, self.cells.task, self._defined)
        return sizes

    @cached_property
    def _centred(self) -> Floats:
        """Cell x measure: the score less the task's mean over both sides; 0 where there is none."""
        total = np.zeros((self.cells.tasks, self.scores.shape[1]))
        np.add.at(total, self.cells.task, np.nan_to_num(self.scores))
        mean = total / np.maximum(self._sizes, 1)[:, self._pattern]
        return np.nan_to_num(self.scores - mean[self.cells.task])

    @cached_property
    def _of_users(self) -> tuple[Floats, list[Ints]]:
        """User x measure: the sum of a user's scores; and the cells of each task."""
        users = by_user(self.cells, self._centred)
        return users, [np.flatnonzero(self.cells.task == task) for task in range(self.cells.tasks)]

    @cached_property
    def _products(self) -> tuple[Ints, Ints, Floats]:
        """Pairs of tasks with a user in common, and for each pair and measure the products of scores."""
        own = np.arange(len(self.cells.user))
        one, another = _pairs(self.cells.user)
        ones, others = np.concatenate([own, one, another]), np.concatenate([own, another, one])
        keys = self.cells.task[ones] * self.cells.tasks + self.cells.task[others]
        pairs, pair = np.unique(keys, return_inverse=True)
        products = np.zeros((len(pairs), self.scores.shape[1]))
        np.add.at(products, pair, self._centred[ones] * self._centred[others])
        return pairs // max(self.cells.tasks, 1), pairs % max(self.cells.tasks, 1), products


def _pairs(user: Ints) -> tuple[Ints, Ints]:
    """All pairs of cells of the same user; cells are in the order of users."""
    ends = np.searchsorted(user, user, side="right")
    partners = [np.arange(place + 1, end) for place, end in enumerate(ends)]
    one = np.repeat(np.arange(len(user)), [len(others) for others in partners])
    another = np.concatenate(partners) if partners else np.zeros(0)
    return one.astype(np.int64), another.astype(np.int64)


def permuted(sides: Bools, draws: int, rng: np.random.Generator) -> Floats:
    """Labellings of users with as many on side 1 as `sides` has, in random order; a row each."""
    return rng.permuted(np.tile(sides.astype(float), (draws, 1)), axis=1)


def ratio(difference: Floats, error: Floats) -> Floats:
    """A difference in its standard errors; 0 where it is 0 or missing."""
    size = np.where(np.isnan(difference), 0.0, difference)
    return np.where(np.abs(size) > TINY, size / np.maximum(np.nan_to_num(error), TINY), 0.0)


def permutation_test(observed: Floats, error: Floats, null: Floats, inflation: Floats) -> tuple[Floats, Floats]:
    """For each measure the two-sided p of a difference, and the size that one of 20 shufflings exceeds.

    `null` has the ratio of difference and error of each shuffling in a row. `inflation` widens it where a value depends
    on the others of its side. It is 2 for means over pairs: each conversation counts as the one that is compared and as
    one of the others (Hoeffding 1948).
    """
    sizes = np.abs(null) * inflation
    exceeding = (sizes >= np.abs(ratio(observed, error)) - TINY).sum(axis=0)
    p = (1 + exceeding) / (1 + len(null))
    return np.where(np.isnan(observed), np.nan, p), np.quantile(sizes, CONFIDENCE, axis=0) * error
