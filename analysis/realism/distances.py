"""How far apart two distributions are: Wasserstein's distance for numbers, Jensen and Shannon's for categories."""

import numpy as np

from .contrast import Bools, Cells, Floats


def spread(cells: Cells) -> Floats:
    """For each measure people's standard deviation within tasks; where they have none, that of both sides."""
    people, both = _within(cells.values, cells.task, ~cells.simulated), _within(cells.values, cells.task)
    return np.where(people > 0, people, both)


def _within(values: Floats, task: np.ndarray, rows: Bools | None = None) -> Floats:
    chosen = np.ones(len(values), dtype=bool) if rows is None else rows
    squares, count, tasks = np.zeros(values.shape[1]), np.zeros(values.shape[1]), np.zeros(values.shape[1])
    for number in np.unique(task):
        own = values[chosen & (task == number)]
        there = ~np.isnan(own)
        size = there.sum(axis=0)
        mean = np.where(there, own, 0.0).sum(axis=0) / np.maximum(size, 1)
        squares += np.where(there, own - mean, 0.0).__pow__(2).sum(axis=0)
        count += size
        tasks += size > 0
    result: Floats = np.sqrt(squares / np.maximum(count - tasks, 1))
    return np.where(result > 1e-12, result, 0.0)


def wasserstein(cells: Cells, labellings: Bools, scale: Floats) -> Floats:
    """Labelling x measure: the distance of the cells labelled True from the others, in units of `scale`.

    Area between the two distribution functions, task by task, with the weights of `contrast`; NaN where a side
    of a labelling has no value. `labellings` has a column for each cell.
    """
    distance, weight = np.zeros((2, len(labellings), cells.values.shape[1]))
    for task in np.unique(cells.task):
        rows = np.flatnonzero(cells.task == task)
        for column in range(cells.values.shape[1]):
            own = rows[~np.isnan(cells.values[rows, column])]
            order = own[np.argsort(cells.values[own, column], kind="stable")]
            gaps = np.diff(cells.values[order, column])
            labels = labellings[:, order].astype(float)
            ones = labels.sum(axis=1)
            others = order.size - ones
            upto = np.arange(1, order.size + 1)
            first = np.cumsum(labels, axis=1)
            apart = np.abs(first / np.maximum(ones, 1)[:, None] - (upto - first) / np.maximum(others, 1)[:, None])
            here = ones * others / max(order.size, 1)
            distance[:, column] += here * (apart[:, :-1] @ gaps)
            weight[:, column] += here
    result = np.full(distance.shape, np.nan)
    np.divide(distance, weight, out=result, where=weight > 0)
    return np.where(np.isnan(result), np.nan, result / np.where(scale > 0, scale, 1.0))
