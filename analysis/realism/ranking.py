"""The order of a report's rows, and the control of false discoveries over all of them."""

import math
from collections.abc import Sequence

from scipy.stats import false_discovery_control

from .report import Row

PLACES = 2
"""Decimal places of an excess that chance leaves."""


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Least like people first, then what is set apart, then what could not be compared; p controlled over all.

    The rank is made of the effect's excess over chance, so that neither a small difference of many users nor a
    large one of few stands first by its number of users alone. Those that are equal to two places, such as measures
    in which every simulated user lies above every person, are ordered by their distance.
    """
    return sorted(controlled(rows), key=lambda row: (row.excess is None, bool(row.apart), *_least_like(row)))


def _least_like(row: Row) -> tuple[float, float, str]:
    return -round(_beyond(row), PLACES), -(row.distance or 0.0), row.name


def _beyond(row: Row) -> float:
    """What the effect exceeds chance by; below chance, its share of it less 1, so that no effect is last."""
    if row.excess is None or row.effect is None or not row.chance:
        return (row.excess or 0.0) or -1.0
    return row.excess if row.excess > 0 else abs(row.effect) / row.chance - 1


def controlled(rows: Sequence[Row]) -> list[Row]:
    """The rows with the p of all measures adjusted together, and the p of all measures in all tasks."""
    whole = adjusted([row.p for row in rows])
    parts = iter(adjusted([task.p for row in rows for task in row.tasks]))
    return [
        row.model_copy(
            update={
                "p_adjusted": p,
                "tasks": tuple(task.model_copy(update={"p_adjusted": next(parts)}) for task in row.tasks),
            }
        )
        for row, p in zip(rows, whole, strict=True)
    ]


def adjusted(values: Sequence[float | None]) -> list[float | None]:
    """The p values after Benjamini and Hochberg (1995), None where there is none."""
    told = [value for value in values if value is not None and math.isfinite(value)]
    if not told:
        return [None] * len(values)
    found = iter(false_discovery_control(told))
    return [None if value is None else float(next(found)) for value in values]
