"""Whether it matters who speaks: variance between users or profiles over variance within."""

from collections.abc import Sequence

import numpy as np

from .contrast import Floats, Ints
from .measures import Measure
from .numbers import Side
from .report import PersonaRow

FEWEST_REPEATS = 2
"""Users with two or more conversations that a side needs."""


def persona_rows(sim: Side, human: Side, measures: Sequence[Measure]) -> list[PersonaRow]:
    """A row for each measure: ICC(1) and F of both sides, within tasks, over users with two or more conversations."""
    sides = [(side, *_codes(side)) for side in (sim, human)]
    rows = []
    for column, measure in enumerate(measures):
        told = [between(side.values[:, column], user, task) for side, user, task in sides]
        missing = [name for name, one in zip(("simulated", "human"), told, strict=True) if one is None]
        (sim_icc, sim_ratio), (human_icc, human_ratio) = (one or (None, None) for one in told)
        reason = f"no repeats, or no variance, on the {' and the '.join(missing)} side" if missing else ""
        rows.append(
            PersonaRow(
                name=measure.name, sim=sim_icc, human=human_icc, sim_ratio=sim_ratio, human_ratio=human_ratio,
                reason=reason,
            )
        )  # fmt: skip
    return rows


def _codes(side: Side) -> tuple[Ints, Ints]:
    users = np.unique([speech.cluster for speech in side.speeches], return_inverse=True)[1].astype(np.int64)
    tasks = np.unique([speech.task for speech in side.speeches], return_inverse=True)[1].astype(np.int64)
    return users, tasks


def between(values: Floats, user: Ints, task: Ints) -> tuple[float, float] | None:
    """ICC(1) and F of one-way analysis of variance, of values less their task's mean; None without repeats.

    ICC(1) = (MSB - MSW) / (MSB + (k - 1) MSW), k being the mean number of conversations of a user, corrected for
    unequal numbers (Shrout and Fleiss 1979; Donner 1986).
    """
    there = ~np.isnan(values)
    values, user, task = values[there].copy(), user[there], task[there]
    for number in np.unique(task):
        values[task == number] -= values[task == number].mean()
    _, place, count = np.unique(user, return_inverse=True, return_counts=True)
    kept = count[place] > 1
    if (count > 1).sum() < FEWEST_REPEATS:
        return None
    values, place = values[kept], np.unique(place[kept], return_inverse=True)[1]
    size = np.bincount(place).astype(float)
    mean = np.bincount(place, values) / size
    groups, total = size.size, values.size
    within = float(((values - mean[place]) ** 2).sum() / (total - groups))
    among = float((size * (mean - values.mean()) ** 2).sum() / (groups - 1))
    k = float((total - (size**2).sum() / total) / (groups - 1))
    if within < 1e-12:
        return None
    return (among - within) / (among + (k - 1) * within), among / within
