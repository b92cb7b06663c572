"""Whether the effect is the same in every task."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import f

from .cells import Floats


@dataclass(frozen=True)
class Heterogeneity:
    """How much effects differ between tasks; arrays with a column for each measure, NaN with fewer than two tasks."""

    share: Floats
    """I squared, 0 to 1: of the variance between tasks the share beyond chance (Higgins and Thompson 2002)."""
    p: Floats
    """Of Cochran's Q (1954), corrected for variances of few users (Welch 1951)."""


def heterogeneity(effects: Floats, variances: Floats, freedoms: Floats) -> Heterogeneity:
    """The heterogeneity of effects with these variances, task x measure; where one is missing the task is left out.

    The variances are known only as well as their degrees of freedom say, so Q is corrected and taken for an F (Welch
    1951). Users who stand in several tasks make tasks alike, so p is rather too large.
    """
    usable = ~np.isnan(effects) & ~np.isnan(variances)
    weight = np.where(usable, 1 / np.where(usable, variances, 1.0), 0.0)
    filled = np.where(usable, effects, 0.0)
    whole = np.maximum(weight.sum(axis=0), 1e-300)
    mean = (weight * filled).sum(axis=0) / whole
    q = (weight * np.square(filled - mean)).sum(axis=0)
    tasks = usable.sum(axis=0)
    freedom = tasks - 1
    share = np.where(q > 0, np.maximum(q - freedom, 0) / np.where(q > 0, q, 1.0), 0.0)
    unsure = np.where(usable, np.square(1 - weight / whole) / np.where(usable, np.maximum(freedoms, 1), 1.0), 0.0).sum(
        axis=0
    )
    several = np.maximum(freedom, 1)
    statistic = q / several / (1 + 2 * np.maximum(tasks - 2, 0) / (tasks**2 - 1).clip(1) * unsure)
    p = f.sf(statistic, several, np.maximum(tasks**2 - 1, 1) / np.maximum(3 * unsure, 1e-300))
    return Heterogeneity(np.where(freedom > 0, share, np.nan), np.where(freedom > 0, p, np.nan))
