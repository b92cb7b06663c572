"""How alike two groupings of the same things are, beyond what chance makes alike."""

from collections import Counter
from collections.abc import Hashable, Iterable
from math import comb


def adjusted_rand(pairs: Iterable[tuple[Hashable, Hashable]]) -> float:
    """The adjusted Rand index, at most 1: each pair is a thing's group in both groupings.

    Hubert and Arabie (1985), "Comparing partitions", equation 5.
    """
    both = Counter(pairs)
    together = sum(comb(count, 2) for count in both.values())
    sums: list[int] = []
    for side in (0, 1):
        counts: Counter[Hashable] = Counter()
        for pair, count in both.items():
            counts[pair[side]] += count
        sums.append(sum(comb(count, 2) for count in counts.values()))
    expected = sums[0] * sums[1] / comb(both.total(), 2)
    return (together - expected) / ((sums[0] + sums[1]) / 2 - expected)
