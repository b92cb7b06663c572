"""What is compared: for each user and task the mean of every measure, and how the means of two sides are formed.

The unit is the user (or the profile): their conversations about a task are averaged to one cell. Tasks are strata
with the weights m n / (m + n), m and n being the users of the two sides, so that a side with more gift conversations
differs in nothing by that alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

TINY = 1e-9
"""Weights below are none."""


@dataclass(frozen=True)
class Cells:
    """A row for each user and task, a column for each measure; NaN where no conversation of the cell has a value."""

    values: Floats
    user: Ints
    """Number of the row's user, from 0; a name that stands on both sides is two users."""
    task: Ints
    simulated: Bools

    @property
    def sides(self) -> Bools:
        """For each user whether simulated."""
        sides = np.zeros(int(self.user.max(initial=-1)) + 1, dtype=bool)
        sides[self.user] = self.simulated
        return sides

    @property
    def labelling(self) -> Floats:
        """The true labelling of the users as the only row: 1 for a simulated user, 0 for a person."""
        return self.sides[None, :].astype(float)


def cells_of(values: Floats, users: Sequence[tuple[bool, str]], tasks: Sequence[str]) -> Cells:
    """The means of each user's conversations about a task; `users` are side (simulated?) and name, a row each."""
    user_numbers = {user: number for number, user in enumerate(dict.fromkeys(users))}
    task_numbers = {task: number for number, task in enumerate(sorted(set(tasks)))}
    keys = [(user_numbers[user], task_numbers[task]) for user, task in zip(users, tasks, strict=True)]
    cell_numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    cell = np.array([cell_numbers[key] for key in keys], dtype=np.int64)
    defined = ~np.isnan(values)
    total, count = np.zeros((2, len(cell_numbers), values.shape[1]))
    np.add.at(total, cell, np.where(defined, values, 0.0))
    np.add.at(count, cell, defined)
    mean = np.full(total.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    simulated = {number: side for (side, _), number in user_numbers.items()}
    return Cells(
        mean,
        np.array([user for user, _ in cell_numbers], dtype=np.int64),
        np.array([task for _, task in cell_numbers], dtype=np.int64),
        np.array([simulated[user] for user, _ in cell_numbers], dtype=bool),
    )


def rank_scores(cells: Cells) -> Floats:
    """Twice the share of the task's cells that lie below, ties half: their mean difference is Cliff's delta.

    With the weights above it is the statistic of van Elteren's stratified rank test (1960).
    """
    scores = np.full(cells.values.shape, np.nan)
    for task in np.unique(cells.task):
        in_task = np.flatnonzero(cells.task == task)
        for column in range(cells.values.shape[1]):
            rows = in_task[~np.isnan(cells.values[in_task, column])]
            if rows.size:
                scores[rows, column] = 2 * rankdata(cells.values[rows, column]) / rows.size
    return scores


def placements(cells: Cells) -> Floats:
    """For each cell the share of the other side's cells of its task below it less that above it, halved.

    The weighted mean of the simulated side's less that of people's is Cliff's delta; each side carries half.
    """
    result = np.full(cells.values.shape, np.nan)
    for task in np.unique(cells.task):
        sides = [np.flatnonzero((cells.task == task) & (cells.simulated == side)) for side in (True, False)]
        for column in range(cells.values.shape[1]):
            sim, human = (rows[~np.isnan(cells.values[rows, column])] for rows in sides)
            if not sim.size or not human.size:
                continue
            for rows, others in ((sim, human), (human, sim)):
                other_values = np.sort(cells.values[others, column])
                values = cells.values[rows, column]
                below = np.searchsorted(other_values, values, "left")
                above = others.size - np.searchsorted(other_values, values, "right")
                result[rows, column] = (below - above) / others.size / 2
    return result


@dataclass(frozen=True)
class UserTotals:
    """The cells added up by user, flat, so that a weighting of users is one product of matrices."""

    total: Floats
    """User x (task x measure)."""
    count: Floats
    """The same shape: 1 where there is a value."""
    shape: tuple[int, int]
    """Tasks and measures."""


def user_totals(cells: Cells, values: Floats) -> UserTotals:
    """Totals of values that have a row for each cell."""
    users, tasks, width = len(cells.sides), int(cells.task.max(initial=0)) + 1, values.shape[1]
    defined = ~np.isnan(values)
    total, count = np.zeros((2, users, tasks, width))
    np.add.at(total, (cells.user, cells.task), np.where(defined, values, 0.0))
    np.add.at(count, (cells.user, cells.task), defined.astype(float))
    return UserTotals(total.reshape(users, tasks * width), count.reshape(users, tasks * width), (tasks, width))


def weighted_means(table: UserTotals, sim: Floats, human: Floats) -> tuple[Floats, Floats, Floats]:
    """Draw x measure: the means of both sides over tasks, and their difference.

    `sim` and `human` have a row for each draw and a column for each user: how often the user was drawn.
    """
    by_side = []
    for draws in (sim, human):
        total = (draws @ table.total).reshape(len(draws), *table.shape)
        count = (draws @ table.count).reshape(len(draws), *table.shape)
        by_side.append((total / np.maximum(count, TINY), count))
    (sim_mean, sim_count), (human_mean, human_count) = by_side
    weight = sim_count * human_count / np.maximum(sim_count + human_count, 1)
    total_weight = weight.sum(axis=1)
    means = []
    for mean in (sim_mean, human_mean):
        over_tasks = np.full(total_weight.shape, np.nan)
        np.divide((mean * weight).sum(axis=1), total_weight, out=over_tasks, where=total_weight > TINY)
        means.append(over_tasks)
    return means[0], means[1], means[0] - means[1]


def side_means(cells: Cells, labellings: Floats | None = None) -> tuple[Floats, Floats]:
    """Labelling x measure: mean of side 1 and of side 0, with the same weights of tasks; NaN where a side has none.

    Without labellings there is one: simulated and people.
    """
    labels = cells.labelling if labellings is None else labellings
    first, second, _ = weighted_means(user_totals(cells, cells.values), labels, 1 - labels)
    return first, second


def quantile(values: Floats, share: float) -> Floats:
    """The quantile of each column, missing values aside; NaN where all are missing."""
    columns = (column[~np.isnan(column)] for column in values.T)
    return np.array([np.quantile(column, share) if column.size else np.nan for column in columns], dtype=np.float64)
