"""Means over users whose items go together: a ratio of sums over users, with its linearised variance.

The mean of one value for each user is the same with one item each.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .rates import effective_users, share_of_users, variance_of_ratio
from .student_quantile import students

FEWEST_IN_INTERVAL = 10
"""Users, or pairs, that an interval by Student's t needs: with fewer it rests on values being normal, which shares are not."""
FAR, PRIOR_NEAR, FREEDOM_NEAR = 1.5, 0.5, 2
"""Standard deviations of the users from 0 and 1 from which on Student's interval holds; and, nearer, prior and degrees of
freedom of the score form, where a few users lie far above all others (`tests/intervals`)."""
TINY = 1e-20
"""A variance below which all values are equal but for rounding."""


@dataclass(frozen=True)
class UserSums:
    """Of each user the sum of the items' values, and the number of items."""

    values: Sequence[float]
    items: Sequence[int]

    @property
    def mean(self) -> float:
        """The mean over all items."""
        return math.fsum(self.values) / sum(self.items)

    @property
    def worth(self) -> float:
        """Number of users with equal items that would weigh like these."""
        return float(effective_users(self.items))

    def variance(self) -> float:
        """Of the mean, by the users."""
        return variance_of_ratio(self.values, self.items)

    def interval(self, least: float = -math.inf, most: float = math.inf) -> tuple[float, float] | tuple[None, None]:
        """The 95 % interval of the mean by Student's t, cut to the scale.

        Two None with fewer than 10 users, or where all are equal: then nothing tells how much users vary.
        """
        users = len(self.items)
        if users < FEWEST_IN_INTERVAL or (variance := self.variance()) < TINY:
            return None, None
        mean, half = self.mean, students(max(self.worth - 1, 1.0)) * math.sqrt(variance)
        return max(least, mean - half), min(most, mean + half)

    def score_interval(self) -> tuple[float, float] | tuple[None, None]:
        """The same for a share, of the score form, so that it stays within 0 and 1."""
        if len(self.items) < FEWEST_IN_INTERVAL:
            return None, None
        rate = share_of_users(self.mean, self.variance(), self.items)
        return rate.low, rate.high

    def scale_interval(self) -> tuple[float, float] | tuple[None, None]:
        """The same for values from 0 to 1: Student's, or where they lie near an end of the score form.

        There few users may be far above all others, and Student's covers .5 to .9. Two None only with fewer than 10 users.
        """
        if len(self.items) < FEWEST_IN_INTERVAL:
            return None, None
        mean, variance = self.mean, self.variance()
        if min(mean, 1 - mean) >= FAR * math.sqrt(variance * self.worth) > 0:
            return self.interval(0.0, 1.0)
        rate = share_of_users(mean, variance, self.items, PRIOR_NEAR, FREEDOM_NEAR, counts=False)
        return rate.low, rate.high


def over_users(values: Sequence[float]) -> UserSums:
    """One value for each user."""
    return UserSums(values, [1] * len(values))
