"""Whether it matters who speaks: variance between users or profiles over variance within."""

from collections.abc import Sequence

import numpy as np

from .cells import Floats, Ints
from .measures import Measure
from .report import PersonaRow
from .samples import Sample

FEWEST_REPEATS = 2
"""Users with two or more conversations that a side needs."""


def persona_rows(sim: Sample, human: Sample, measures: Sequence[Measure]) -> list[PersonaRow]:
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


def _codes(side: Sample) -> tuple[Ints, Ints]:
    users = np.unique([transcript.cluster for transcript in side.transcripts], return_inverse=True)[1]
    strata = np.unique(side.strata, return_inverse=True)[1]
    return users.astype(np.int64), strata.astype(np.int64)


def icc_and_f(values: Floats, user: Ints, stratum: Ints) -> tuple[float, float] | None:
    """ICC(1) and F of one-way analysis of variance, of values less their stratum's mean; None without repeats.

    ICC(1) = (MSB - MSW) / (MSB + (k - 1) MSW), k being the mean number of conversations of a user, corrected for
    unequal numbers (Shrout and Fleiss 1979; Donner 1986).
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
    within = float(((values - mean[group]) ** 2).sum() / (total - groups))
    between = float((size * (mean - values.mean()) ** 2).sum() / (groups - 1))
    k = float((total - (size**2).sum() / total) / (groups - 1))
    if within < 1e-12:
        return None
    return (between - within) / (between + (k - 1) * within), between / within
