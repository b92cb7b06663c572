"""Tango's score interval of a paired difference, with as many independent pairs as have the variance over scenarios.

Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample design", 1998.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from typing import NamedTuple

from .rates import variance_of_ratio
from .student_quantile import students

PRIOR, FREEDOM, FREEDOM_OF_ONE = 0.75, 2, 8
"""Pairs that a prior is worth in many scenarios, each of whose pairs all end alike: few pairs that differ do not show how
alike those of a scenario are. And degrees of freedom for each scenario but one, as of `rates`: with one pair of each, pairs
need no estimate of how alike they are."""
SHARE = 0.9775
"""Student's quantile, for 95.5 %: with these four numbers the interval covers .94 or more everywhere in `tests/intervals`."""
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
    most: float
    """Pairs that can be independent: of successes as many as there are."""

    @classmethod
    def of(cls, changes: Sequence[Sequence[float]], most: float) -> "PairSpread":
        """Of the differences of each scenario's pairs, -1 to 1; there are two scenarios or more."""
        number = len(changes)
        means = [fsum(own) / len(own) for own in changes]
        mean, size = fsum(means) / number, fsum(fsum(map(abs, own)) / len(own) for own in changes) / number
        variance = variance_of_ratio(means, [1] * number)
        prior = PRIOR * max(number - 5, 1.5) / number**2
        worth = (size - mean**2 + prior) / (variance + prior / (number - 1))
        gains, losses = max(size + mean, 0.0) / 2, max(size - mean, 0.0) / 2
        return cls(gains, losses, min(worth, most), number, most)

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean difference.

        Where no pair differs it is that of one pair of each scenario: more of them tell no less.
        """
        alone = self.most <= self.scenarios or not self.gains + self.losses
        freedom = (FREEDOM_OF_ONE if alone else FREEDOM) * (self.scenarios - 1)
        return score_interval(self.gains, self.losses, self.pairs, students(freedom, SHARE))


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
