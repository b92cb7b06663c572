"""Within-user pair concordance: of the pairs of one person's conversations, how often a tester prefers the same one.

A tie of the tester counts one half. The value pools all pairs; the mean over users, each with the same weight, stands
beside it. The interval is over users, whose pairs go together: the pooled share is a ratio of sums over users, with its
linearised variance (Cochran, "Sampling Techniques", 1977, section 6.4), in Wilson's form with Student's quantile and the
number of independent pairs that has this variance (Korn and Graubard 1998), so that it stays within 0 and 1.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ...data.records import Record
from ...errors import of_extra
from ..comparison import FEWEST_IN_INTERVAL
from ..concordance import Pair, preference

Values = Sequence[float | None]
"""What a tester says of each rated conversation; None where it says nothing."""


class Concordance(Record):
    """How often a tester prefers what the person preferred."""

    value: float | None
    """Over all pairs, 0 to 1; None without a pair."""
    low: float | None = None
    """Lower end of the 95 % interval over users; None with fewer than 10 users, or if every pair is a tie."""
    high: float | None = None
    by_user: float | None = None
    """Mean over users, each with the same weight."""
    pairs: int = 0
    users: int = 0


class Above(Record):
    """The difference of two concordances over the pairs that both have."""

    value: float | None
    low: float | None = None
    """Lower end of the 95 % interval over users, by Student's t; None with fewer than 10 users."""
    high: float | None = None


@dataclass(frozen=True)
class _Sums:
    """Of each user the sum of what the pairs count, and the number of pairs."""

    counted: list[float]
    pairs: list[int]

    @property
    def share(self) -> float:
        return sum(self.counted) / sum(self.pairs)

    def variance(self) -> float:
        """Of the share, by the users."""
        users = len(self.pairs)
        deviations = (count - self.share * n for count, n in zip(self.counted, self.pairs, strict=True))
        return users / (users - 1) * math.fsum(each * each for each in deviations) / sum(self.pairs) ** 2


def concordance(pairs: Sequence[Pair[str]], values: Values) -> Concordance:
    """How often `values` prefer the better conversation of a pair; pairs with a missing value are left out."""
    counts = [_prefers(pair, values) for pair in pairs]
    sums = _sums(pairs, counts)
    users = len(sums.pairs)
    if not users:
        return Concordance(value=None)
    tells = any(count not in (None, 0.5) for count in counts)
    low, high = _interval(sums) if tells and users >= FEWEST_IN_INTERVAL else (None, None)
    return Concordance(
        value=sums.share,
        low=low,
        high=high,
        by_user=fmean(count / n for count, n in zip(sums.counted, sums.pairs, strict=True)),
        pairs=sum(sums.pairs),
        users=users,
    )


def above(pairs: Sequence[Pair[str]], values: Values, others: Values) -> Above:
    """How much more often `values` prefer the better conversation than `others` do."""
    counts: list[float | None] = []
    for pair in pairs:
        one, other = _prefers(pair, values), _prefers(pair, others)
        counts.append(None if one is None or other is None else one - other)
    sums = _sums(pairs, counts)
    users = len(sums.pairs)
    if not users:
        return Above(value=None)
    if users < FEWEST_IN_INTERVAL:
        return Above(value=sums.share)
    half = _quantile(users) * math.sqrt(sums.variance())
    return Above(value=sums.share, low=max(-1.0, sums.share - half), high=min(1.0, sums.share + half))


def _prefers(pair: Pair[str], values: Values) -> float | None:
    better, worse = values[pair.better], values[pair.worse]
    if better is None or worse is None:
        return None
    return preference(better, worse)


def _sums(pairs: Sequence[Pair[str]], counts: Sequence[float | None]) -> _Sums:
    by_user: dict[str, list[float]] = defaultdict(list)
    for pair, count in zip(pairs, counts, strict=True):
        if count is not None:
            by_user[pair.group].append(count)
    return _Sums([math.fsum(counted) for counted in by_user.values()], [len(counted) for counted in by_user.values()])


def _interval(sums: _Sums) -> tuple[float, float]:
    share, users, quantile = sums.share, len(sums.pairs), _quantile(len(sums.pairs))
    variance = sums.variance()
    # Where all users agree, each is worth one pair: nothing tells how alike a user's pairs are.
    independent = share * (1 - share) / variance if variance > 0 and 0 < share < 1 else users
    total = min(float(sum(sums.pairs)), independent)
    centre = (share + quantile**2 / (2 * total)) / (1 + quantile**2 / total)
    half = quantile * math.sqrt(share * (1 - share) / total + quantile**2 / (4 * total**2)) / (1 + quantile**2 / total)
    return max(0.0, centre - half), min(1.0, centre + half)


def _quantile(users: int) -> float:
    return float(of_extra("scipy.stats", "stats").t.ppf(0.975, users - 1))
