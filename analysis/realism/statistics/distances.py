"""How far apart two distributions of numbers are: Wasserstein's distance in people's standard deviations."""

import numpy as np

from .cells import TINY, Bools, Cells, Floats


def within_task_deviation(cells: Cells) -> Floats:
    """For each measure people's standard deviation within tasks; where it is 0, that of both sides.

    It is that of a random conversation of a random person.
    """
    people, both = _pooled_deviation(cells, ~cells.simulated), _pooled_deviation(cells, np.ones_like(cells.simulated))
    return np.where(people > 0, people, both)


def _pooled_deviation(cells: Cells, chosen: Bools) -> Floats:
    squares, users, tasks = np.zeros((3, cells.values.shape[1]))
    for task in range(cells.tasks):
        rows = cells.rows_of(task)
        rows = rows[chosen[cells.cell[rows]]]
        weights = cells.weights[rows]
        size = weights.sum(axis=0)
        values = np.where(weights > 0, cells.values[rows], 0.0)
        mean = (weights * values).sum(axis=0) / np.maximum(size, TINY)
        squares += (weights * np.square(values - mean)).sum(axis=0)
        users += size
        tasks += size > 0
    deviation: Floats = np.sqrt(squares / np.maximum(users - tasks, 1))
    return np.where(deviation > 1e-12, deviation, 0.0)


def wasserstein(cells: Cells, labellings: Bools, scale: Floats) -> Floats:
    """Labelling x measure: the distance of the users labelled True from the others, in units of `scale`.

    Area between the two distribution functions, task by task, with the weights of `cells`; NaN where a side
    of a labelling has no value. `labellings` has a column for each user.
    """
    weighted, weight = np.zeros((2, len(labellings), cells.values.shape[1]))
    users = cells.user[cells.cell]
    for task in range(cells.tasks):
        in_task = cells.rows_of(task)
        for column in range(cells.values.shape[1]):
            rows = in_task[~np.isnan(cells.values[in_task, column])]
            ascending = rows[np.argsort(cells.values[rows, column], kind="stable")]
            steps = np.diff(cells.values[ascending, column])
            share = cells.weights[ascending, column]
            first_below = np.cumsum(labellings[:, users[ascending]] * share, axis=1)
            below = np.cumsum(share)
            total = below[-1] if below.size else 0.0
            first_size = first_below[:, -1] if below.size else np.zeros(len(labellings))
            second_size = total - first_size
            # Sums of weights leave dust where a side is empty.
            has_both = (first_size > TINY) & (second_size > TINY)
            first_cdf = first_below / np.where(has_both, first_size, 1.0)[:, None]
            second_cdf = (below - first_below) / np.where(has_both, second_size, 1.0)[:, None]
            task_weight = np.where(has_both, first_size * second_size / max(total, TINY), 0.0)
            weighted[:, column] += task_weight * (np.abs(first_cdf - second_cdf)[:, :-1] @ steps)
            weight[:, column] += task_weight
    distance = np.full(weighted.shape, np.nan)
    np.divide(weighted, weight, out=distance, where=weight > TINY)
    return np.where(np.isnan(distance), np.nan, distance / np.where(scale > 0, scale, 1.0))
