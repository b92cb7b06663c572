"""Rank correlations over users between realism and usefulness, with a bootstrap and a shuffled control."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np

from ..over_users.estimate import FloatArray
from ..over_users.rates import Z
from .link_outcomes import KnownPair, UserOutcomes

Usefulness: TypeAlias = Literal["agreement", "size", "faults"]
USEFULNESS: tuple[Usefulness, ...] = get_args(Usefulness)
"""(a) Share of known pairs in their order, (b) mean difference of neighbours, (c) share without a user fault."""

FEWEST_USERS = 5
"""Users that a rank correlation needs."""
TINY = 1e-9
"""Spread of ranks that do not vary."""
LARGEST = 0.99
"""Largest correlation whose z is taken: that of 1 is infinite, and in draws of few users 1 is frequent."""


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
        """A value for each user. `weights`: how often each assistant counts; a pair by the product of both.

        Of weights that are draw x assistant, the values are draw x user.
        """
        if usefulness == "faults":
            return self.faultless
        better, worse = self._ends
        of_pairs = np.ones(len(self.pairs)) if weights is None else weights[..., better] * weights[..., worse]
        if usefulness == "size":
            of_pairs = of_pairs * np.array([pair.neighbours for pair in self.pairs])
        cells = self.orders if usefulness == "agreement" else self.differences
        total, sums = of_pairs @ (~np.isnan(cells)).T, of_pairs @ np.nan_to_num(cells).T
        values: FloatArray = np.divide(sums, total, out=np.full(total.shape, np.nan), where=total > 0)
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
    control_low: float | None = None
    """The middle 95 % of the shufflings."""
    control_high: float | None = None
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
    """Spearman's correlation over users within kinds and domains, with a 95 % interval.

    It is the mean over each kind in each domain, weighted by its users: users of different kinds are not exchangeable.
    Users, within their kind, and assistants are drawn with replacement, the same users in all domains.

    The interval is Fisher's z of the correlation, and `Z` standard deviations of the draws' z on each side. Percentiles
    of the draws would cover too little, since drawn correlations are nearer to 0 than the true one. The control
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
    columns = [one.values(usefulness) for one in parts]
    (rho,) = _mean_rhos(labels[None], members, columns)
    if np.isnan(rho) or not draws:
        return RankCorrelation(_none(rho))
    shuffler, drawer = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    orders = np.tile(np.arange(len(users)), (draws, 1))
    counts = np.zeros((draws, len(users)))
    weights = {one.domain: np.empty((draws, len(one.assistants))) for one in parts}
    for number in range(draws):
        for group in groups.values():
            orders[number, group] = shuffler.permutation(group)
            counts[number] += np.bincount(
                np.array(group)[drawer.integers(len(group), size=len(group))], minlength=len(users)
            )
        for of_domain in weights.values():
            of_domain[number] = np.bincount(
                drawer.integers(of_domain.shape[1], size=of_domain.shape[1]), minlength=of_domain.shape[1]
            )
    shuffled = _mean_rhos(labels[orders], members, columns)
    drawn_columns = [one.values(usefulness, weights[one.domain]) for one in parts]
    resampled = _mean_rhos(labels[None], members, drawn_columns, counts)
    values, defined = resampled[~np.isnan(resampled)], shuffled[~np.isnan(shuffled)]
    error = Z * _fishers(values).std() if len(values) > draws / 2 else np.nan
    low, high = np.tanh(_fishers(rho) + np.array([-error, error]))
    ends = np.quantile(defined, [0.025, 0.975]) if len(defined) else (np.nan, np.nan)
    return RankCorrelation(
        float(rho),
        _none(low),
        _none(high),
        float((1 + (np.abs(defined) >= abs(rho) - 1e-12).sum()) / (1 + len(defined))),
        float(defined.mean()) if len(defined) else None,
        _none(ends[0]),
        _none(ends[1]),
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


def _mean_rhos(
    labels: FloatArray,
    members: Sequence[np.ndarray],
    columns: Sequence[FloatArray],
    counts: FloatArray | None = None,
) -> FloatArray:
    """The mean over groups of the rank correlation in each draw, weighted by the group's users.

    NaN if no group has one. `labels`: draw x user. `columns`: for each group draw x user, or one for all draws. `counts`:
    how often each user is drawn.
    """
    total, sizes = np.zeros(1), np.zeros(1)
    for of_group, column in zip(members, columns, strict=True):
        rhos = spearman(labels[:, of_group], np.atleast_2d(column), None if counts is None else counts[:, of_group])
        defined = ~np.isnan(rhos)
        total = total + np.where(defined, rhos, 0.0) * len(of_group)
        sizes = sizes + defined * len(of_group)
    means: FloatArray = np.divide(total, sizes, out=np.full(np.shape(total), np.nan), where=sizes > 0)
    return means


def spearman(one: FloatArray, two: FloatArray, counts: FloatArray | None = None) -> FloatArray:
    """Spearman's rank correlation of each row, ties with their mean rank; arrays are row x user.

    `counts`: how often each user counts. NaN with fewer than `FEWEST_USERS`, or without variation.
    """
    one, two = np.broadcast_arrays(one, two)
    weights = np.where(np.isnan(one) | np.isnan(two), 0.0, 1.0 if counts is None else counts)
    one, two = np.broadcast_to(one, weights.shape), np.broadcast_to(two, weights.shape)
    users = weights.sum(axis=1)
    first, second = (_centred(ranks(values, weights), weights) for values in (one, two))
    spread = np.sqrt((weights * first**2).sum(axis=1) * (weights * second**2).sum(axis=1))
    rhos: FloatArray = np.divide(
        (weights * first * second).sum(axis=1),
        spread,
        out=np.full(len(users), np.nan),
        where=(users >= FEWEST_USERS) & (spread > TINY),
    )
    return rhos


def ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The rank of each value in its row, from 0.5; equal values have the mean of their ranks.

    `weights`: how often each value counts.
    """
    less = values[:, None, :] < values[:, :, None]
    equal = values[:, None, :] == values[:, :, None]
    of_rows: FloatArray = ((less + equal / 2) * weights[:, None, :]).sum(axis=2)
    return of_rows


def _fishers(rhos: FloatArray) -> FloatArray:
    return np.arctanh(np.clip(rhos, -LARGEST, LARGEST))


def _centred(values: FloatArray, weights: FloatArray) -> FloatArray:
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    centred: FloatArray = values - (weights * values).sum(axis=1, keepdims=True) / total
    return centred


def _nan(value: float | None) -> float:
    return np.nan if value is None else value


def _none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
