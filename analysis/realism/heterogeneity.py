"""Whether the effect is the same in every task."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from .cells import Floats


@dataclass(frozen=True)
class Heterogeneity:
    """How much effects differ between tasks; arrays with a column for each measure, NaN with fewer than two tasks."""

    share: Floats
    """I squared, 0 to 1: of the variance between tasks the share that is no chance (Higgins and Thompson 2002)."""
    p: Floats
    """Of Cochran's Q (1954)."""


def heterogeneity(effects: Floats, variances: Floats) -> Heterogeneity:
    """The heterogeneity of effects with these variances, task x measure; where one is missing the task is left out.

    Users who stand in several tasks make tasks alike, so p is too large rather than too small.
    """
    known = ~np.isnan(effects) & ~np.isnan(variances)
    weight = np.where(known, 1 / np.where(known, variances, 1.0), 0.0)
    filled = np.where(known, effects, 0.0)
    mean = (weight * filled).sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
    q = (weight * np.square(filled - mean)).sum(axis=0)
    freedom = known.sum(axis=0) - 1
    share = np.where(q > 0, np.maximum(q - freedom, 0) / np.where(q > 0, q, 1.0), 0.0)
    p = chi2.sf(q, np.maximum(freedom, 1))
    return Heterogeneity(np.where(freedom > 0, share, np.nan), np.where(freedom > 0, p, np.nan))
