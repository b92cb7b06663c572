"""Sample sizes for the difference of two assistants: power 0.8 at a two-sided level of 0.05.

Shared scenarios: the normal formula for one sample of differences, with Guenther's addition for Student's t ("Sample size
formulas for normal theory T tests", 1981). Shares of two samples: Fleiss, "Statistical Methods for Rates and Proportions"
(1981), section 3.2, formula 3.14, without the correction for continuity.
"""

from math import ceil, sqrt

from ..over_users.rates import Z

Z_POWER = 0.8416212335729143
"""Quantile of the normal distribution for a power of 0.8."""
FEWEST = 2
"""The smallest number that is given."""


def for_pairs(difference: float, variance: float) -> int:
    """Scenarios to detect a mean difference of this size, with its variance over scenarios.

    ValueError if the difference is 0.

    >>> for_pairs(0.5, 1.0)
    34
    """
    if difference == 0:
        raise ValueError("equal means cannot be distinguished")
    return max(FEWEST, ceil((Z + Z_POWER) ** 2 * variance / difference**2 + Z**2 / 2))


def for_shares(one: float, other: float) -> int:
    """Conversations with each assistant to detect a difference of shares; ValueError if they are equal.

    >>> for_shares(0.9, 0.5)
    20
    """
    if one == other:
        raise ValueError("equal shares cannot be distinguished")
    mean = (one + other) / 2
    root = Z * sqrt(2 * mean * (1 - mean)) + Z_POWER * sqrt(one * (1 - one) + other * (1 - other))
    return max(FEWEST, ceil(root**2 / (one - other) ** 2))
