"""Shares of successes: pass^k, and intervals that know that conversations about one scenario are alike.

`pass^k` is the chance that k conversations about one scenario all succeed ("tau-bench", Yao et al. 2024, section 3):
the mean over scenarios of C(c, k) / C(n, k) for c successes in n conversations.

The interval of the share is Wilson's score interval with an effective number of conversations, n / deff, because
conversations about one scenario are alike (Kish, "Survey Sampling", 1965; Dean and Pagano, "Evaluating Confidence
Interval Methods for Binomial Proportions in Clustered Surveys", 2015). deff = 1 + (m - 1) ICC, where m is the mean
number of conversations per scenario, weighted by that number (sum of squares / n), and ICC the intraclass correlation
by analysis of variance (Ridout, Demétrio and Firth, "Estimating Intraclass Correlation for Binary Data", 1999), cut to
0..1. ICC is 0 where nothing tells it: one scenario, one conversation each, or the same outcome everywhere.
"""

from collections.abc import Iterable, Sequence
from math import comb, sqrt

from ..data.records import Record

Z = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""


class Rate(Record):
    """A share with its interval of 95 %."""

    value: float
    low: float
    high: float


def pass_hat(counts: Iterable[tuple[int, int]]) -> dict[int, float]:
    """pass^k by k, from successes and conversations of each scenario; k up to the fewest conversations of one."""
    given = list(counts)
    most = min((total for _, total in given), default=0)
    return {
        k: sum(comb(reached, k) / comb(total, k) for reached, total in given) / len(given) for k in range(1, most + 1)
    }


def clustered(counts: Sequence[tuple[int, int]]) -> Rate:
    """The share of successes over all scenarios, from successes and conversations of each, with its interval."""
    reached, total = sum(count for count, _ in counts), sum(size for _, size in counts)
    weighted = sum(size * size for _, size in counts) / total
    return wilson(reached / total, total / (1 + (weighted - 1) * intraclass(counts)))


def intraclass(counts: Sequence[tuple[int, int]]) -> float:
    """The intraclass correlation of successes within scenarios by analysis of variance, from 0 to 1."""
    groups, total = len(counts), sum(size for _, size in counts)
    if groups < 2 or total == groups:
        return 0.0
    share = sum(reached for reached, _ in counts) / total
    between = sum(size * (reached / size - share) ** 2 for reached, size in counts) / (groups - 1)
    within = sum(reached * (size - reached) / size for reached, size in counts) / (total - groups)
    typical = (total - sum(size * size for _, size in counts) / total) / (groups - 1)
    spread = between + (typical - 1) * within
    return min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0


def wilson(share: float, total: float) -> Rate:
    """A share of (effectively) `total` trials with Wilson's score interval of 95 %, which holds for few trials and
    for shares near 0 and 1."""
    centre = (share + Z * Z / (2 * total)) / (1 + Z * Z / total)
    half = Z * sqrt(share * (1 - share) / total + Z * Z / (4 * total * total)) / (1 + Z * Z / total)
    return Rate(value=share, low=max(0.0, centre - half), high=min(1.0, centre + half))
