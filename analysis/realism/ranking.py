"""The order of a report's rows, and the control of false discoveries over all of them."""

import math
from collections.abc import Sequence

from scipy.stats import false_discovery_control

from .records import LEVEL, RealismRow

PLACES = 2
"""Decimal places to which an excess over chance is compared."""


def ranked(rows: Sequence[RealismRow]) -> list[RealismRow]:
    """Least like people first, then what is set apart, then what could not be compared; p adjusted over all.

    The rank is made of the effect's excess over chance. So neither a small difference of many users nor a large one of
    few stands first merely by its number of users. Those that are equal to two places, such as measures in which every
    simulated user lies above every person, are ordered by their distance.
    """
    return sorted(with_adjusted_p(rows), key=lambda row: (row.excess is None, bool(row.apart), *_least_like(row)))


def _least_like(row: RealismRow) -> tuple[float, float, str]:
    return -round(_rank_value(row), PLACES), -(row.distance or 0.0), row.name


def _rank_value(row: RealismRow) -> float:
    """The effect's excess over chance; for an effect below chance its ratio to chance, less 1: -1 for no effect."""
    if row.excess is None or row.effect is None or not row.chance:
        return (row.excess or 0.0) or -1.0
    return row.excess if row.excess > 0 else abs(row.effect) / row.chance - 1


def with_adjusted_p(rows: Sequence[RealismRow]) -> list[RealismRow]:
    """The rows with adjusted p, each family of tests together.

    The families: all measures; all measures in all tasks.
    """
    of_rows = benjamini_hochberg([row.p for row in rows])
    of_tasks = iter(benjamini_hochberg([task.p for row in rows for task in row.tasks]))
    return [
        row.model_copy(
            update={
                "p_adjusted": p,
                "tasks": tuple(task.model_copy(update={"p_adjusted": next(of_tasks)}) for task in row.tasks),
            }
        )
        for row, p in zip(rows, of_rows, strict=True)
    ]


def levels_of(rows: Sequence[RealismRow]) -> list[float]:
    """For each row the p at which it counts after adjustment: a twentieth times (k + 1) / m.

    m is the number of rows with a p, k that of the other rows that are significant.
    """
    significant = [p is not None and p <= LEVEL for p in benjamini_hochberg([row.p for row in rows])]
    count = max(sum(row.p is not None for row in rows), 1)
    return [LEVEL * (sum(significant) - own + 1) / count for own in significant]


def benjamini_hochberg(values: Sequence[float | None]) -> list[float | None]:
    """The p values adjusted by Benjamini and Hochberg (1995), None without one."""
    defined = [value for value in values if value is not None and math.isfinite(value)]
    if not defined:
        return [None] * len(values)
    adjusted = iter(false_discovery_control(defined))
    return [None if value is None else float(next(adjusted)) for value in values]
