"""How far apart two distributions of numbers are: Wasserstein's distance in people's standard deviations."""

import numpy as np

from .cells import Bools, Cells, Floats


def within_task_deviation(cells: Cells) -> Floats:
    """For each measure people's standard deviation within tasks; where it is 0, that of both sides."""
    people, both = _pooled_deviation(cells, ~cells.simulated), _pooled_deviation(cells, np.ones_like(cells.simulated))
    return np.where(people > 0, people, both)


def _pooled_deviation(cells: Cells, chosen: Bools) -> Floats:
    width = cells.values.shape[1]
    squares, count, tasks = np.zeros((3, width))
    for task in np.unique(cells.task):
        values = cells.values[chosen & (cells.task == task)]
        defined = ~np.isnan(values)
        size = defined.sum(axis=0)
        mean = np.where(defined, values, 0.0).sum(axis=0) / np.maximum(size, 1)
        squares += np.square(np.where(defined, values - mean, 0.0)).sum(axis=0)
        count += size
        tasks += size > 0
    deviation: Floats = np.sqrt(squares / np.maximum(count - tasks, 1))
    return np.where(deviation > 1e-12, deviation, 0.0)


def wasserstein(cells: Cells, labellings: Bools, scale: Floats) -> Floats:
    """Labelling x measure: the distance of the cells labelled True from the others, in units of `scale`.

    Area between the two distribution functions, task by task, with the weights of `cells`; NaN where a side
    of a labelling has no value. `labellings` has a column for each cell.
    """
    weighted, weight = np.zeros((2, len(labellings), cells.values.shape[1]))
    for task in np.unique(cells.task):
        in_task = np.flatnonzero(cells.task == task)
        for column in range(cells.values.shape[1]):
            rows = in_task[~np.isnan(cells.values[in_task, column])]
            ascending = rows[np.argsort(cells.values[rows, column], kind="stable")]
            steps = np.diff(cells.values[ascending, column])
            labels = labellings[:, ascending].astype(float)
            first_size = labels.sum(axis=1)
            second_size = ascending.size - first_size
            ranks = np.arange(1, ascending.size + 1)
            first_below = np.cumsum(labels, axis=1)
            first_cdf = first_below / np.maximum(first_size, 1)[:, None]
            second_cdf = (ranks - first_below) / np.maximum(second_size, 1)[:, None]
            task_weight = first_size * second_size / max(ascending.size, 1)
            weighted[:, column] += task_weight * (np.abs(first_cdf - second_cdf)[:, :-1] @ steps)
            weight[:, column] += task_weight
    distance = np.full(weighted.shape, np.nan)
    np.divide(weighted, weight, out=distance, where=weight > 0)
    return np.where(np.isnan(distance), np.nan, distance / np.where(scale > 0, scale, 1.0))
