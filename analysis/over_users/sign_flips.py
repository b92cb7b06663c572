"""The sign-flip test: whether paired differences are centred on 0 (Fisher, "The Design of Experiments", 1935, section 21).

If both versions are alike, each scenario's difference is as likely with the other sign. So p is the share of all
combinations of signs whose sum lies at least as far from 0 as the observed one. This needs no distribution.
"""

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import shake_256
from math import fsum

from ...data.identity import digest

MOST_LISTED, DRAWS = 20, 100_000
"""Differences of which every combination of signs is counted; and how many combinations are drawn of more."""
MOST_STEPS = 200_000
"""Sum of whole differences up to which every combination is counted, however many there are."""
EVEN = 1e-9
"""Of the sum of all differences: sums that are nearer to each other are equal but for rounding."""


def sign_flip_p(differences: Sequence[float]) -> float:
    """The two-sided p of differences, one of each scenario; those of 0 do not matter.

    It is exact for up to 20 differences, and for whole numbers (as of counts) whose sum is up to 200,000. Else it comes
    from 100,000 draws by a digest, with the observed signs as one draw (Phipson and Smyth, "Permutation P-values Should
    Never Be Zero", 2010).
    """
    # Sorted, so that the order of scenarios does not change what is drawn.
    sizes = sorted(abs(one) for one in differences if one)
    observed, total = abs(fsum(differences)), fsum(sizes)
    limit = (total - observed) / 2 + EVEN * total
    if observed <= EVEN * total:
        return 1.0
    if total <= MOST_STEPS and all(float(size).is_integer() for size in sizes):
        few = _ways_of_steps([int(size) for size in sizes], int(limit))
    elif len(sizes) <= MOST_LISTED:
        few = _ways_of_halves(sizes, limit)
    else:
        return (1 + _drawn(sizes, observed - 2 * EVEN * total)) / (1 + DRAWS)
    return min(1.0, few / 2.0 ** (len(sizes) - 1))


def _ways_of_steps(sizes: Sequence[int], limit: int) -> int:
    """How many subsets of whole numbers have a sum up to `limit`.

    The product of 1 + x^size counts the subsets of each sum; a power of two as x keeps the counts apart in one number.
    """
    width = len(sizes) + 1
    mask, ways = (1 << width * (limit + 1)) - 1, 1
    for size in sizes:
        ways = (ways + (ways << width * size)) & mask
    return ways % ((1 << width) - 1)


def _ways_of_halves(sizes: Sequence[float], limit: float) -> int:
    """The same of any numbers: each sum of one half is matched with sums of the other."""
    one, other = (_subset_sums(sizes[start::2]) for start in (0, 1))
    other.sort()
    return sum(bisect_right(other, limit - part) for part in one)


def _drawn(sizes: Sequence[float], limit: float) -> int:
    """How many of the drawn combinations of signs have a sum at least so far from 0.

    A byte draws eight signs at a time.
    """
    eights = [[*sizes[start : start + 8], *[0.0] * 8][:8] for start in range(0, len(sizes), 8)]
    tables = [[2 * part - fsum(eight) for part in _subset_sums(eight)] for eight in eights]
    width = len(tables)
    signs = shake_256(digest("sign flips", len(sizes)).encode("ascii")).digest(DRAWS * width)
    parts = (map(table.__getitem__, signs[place::width]) for place, table in enumerate(tables))
    return sum(abs(one) >= limit for one in map(sum, zip(*parts, strict=True)))


def _subset_sums(sizes: Sequence[float]) -> list[float]:
    sums = [0.0]
    for size in sizes:
        sums += [one + size for one in sums]
    return sums
