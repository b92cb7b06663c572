"""Means over tasks, and what each user adds to them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import TINY, Bools, Cells, Floats


@dataclass(frozen=True)
class Stratified:
    """The means of two sides over tasks of numbers that have a row for each cell; columns are measures."""

    coefficients: Floats
    """Cell x measure: what the cell weighs in its side's mean; 0 where it has no number, or the other side has none."""
    deviations: Floats
    """Cell x measure: the number less the mean of the task and side; 0 without a number."""
    sim: Floats
    human: Floats
    """Mean of each side; NaN where no task has numbers of both sides."""


def stratified(cells: Cells, numbers: Floats) -> Stratified:
    """The means of both sides, tasks weighted with m n / (m + n)."""
    defined = ~np.isnan(numbers)
    filled = np.where(defined, numbers, 0.0)
    place = 2 * cells.task + cells.simulated
    count, total = np.zeros((2, 2 * cells.tasks, numbers.shape[1]))
    np.add.at(count, place, defined)
    np.add.at(total, place, filled)
    mean = total / np.maximum(count, 1)
    people, simulated = count[0::2], count[1::2]
    weight = people * simulated / np.maximum(people + simulated, 1)
    whole = weight.sum(axis=0)
    share = weight / np.maximum(whole, TINY)
    coefficients = np.where(defined, np.repeat(share, 2, axis=0)[place] / np.maximum(count, 1)[place], 0.0)
    sides = []
    for rows in (mean[1::2], mean[0::2]):
        sides.append(np.where(whole > TINY, (share * rows).sum(axis=0), np.nan))
    return Stratified(coefficients, np.where(defined, numbers - mean[place], 0.0), sides[0], sides[1])


def by_user(cells: Cells, numbers: Floats) -> Floats:
    """User x measure: the sum over the user's cells."""
    total = np.zeros((len(cells.sides), numbers.shape[1]))
    np.add.at(total, cells.user, numbers)
    return total


def side_means(cells: Cells) -> tuple[Floats, Floats]:
    """Mean value of simulated users and of people, with the same weights of tasks; NaN where a side has none."""
    means = stratified(cells, cells.means)
    return means.sim, means.human


def users_with(cells: Cells, chosen: Bools) -> tuple[Floats, Floats]:
    """Users of the simulated side, and of people's, with a chosen cell; `chosen` is cell x measure."""
    return of_sides(cells, by_user(cells, chosen.astype(float)) > 0)


def of_sides(cells: Cells, of_users: NDArray[Any]) -> tuple[Floats, Floats]:
    """The sums over the simulated users, and over people; `of_users` is user x measure."""
    return of_users[cells.sides].sum(axis=0).astype(float), of_users[~cells.sides].sum(axis=0).astype(float)
