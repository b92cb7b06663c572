"""How measures go together: which pairs are correlated, and how many measures that are not would vary like them."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ....data.records import Record
from .cells import TINY, Cells, Floats, Ints, rank_scores
from .strata import stratified

CORRELATED = 0.5
"""Size of a correlation from which on a pair of measures is listed."""


class Correlation(Record):
    """Two measures that carry much the same information about a user."""

    first: str
    second: str
    value: float
    """Correlation of users' ranks within task and side, -1 to 1."""


def effective_number(cells: Cells, columns: Sequence[int]) -> float | None:
    """How many uncorrelated measures would vary as the chosen ones do; None with fewer than two that vary.

    M squared over the sum of their squared correlations.
    """
    of_columns, _ = _correlations(cells, columns)
    if len(of_columns) < 2:
        return None
    return float(len(of_columns) ** 2 / np.square(of_columns).sum())


def correlated_pairs(cells: Cells, columns: Sequence[int], names: Sequence[str]) -> tuple[Correlation, ...]:
    """The pairs of the chosen measures with a correlation of at least `CORRELATED` in size, the largest first.

    `names` has the name of every column.
    """
    correlations, varying = _correlations(cells, columns)
    pairs = [
        Correlation(
            first=names[int(varying[one])], second=names[int(varying[other])], value=float(correlations[one, other])
        )
        for one, other in combinations(range(len(varying)), 2)
        if abs(correlations[one, other]) >= CORRELATED
    ]
    return tuple(sorted(pairs, key=lambda pair: (-abs(pair.value), pair.first, pair.second)))


def _correlations(cells: Cells, columns: Sequence[int]) -> tuple[Floats, Ints]:
    """Correlations of those of the chosen measures that vary, measure x measure; and their columns.

    Of users' ranks within task and side, so that the difference of the sides does not count. Where a user has no value
    of a measure, they are taken to be as others are.
    """
    chosen = np.array(list(columns), dtype=np.int64)
    deviations = stratified(cells, rank_scores(cells)).deviations[:, chosen]
    size = np.sqrt(np.square(deviations).sum(axis=0))
    varying = np.square(size) > TINY
    deviations, size = deviations[:, varying], size[varying]
    correlations: Floats = deviations.T @ deviations / np.outer(size, size)
    return correlations, chosen[varying]
