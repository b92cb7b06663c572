"""The influence of the user: variance between users or profiles over variance within."""

from collections.abc import Sequence

import numpy as np

from ..over_users.resemblance import mean_squares
from .measures import Measure
from .report import PersonaRow
from .statistics.cells import Floats, Ints
from .statistics.samples import MeasuredUsers

FEWEST_REPEATS = 2
"""Users with two or more conversations that a side needs."""


def persona_rows(sim: MeasuredUsers, human: MeasuredUsers, measures: Sequence[Measure]) -> list[PersonaRow]:
    """A row for each measure: ICC(1) and F of both sides, within strata, over users with two or more conversations."""
    sides = {"simulated": (sim, *_codes(sim)), "human": (human, *_codes(human))}
    rows = []
    for column, measure in enumerate(measures):
        ratios = {
            name: icc_and_f(side.values[:, column], user, stratum) for name, (side, user, stratum) in sides.items()
        }
        missing = [name for name, ratio in ratios.items() if ratio is None]
        (sim_icc, sim_f), (human_icc, human_f) = (ratio or (None, None) for ratio in ratios.values())
        reason = f"no repeats, or no variance, on the {' and the '.join(missing)} side" if missing else ""
        rows.append(
            PersonaRow(
                name=measure.name, sim=sim_icc, human=human_icc, sim_ratio=sim_f, human_ratio=human_f, reason=reason
            )
        )
    return rows


def _codes(side: MeasuredUsers) -> tuple[Ints, Ints]:
    users = np.unique([transcript.cluster for transcript in side.transcripts], return_inverse=True)[1]
    strata = np.unique(side.strata, return_inverse=True)[1]
    return users.astype(np.int64), strata.astype(np.int64)


def icc_and_f(values: Floats, user: Ints, stratum: Ints) -> tuple[float, float] | None:
    """ICC(1) and F of one-way analysis of variance, of values less their stratum's mean; None without repeats.

    Users with one conversation are left out.
    """
    defined = ~np.isnan(values)
    values, user, stratum = values[defined].copy(), user[defined], stratum[defined]
    for number in np.unique(stratum):
        values[stratum == number] -= values[stratum == number].mean()
    _, group, count = np.unique(user, return_inverse=True, return_counts=True)
    repeated = count[group] > 1
    if (count > 1).sum() < FEWEST_REPEATS:
        return None
    values, group = values[repeated], np.unique(group[repeated], return_inverse=True)[1]
    size = np.bincount(group).astype(float)
    mean = np.bincount(group, values) / size
    groups, total = size.size, values.size
    within, between = float(((values - mean[group]) ** 2).sum()), float((size * (mean - values.mean()) ** 2).sum())
    squares = mean_squares(groups, total, float((size**2).sum()), between, within)
    if squares.within < 1e-12:
        return None
    return squares.correlation(), squares.between / squares.within
