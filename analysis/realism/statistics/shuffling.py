"""How much of an effect is chance: users with all their conversations are shuffled between the sides.

The difference is divided by its own standard error in every shuffling (Janssen 1997; Chung and Romano 2013): users of
one side may have fewer conversations, or stand in other tasks, and so vary more than those of the other; the size of
an undivided difference would then say nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .cells import TINY, Bools, Cells, Floats, Ints

CONFIDENCE = 0.95
_AT_A_TIME = 4_000_000
"""Cells, and pairs of a user's cells, times labellings that are computed at a time, to spare memory."""


@dataclass(frozen=True)
class Differences:
    """Differences of scores between sides, for any labelling of the users. Scores have a row for each cell."""

    cells: Cells
    scores: Floats

    def of(self, labellings: Floats) -> tuple[Floats, Floats]:
        """Labelling x measure: mean score of side 1 less that of side 0, and its standard error if nothing differs.

        `labellings` has a row for each labelling and a column for each user. Difference and error are NaN where a
        side is empty in every task.
        """
        shape = (len(labellings), self.scores.shape[1])
        difference, error = np.full(shape, np.nan), np.full(shape, np.nan)
        for pattern in self._patterns:
            step = max(1, _AT_A_TIME // max(1, len(pattern.squares)))
            for start in range(0, len(labellings), step):
                rows = slice(start, start + step)
                differences = pattern.differences(labellings[rows])
                difference[rows, pattern.columns], error[rows, pattern.columns] = differences
        return difference, error

    @cached_property
    def _patterns(self) -> "list[_Pattern]":
        """Measures that are defined for the same cells, together: their tasks have the same weights."""
        defined = ~np.isnan(self.scores)
        _, numbers = np.unique(defined, axis=1, return_inverse=True)
        groups = (np.flatnonzero(numbers.ravel() == number) for number in range(int(numbers.max(initial=-1)) + 1))
        return [_pattern(self.cells, self.scores, defined[:, columns[0]], columns) for columns in groups]


@dataclass(frozen=True)
class _Pattern:
    """Scores of measures that are defined for the same cells."""

    columns: Ints
    user: Ints
    task: Ints
    scores: Floats
    """Cell x measure: less the task's mean over both sides."""
    squares: Floats
    """Cell, then pair of a user's cells x measure: square, then twice the product, of the scores."""
    pairs: tuple[Ints, Ints]
    in_task: Floats
    """Cell x task: 1 where the cell is in the task."""

    def differences(self, labellings: Floats) -> tuple[Floats, Floats]:
        """Differences of the sides and their standard errors, a row for each labelling.

        With the weights of tasks as in `cells`, the difference is the sum of side 1's centred scores over that of the
        weights; each cell adds its score times the other side's share of the task's users.
        """
        labels = labellings[:, self.user]
        size = self.in_task.sum(axis=0)
        first = labels @ self.in_task
        weight = (first * (size - first) / np.maximum(size, 1)).sum(axis=1)[:, None]
        others = np.where(labels > 0, 1.0, 0.0) - (first / np.maximum(size, 1))[:, self.task]
        one, another = self.pairs
        variance = np.concatenate([others**2, others[:, one] * others[:, another]], axis=1) @ self.squares
        none = weight <= TINY
        safe = np.where(none, 1.0, weight)
        # Sums of ranks leave rounding errors, and zeros with a sign.
        difference = np.round(labels @ self.scores / safe, 12) + 0.0
        error = np.sqrt(np.maximum(variance, 0.0)) / safe
        return np.where(none, np.nan, difference), np.where(none, np.nan, error)


def _pattern(cells: Cells, scores: Floats, defined: Bools, columns: Ints) -> _Pattern:
    rows = np.flatnonzero(defined)
    user, task = cells.user[rows], cells.task[rows]
    in_task = np.zeros((rows.size, cells.tasks))
    in_task[np.arange(rows.size), task] = 1.0
    values = scores[np.ix_(rows, columns)]
    centred = values - (in_task.T @ values / np.maximum(in_task.sum(axis=0), 1)[:, None])[task]
    one, another = _pairs(user)
    squares = np.concatenate([centred**2, 2 * centred[one] * centred[another]])
    return _Pattern(columns, user, task, centred, squares, (one, another), in_task)


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

    `null` has the ratio of difference and error of each shuffling in a row. `inflation` widens it where a value
    depends on the others of its side (2 for means over pairs: each conversation counts as the one that is compared
    and as one of the others; Hoeffding 1948).
    """
    sizes = np.abs(null) * inflation
    exceeding = (sizes >= np.abs(ratio(observed, error)) - TINY).sum(axis=0)
    p = (1 + exceeding) / (1 + len(null))
    return np.where(np.isnan(observed), np.nan, p), np.quantile(sizes, CONFIDENCE, axis=0) * error
