"""The arrays on which every statistic stands: conversations in cells, a cell for each user and task.

A user weighs 1 in a task, spread evenly over the conversations that they have about it. So a side's distribution is
that of a random conversation of a random user. Its expectation does not depend on how many conversations a user has.
Tasks are strata with the weights m n / (m + n), where m and n are the users of the two sides. So a side does not differ
merely because it has more gift conversations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

TINY = 1e-9
"""Weights and variances below are none."""


@dataclass(frozen=True)
class Cells:
    """Conversations of two sides; every statistic is an array with a column for each measure."""

    values: Floats
    """Conversation x measure; NaN where the measure is not defined."""
    cell: Ints
    """Number of each conversation's cell."""
    user: Ints
    """Number of each cell's user, from 0; a name that stands on both sides is two users."""
    task: Ints
    """Number of each cell's task, from 0."""
    sides: Bools
    """For each user whether simulated."""

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return int(self.task.max(initial=-1)) + 1

    @property
    def simulated(self) -> Bools:
        """For each cell whether it is a simulated user's."""
        return self.sides[self.user]

    @property
    def labelling(self) -> Floats:
        """The true labelling of the users as the only row: 1 for a simulated user, 0 for a person."""
        return self.sides[None, :].astype(float)

    @cached_property
    def counts(self) -> Floats:
        """Cell x measure: conversations with a value."""
        return self._summed(~np.isnan(self.values))

    @cached_property
    def weights(self) -> Floats:
        """Conversation x measure: 1 over the number of the cell's conversations with a value, 0 without a value."""
        defined = ~np.isnan(self.values)
        weights: Floats = defined / np.maximum(self.counts, 1)[self.cell]
        return weights

    @cached_property
    def means(self) -> Floats:
        """Cell x measure: mean of the values; NaN where no conversation of the cell has one."""
        return self.means_of(self.values)

    @cached_property
    def telling(self) -> Floats:
        """User x measure: share of the user's conversations that have another value than the most frequent one."""
        users = self.user[self.cell]
        differ, count = np.zeros((2, len(self.sides), self.values.shape[1]))
        for column, values in enumerate(self.values.T):
            defined = ~np.isnan(values)
            if defined.any():
                in_use, counts = np.unique(values[defined], return_counts=True)
                other = defined & (values != in_use[counts.argmax()])
                count[:, column] = np.bincount(users[defined], minlength=len(count))
                differ[:, column] = np.bincount(users[other], minlength=len(count))
        return differ / np.maximum(count, 1)

    def means_of(self, values: Floats) -> Floats:
        """Cell x measure: mean of other values of the conversations, over those for which the measure is defined."""
        weighted = self._summed(np.where(self.weights > 0, values, 0.0) * self.weights)
        return np.where(self.counts > 0, weighted, np.nan)

    def rows_of(self, task: int) -> Ints:
        """The conversations about a task."""
        return np.flatnonzero(self.task[self.cell] == task)

    def where(self, rows: Ints) -> "Cells":
        """Some of the conversations, only with their users and tasks."""
        cells, cell = np.unique(self.cell[rows], return_inverse=True)
        users, user = np.unique(self.user[cells], return_inverse=True)
        task = np.unique(self.task[cells], return_inverse=True)[1]
        return Cells(self.values[rows], cell, user, task, self.sides[users])

    def _summed(self, values: NDArray[np.generic]) -> Floats:
        total = np.zeros((len(self.user), self.values.shape[1]))
        np.add.at(total, self.cell, values)
        return total


def cells_of(values: Floats, users: Sequence[tuple[bool, str]], tasks: Sequence[str]) -> Cells:
    """The cells of conversations; `users` are side (simulated?) and name, a row each."""
    user_numbers = {user: number for number, user in enumerate(dict.fromkeys(users))}
    task_numbers = {task: number for number, task in enumerate(sorted(set(tasks)))}
    keys = [(user_numbers[user], task_numbers[task]) for user, task in zip(users, tasks, strict=True)]
    # In the order of users, so that nothing depends on the order of the conversations of two users.
    cell_numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return Cells(
        values,
        np.array([cell_numbers[key] for key in keys], dtype=np.int64),
        np.array([user for user, _ in cell_numbers], dtype=np.int64),
        np.array([task for _, task in cell_numbers], dtype=np.int64),
        np.array([side for side, _ in user_numbers], dtype=bool),
    )


def standing(values: Floats, weights: Floats) -> Floats:
    """For each value the share of its column's weight that lies below it, ties half: 0 to 1.

    NaN where a value is missing or its column has no weight. Missing values must have no weight.
    """
    order = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, order, axis=0)
    weight = np.take_along_axis(weights, order, axis=0)
    up_to = np.cumsum(weight, axis=0)
    # The first and the last of each run of equal values.
    first = np.ones(values.shape, dtype=bool)
    first[1:] = ascending[1:] != ascending[:-1]
    last = np.ones(values.shape, dtype=bool)
    last[:-1] = first[1:]
    below = np.maximum.accumulate(np.where(first, up_to - weight, -np.inf), axis=0)
    up_to_run = np.minimum.accumulate(np.where(last, up_to, np.inf)[::-1], axis=0)[::-1]
    total = weight.sum(axis=0)
    share = np.full(values.shape, np.nan)
    np.divide((below + up_to_run) / 2, total, out=share, where=total > TINY)
    result = np.empty(values.shape)
    np.put_along_axis(result, order, share, axis=0)
    return np.where(np.isnan(values), np.nan, result)


TaskScores = Callable[[Floats, Floats, Bools], Floats]
"""Scores of the conversations about a task, from their values, their weights, and whether each is a simulated user's."""


def _by_task(cells: Cells, scores: TaskScores) -> Floats:
    """Conversation x measure: the scores of each task's conversations among each other."""
    result = np.full(cells.values.shape, np.nan)
    for task in range(cells.tasks):
        rows = cells.rows_of(task)
        simulated = cells.simulated[cells.cell[rows]][:, None]
        result[rows] = scores(cells.values[rows], cells.weights[rows], simulated)
    return result


def rank_scores(cells: Cells) -> Floats:
    """Cell x measure: twice the mean share of the task's weight that lies below the user's conversations, ties half.

    The mean of side 1 less that of side 0 is Cliff's delta between a random conversation of a random user of either
    side. With the weights of tasks it is the statistic of van Elteren's stratified rank test (1960).
    """
    return cells.means_of(_by_task(cells, lambda values, weights, _: 2 * standing(values, weights)))


def placements(cells: Cells) -> Floats:
    """Cell x measure: share of the other side's weight that the user lies beyond, less the rest.

    Simulated users lie above people or below; people are counted the other way round. So the mean of either side is
    Cliff's delta, and what users vary in is its variance (DeLong et al. 1988; by cluster: Obuchowski 1997).
    """

    def placed(values: Floats, weights: Floats, simulated: Bools) -> Floats:
        above_people, above_simulated = (2 * standing(values, weights * side) - 1 for side in (~simulated, simulated))
        return np.where(simulated, above_people, -above_simulated)

    return cells.means_of(_by_task(cells, placed))


def balanced_scores(cells: Cells) -> Floats:
    """Conversation x measure: twice the share below less 1, both sides having half of the weight in a task."""

    def balanced(values: Floats, weights: Floats, simulated: Bools) -> Floats:
        halves = np.zeros(weights.shape)
        for side in (simulated, ~simulated):
            of_side = weights * side
            halves += of_side / np.maximum(of_side.sum(axis=0), 1)
        return 2 * standing(values, halves) - 1

    return _by_task(cells, balanced)


def quantile(values: Floats, share: float) -> Floats:
    """The quantile of each column, missing values aside; NaN where all are missing."""
    columns = (column[~np.isnan(column)] for column in values.T)
    return np.array([np.quantile(column, share) if column.size else np.nan for column in columns], dtype=np.float64)
