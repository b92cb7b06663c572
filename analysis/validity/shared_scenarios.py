"""The difference of two shares over scenarios that both assistants met, with an interval for few scenarios.

Bonett and Price's adjusted interval for paired shares ("Adjusted Wald confidence interval for a difference of binomial
proportions based on paired data", 2012). Its number of pairs is an effective one, as Korn and Graubard have it for one
share (1998). It is the number that has the variance of the scenarios' differences. Repeats of a scenario are averaged,
so what makes a scenario hard for both assistants does not count.

The variance is that of few scenarios where only few have different outcomes. So its ratio to that of single pairs is
drawn towards 1 by one scenario, against the number of scenarios in which outcomes differ.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import fmean, variance

from ...data.records import Record
from ..over_users.rates import Z

PairCounts = tuple[int, int]
"""Successes and conversations of a scenario."""


class PairedShares(Record):
    """Two shares over the same scenarios, each scenario with the same weight."""

    reference: float
    value: float
    low: float
    """Lower end of the 95 % interval of `value - reference`, at least -1."""
    high: float
    variance: float
    """Of a scenario's difference, by the interval."""


def paired_shares(counts: Sequence[tuple[PairCounts, PairCounts]]) -> PairedShares:
    """The shares of both assistants, from their counts in each scenario; ValueError without a scenario."""
    if not counts:
        raise ValueError("no scenario is shared: compare the shares as those of two samples")
    scenarios = len(counts)
    shares = [(one[0] / one[1], other[0] / other[1]) for one, other in counts]
    gained = [other * (1 - one) for one, other in shares]
    lost = [one * (1 - other) for one, other in shares]
    pairs = scenarios / _ratio(shares, gained, lost, sum(min(one[1], other[1]) for one, other in counts))
    up, down = ((pairs * fmean(values) + 1) / (pairs + 2) for values in (gained, lost))
    of_mean = (up + down - (up - down) ** 2) / (pairs + 2)
    half = Z * sqrt(of_mean)
    return PairedShares(
        reference=fmean(one for one, _ in shares),
        value=fmean(other for _, other in shares),
        low=max(-1.0, up - down - half),
        high=min(1.0, up - down + half),
        variance=scenarios * of_mean,
    )


def _ratio(
    shares: Sequence[tuple[float, float]], gained: Sequence[float], lost: Sequence[float], conversations: int
) -> float:
    """The variance of a scenario's difference over that of one pair of conversations, at most that of single pairs."""
    differences = [other - one for one, other in shares]
    of_one_pair = fmean(gained) + fmean(lost) - fmean(differences) ** 2
    if len(shares) < 2 or of_one_pair <= 0:
        return 1.0
    ratio = min(1.0, max(variance(differences) / of_one_pair, len(shares) / conversations))
    differing = sum(fsum(both) > 0 for both in zip(gained, lost, strict=True))
    return (differing * ratio + 1) / (differing + 1)
