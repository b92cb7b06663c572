"""Means over users whose items go together: a ratio of sums over users, with its linearised variance.

The mean of one value for each user is the same with one item each.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .rates import effective_users, share_of_users, students, variance_of_ratio

FEWEST_IN_INTERVAL = 10
"""Users, or pairs, that an interval by Student's t needs: with fewer it rests on values being normal, which shares are not."""
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


def over_users(values: Sequence[float]) -> UserSums:
    """One value for each user."""
    return UserSums(values, [1] * len(values))
