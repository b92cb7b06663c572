"""Within-user pair concordance: the share of pairs of one person's conversations with the same preference.

A tie of the scoring function counts one half. The value pools all pairs; the mean over users, each with the same
weight, stands beside it. The interval is over users, whose pairs go together (`analysis.over_users.means`).
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from ..over_users.concordance import Pair, preference
from ..over_users.means import UserSums
from ..over_users.rates import IntervalEstimate

Values = Sequence[float | None]
"""The rating of each rated conversation; None without one."""


class Concordance(IntervalEstimate):
    """The share of all pairs in which a scoring function or user prefers what the person preferred.

    No value without a pair; no interval over users with fewer than 10 of them, or if every pair is a tie.
    """

    by_user: float | None = None
    """Mean over users, each with the same weight."""
    pairs: int = 0
    users: int = 0


class Above(IntervalEstimate):
    """The difference of two concordances over the pairs that both have.

    The interval over users is Student's: none with fewer than 10 users, or if all are equal.
    """


def concordance(pairs: Sequence[Pair[str]], values: Values) -> Concordance:
    """How often `values` prefer the better conversation of a pair; pairs with a missing value are left out."""
    counts = [_prefers(pair, values) for pair in pairs]
    sums = _sums(pairs, counts)
    users = len(sums.items)
    if not users:
        return Concordance(value=None)
    tells = any(count not in (None, 0.5) for count in counts)
    low, high = sums.score_interval() if tells else (None, None)
    return Concordance(
        value=sums.mean,
        low=low,
        high=high,
        by_user=fmean(count / n for count, n in zip(sums.values, sums.items, strict=True)),
        pairs=sum(sums.items),
        users=users,
    )


def above(pairs: Sequence[Pair[str]], values: Values, others: Values) -> Above:
    """How much more often `values` prefer the better conversation than `others` do."""
    counts: list[float | None] = []
    for pair in pairs:
        one, other = _prefers(pair, values), _prefers(pair, others)
        counts.append(None if one is None or other is None else one - other)
    sums = _sums(pairs, counts)
    if not sums.items:
        return Above(value=None)
    low, high = sums.interval(-1.0, 1.0)
    return Above(value=sums.mean, low=low, high=high)


def _prefers(pair: Pair[str], values: Values) -> float | None:
    better, worse = values[pair.better], values[pair.worse]
    if better is None or worse is None:
        return None
    return preference(better, worse)


def _sums(pairs: Sequence[Pair[str]], counts: Sequence[float | None]) -> UserSums:
    by_user: dict[str, list[float]] = defaultdict(list)
    for pair, count in zip(pairs, counts, strict=True):
        if count is not None:
            by_user[pair.group].append(count)
    return UserSums(
        [math.fsum(counted) for counted in by_user.values()], [len(counted) for counted in by_user.values()]
    )
