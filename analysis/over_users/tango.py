"""Tango's score interval of a paired difference, with as many independent pairs as have the variance over scenarios.

Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample design", 1998.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from .rates import variance_of_ratio
from .student_quantile import students

PRIOR, FREEDOM = 1.0, 2
"""Pairs that a prior is worth in many scenarios, each of whose pairs all end alike; and degrees of freedom for each scenario
but one, as of `rates`. Few pairs that differ do not show how alike those of a scenario are. They are the least that cover
.94 everywhere in `tests/intervals`."""
HALVINGS = 48


class PairSpread(NamedTuple):
    """How much pairs of several scenarios differ."""

    gains: float
    """Mean over scenarios of what pairs win, 0 to 1; of successes the share of pairs that only the new version solves."""
    losses: float
    """The same of what pairs lose."""
    pairs: float
    """Number of independent pairs whose mean difference would vary as much."""
    scenarios: int

    @classmethod
    def of(cls, changes: Sequence[Sequence[float]], most: float) -> "PairSpread":
        """Of the differences of each scenario's pairs, -1 to 1; there are two scenarios or more.

        `most`: pairs that can be independent.
        """
        number = len(changes)
        gains, losses = (fmean(fmean(max(sign * one, 0.0) for one in own) for own in changes) for sign in (1, -1))
        variance = variance_of_ratio([fmean(own) for own in changes], [1] * number)
        prior = PRIOR * max(number - 5, 1.5) / number**2
        worth = (gains + losses - (gains - losses) ** 2 + prior) / (variance + prior / (number - 1))
        return cls(gains, losses, min(worth, most), number)

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean difference."""
        return score_interval(self.gains, self.losses, self.pairs, students(FREEDOM * (self.scenarios - 1)))


def variance_at(difference: float, gains: float, losses: float) -> float:
    """The variance of one pair's difference if its mean is `difference`.

    With gains g and losses l seen, the likeliest loss q if the mean is t solves
    2 q^2 + ((2 - g + l) t - g - l) q - l t (1 - t) = 0.
    """
    slope = (2 - gains + losses) * difference - gains - losses
    root = sqrt(max(0.0, slope * slope + 8 * losses * difference * (1 - difference)))
    lost = max((root - slope) / 4, -difference, 0.0)
    return max(2 * lost + difference - difference * difference, 0.0)


def score_interval(gains: float, losses: float, pairs: float, quantile: float) -> tuple[float, float]:
    """The differences t with (gains - losses - t)^2 <= quantile^2 V(t) / pairs."""
    seen = gains - losses

    def end(inside: float, outside: float) -> float:
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            holds = (seen - middle) ** 2 <= quantile * quantile * variance_at(middle, gains, losses) / pairs
            inside, outside = (middle, outside) if holds else (inside, middle)
        return inside

    return end(seen, -1.0), end(seen, 1.0)
