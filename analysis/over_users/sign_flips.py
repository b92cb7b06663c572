"""The sign-flip test: whether paired differences are centred on 0 (Fisher, "The Design of Experiments", 1935, section 21).

If both versions are alike, each scenario's difference is as likely with the other sign. So p is the share of all
combinations of signs whose sum lies farther from 0 than the observed one, and of half of those whose sum lies as far. This
needs no distribution.

Half of the equal ones makes it the mid-p (Lancaster, "Significance Tests in Discrete Distributions", 1961). With all of
them p is too large where few pairs differ: at most .031 of comparisons of equal versions, with one pair of each of 60
scenarios, have a p below .05. (Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs
data: mid-p and asymptotic are better than exact conditional", 2013)
"""

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import shake_256
from math import fsum

from ...data.identity import digest

MOST_LISTED, DRAWS = 20, 100_000
"""Differences of which every combination of signs is counted; and how many combinations are drawn of more."""
WHOLE_UP_TO = 6
"""Differences of which all equal sums count: with half of them, five or six would be called different in .0625."""
MOST_STEPS = 200_000
"""Sum of whole differences up to which every combination is counted, however many there are."""
EVEN = 1e-9
"""Of the sum of all differences: sums that are nearer to each other are equal but for rounding."""


def sign_flip_p(differences: Sequence[float]) -> float:
    """The two-sided mid-p of differences, one of each scenario; those of 0 do not matter.

    Of up to six differences it is the usual p, which counts all equal sums. Every combination of signs counts for up to 20
    differences, and for whole numbers (as of counts) whose sum is up to 200,000. Else 100,000 are drawn by a digest, with
    the observed signs as one draw (Phipson and Smyth, "Permutation P-values Should Never Be Zero", 2010).
    """
    # Sorted, so that the order of scenarios does not change what is drawn.
    sizes = sorted(abs(one) for one in differences if one)
    observed, total = abs(fsum(differences)), fsum(sizes)
    if observed <= EVEN * total:
        return 1.0
    if total <= MOST_STEPS and all(float(size).is_integer() for size in sizes):
        beyond, equal = _ways_of_steps([int(size) for size in sizes], int((total - observed) / 2 + EVEN * total))
    elif len(sizes) <= MOST_LISTED:
        beyond, equal = _ways_of_halves(sizes, (total - observed) / 2, EVEN * total)
    else:
        beyond, equal = _drawn(sizes, observed, 2 * EVEN * total)
        return (beyond + (1 + equal) / 2) / (1 + DRAWS)
    few = beyond + equal / (1 if len(sizes) <= WHOLE_UP_TO else 2)
    return min(1.0, few / 2.0 ** (len(sizes) - 1))


def _ways_of_steps(sizes: Sequence[int], limit: int) -> tuple[int, int]:
    """How many subsets of whole numbers have a sum below `limit`, and how many one that is equal.

    The product of 1 + x^size counts the subsets of each sum; a power of two as x keeps the counts apart in one number.
    """
    width = len(sizes) + 1
    mask, ways = (1 << width * (limit + 1)) - 1, 1
    for size in sizes:
        ways = (ways + (ways << width * size)) & mask
    equal = ways >> width * limit
    return ways % ((1 << width) - 1) - equal, equal


def _ways_of_halves(sizes: Sequence[float], limit: float, even: float) -> tuple[int, int]:
    """The same of any numbers, equal within `even`: each sum of one half is matched with sums of the other."""
    one, other = (_subset_sums(sizes[start::2]) for start in (0, 1))
    other.sort()
    below, most = (sum(bisect_right(other, end - part) for part in one) for end in (limit - even, limit + even))
    return below, most - below


def _drawn(sizes: Sequence[float], limit: float, even: float) -> tuple[int, int]:
    """Drawn combinations of signs whose sum lies farther from 0 than `limit`, and those whose sum lies as far.

    A byte draws eight signs at a time.
    """
    eights = [[*sizes[start : start + 8], *[0.0] * 8][:8] for start in range(0, len(sizes), 8)]
    tables = [[2 * part - fsum(eight) for part in _subset_sums(eight)] for eight in eights]
    width = len(tables)
    signs = shake_256(digest("sign flips", len(sizes)).encode("ascii")).digest(DRAWS * width)
    parts = (map(table.__getitem__, signs[place::width]) for place, table in enumerate(tables))
    sums = [abs(one) for one in map(sum, zip(*parts, strict=True))]
    beyond = sum(one > limit + even for one in sums)
    return beyond, sum(one >= limit - even for one in sums) - beyond


def _subset_sums(sizes: Sequence[float]) -> list[float]:
    sums = [0.0]
    for size in sizes:
        sums += [one + size for one in sums]
    return sums
