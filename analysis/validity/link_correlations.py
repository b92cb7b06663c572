"""Rank correlations over users between realism and usefulness, with a bootstrap and a shuffled control."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np

from ..over_users.estimate import FloatArray
from .link_outcomes import KnownPair, UserOutcomes

Usefulness: TypeAlias = Literal["agreement", "size", "faults"]
USEFULNESS: tuple[Usefulness, ...] = get_args(Usefulness)
"""(a) Share of known pairs in their order, (b) mean difference of neighbours, (c) share without a user fault."""

FEWEST_USERS = 5
"""Users that a rank correlation needs."""


@dataclass(frozen=True)
class DomainScores:
    """The differences that users make between assistants of known order, in one domain."""

    domain: str
    users: tuple[str, ...]
    assistants: tuple[str, ...]
    pairs: tuple[KnownPair, ...]
    orders: FloatArray
    """User x pair: 1 in the known order, 0.5 without a difference, 0 in the other order; NaN where unknown."""
    differences: FloatArray
    """User x pair."""
    faultless: FloatArray
    """User: share of conversations without a user fault."""

    @classmethod
    def of(cls, outcomes: Sequence[UserOutcomes], pairs: Sequence[KnownPair]) -> "DomainScores":
        """The scores of users in one domain."""
        names = tuple(dict.fromkeys(name for pair in pairs for name in (pair.better, pair.worse)))
        orders = [[one.order_score(pair) for pair in pairs] for one in outcomes]
        differences = [[one.difference(pair) for pair in pairs] for one in outcomes]
        faults = [one.faults for one in outcomes]
        return cls(
            outcomes[0].domain,
            tuple(one.user for one in outcomes),
            names,
            tuple(pairs),
            np.array(orders, dtype=float).reshape(len(outcomes), len(pairs)),
            np.array(differences, dtype=float).reshape(len(outcomes), len(pairs)),
            1 - np.array(faults, dtype=float),
        )

    def of_users(self, chosen: Collection[str]) -> "DomainScores":
        """The scores of these users only."""
        places = [number for number, user in enumerate(self.users) if user in chosen]
        return replace(
            self,
            users=tuple(self.users[place] for place in places),
            orders=self.orders[places],
            differences=self.differences[places],
            faultless=self.faultless[places],
        )

    @cached_property
    def _ends(self) -> tuple[list[int], list[int]]:
        place = {name: number for number, name in enumerate(self.assistants)}
        return [place[pair.better] for pair in self.pairs], [place[pair.worse] for pair in self.pairs]

    def values(self, usefulness: Usefulness, weights: FloatArray | None = None) -> FloatArray:
        """A value for each user. `weights`: how often each assistant counts; a pair by the product of both."""
        if usefulness == "faults":
            return self.faultless
        better, worse = self._ends
        of_pairs = np.ones(len(self.pairs)) if weights is None else weights[better] * weights[worse]
        if usefulness == "size":
            of_pairs = of_pairs * np.array([pair.neighbours for pair in self.pairs])
        cells = self.orders if usefulness == "agreement" else self.differences
        total = (~np.isnan(cells) * of_pairs).sum(axis=1)
        sums = (np.nan_to_num(cells) * of_pairs).sum(axis=1)
        values: FloatArray = np.divide(sums, total, out=np.full(len(self.users), np.nan), where=total > 0)
        return values


@dataclass(frozen=True)
class RankCorrelation:
    """A rank correlation over users, its interval, and its p by shuffled labels."""

    rho: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    control: float | None = None
    """Mean over shufflings of the users' labels: about 0."""
    shuffled: FloatArray = field(default_factory=lambda: np.empty(0), repr=False)
    """The correlation in each shuffling."""


def correlated(
    realism: Mapping[str, float | None],
    domains: Sequence[DomainScores],
    usefulness: Usefulness,
    *,
    kinds: Mapping[str, str] = MappingProxyType({}),
    draws: int = 2000,
    seed: int = 0,
) -> RankCorrelation:
    """Spearman's correlation over users within kinds and domains, with a 95 % percentile interval.

    It is the mean over each kind in each domain, weighted by its users: users of different kinds are not exchangeable.
    Users, within their kind, and assistants are drawn with replacement, the same users in all domains. The control
    shuffles the realism of a kind's users, and p is the share of shufflings whose correlation is at least as large.

    Args:
        realism: The value of each user by one measure.
        domains: What users find in each domain.
        usefulness: The kind of usefulness.
        kinds: The kind of each user; one that is missing is of a kind without a name.
        draws: Number of shufflings, and of bootstrap draws; 0: only the estimate.
        seed: Seed of both.

    Returns:
        The correlation; None if no kind has `FEWEST_USERS` users with different values.
    """
    users = tuple(dict.fromkeys(user for one in domains for user in one.users))
    labels = np.array([_nan(realism.get(user)) for user in users])
    place = {user: number for number, user in enumerate(users)}
    groups: dict[str, list[int]] = {}
    for user in users:
        groups.setdefault(kinds.get(user, ""), []).append(place[user])
    parts = [
        one.of_users([user for user in one.users if kinds.get(user, "") == kind]) for one in domains for kind in groups
    ]
    parts = [one for one in parts if len(one.users) >= FEWEST_USERS]
    members = [np.array([place[user] for user in one.users], dtype=int) for one in parts]
    rho = _mean_rho(labels, members, [one.values(usefulness) for one in parts])
    if rho is None or not draws:
        return RankCorrelation(rho)
    shuffler, drawer = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    columns = [one.values(usefulness) for one in parts]
    shuffled, resampled = np.empty(draws), np.empty(draws)
    for number in range(draws):
        order, counts = np.arange(len(users)), np.zeros(len(users), dtype=int)
        for group in groups.values():
            order[group] = shuffler.permutation(group)
            counts[group] = np.bincount(drawer.integers(len(group), size=len(group)), minlength=len(group))
        weights = {one.domain: _weights(drawer, len(one.assistants)) for one in parts}
        drawn_columns = [one.values(usefulness, weights[one.domain]) for one in parts]
        shuffled[number] = _nan(_mean_rho(labels[order], members, columns))
        resampled[number] = _nan(_mean_rho(labels, members, drawn_columns, counts))
    values, defined = resampled[~np.isnan(resampled)], shuffled[~np.isnan(shuffled)]
    low, high = np.quantile(values, [0.025, 0.975]) if len(values) > draws / 2 else (None, None)
    return RankCorrelation(
        rho,
        None if low is None else float(low),
        None if high is None else float(high),
        float((1 + (np.abs(defined) >= abs(rho) - 1e-12).sum()) / (1 + len(defined))),
        float(defined.mean()) if len(defined) else None,
        shuffled,
    )


def adjusted(correlations: Sequence[RankCorrelation]) -> list[float | None]:
    """The p of each, adjusted for all together: the share of shufflings whose smallest p is as small.

    The shufflings of all are the same (Westfall and Young 1993, min p), so that correlated measures cost less. Smallest
    p and not largest correlations are compared, since a correlation over few users is large by chance.
    """
    of_all = [np.abs(np.nan_to_num(one.shuffled)) for one in correlations if len(one.shuffled)]
    if not of_all:
        return [None for _ in correlations]
    smallest = np.min([_p_values(values) for values in of_all], axis=0)
    return [
        None if one.p is None else float((1 + (smallest <= one.p + 1e-12).sum()) / (1 + len(smallest)))
        for one in correlations
    ]


def _p_values(sizes: FloatArray) -> FloatArray:
    """The p of each shuffling among all of them."""
    order = np.sort(sizes)
    share: FloatArray = (len(sizes) - np.searchsorted(order, sizes - 1e-12, side="left")) / len(sizes)
    return share


def _weights(drawer: np.random.Generator, count: int) -> FloatArray:
    return np.bincount(drawer.integers(count, size=count), minlength=count).astype(float)


def _mean_rho(
    labels: FloatArray, members: Sequence[np.ndarray], columns: Sequence[FloatArray], counts: np.ndarray | None = None
) -> float | None:
    """The mean of the rank correlation of each group of users, weighted by its users; None if none has one."""
    rhos, sizes = [], []
    for of_group, column in zip(members, columns, strict=True):
        one, two = labels[of_group], column
        if counts is not None:
            drawn = np.repeat(np.arange(len(of_group)), counts[of_group])
            one, two = one[drawn], two[drawn]
        if (rho := spearman(one, two)) is not None:
            rhos.append(rho)
            sizes.append(len(of_group))
    return float(np.average(rhos, weights=sizes)) if rhos else None


def spearman(one: FloatArray, two: FloatArray) -> float | None:
    """Spearman's rank correlation, ties with their mean rank.

    None with fewer than `FEWEST_USERS` or without variation.
    """
    both = ~(np.isnan(one) | np.isnan(two))
    if both.sum() < FEWEST_USERS:
        return None
    first, second = ranks(one[both]), ranks(two[both])
    first, second = first - first.mean(), second - second.mean()
    spread = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum() / spread) if spread > 0 else None


def ranks(values: FloatArray) -> FloatArray:
    """The rank of each value, from 0; equal values have the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2)[place]


def _nan(value: float | None) -> float:
    return np.nan if value is None else value
