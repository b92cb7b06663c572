"""Cliff's delta of two sides within tasks, with its interval over users, and its size between halves of the people.

A user weighs 1 in a task, spread over its conversations about it; a task weighs m n / (m + n), with m and n users of the
sides (van Elteren 1960). Delta is then a function of how often each user counts, as `estimates.score` takes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..estimates import FEWEST, Estimate, score

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

MOST_GROUPS = 100
"""Groups of users on a side: of more users several are left out together, which takes a fraction of the time."""
HALVINGS = 400


@dataclass(frozen=True)
class Side:
    """The conversations of a side, as numbers."""

    values: Floats
    """Conversation x measure; NaN where a measure is not defined for the conversation."""
    user: Ints
    """The user of each conversation, from 0."""
    stratum: Ints
    """What a conversation must have in common with those with which it is compared, such as its task."""

    @property
    def users(self) -> int:
        """How many users there are."""
        return int(np.unique(self.user).size)

    def where(self, rows: NDArray[Any]) -> "Side":
        """Some of the conversations."""
        return Side(self.values[rows], self.user[rows], self.stratum[rows])


def numbered(names: Sequence[Any]) -> Ints:
    """The names as numbers from 0, in the order in which they first appear."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


@dataclass(frozen=True)
class _Stratum:
    """A measure within a task: how the users of one side lie against those of the other."""

    above: Floats
    """Group x group, over users: the share of pairs in which the first lies above, less that in which it lies below."""
    users: tuple[Floats, Floats]
    """Of each side the users of each group that have a value."""
    means: tuple[float, float]


class Comparison:
    """A measure of two sides."""

    def __init__(self, first: Side, second: Side, column: int) -> None:
        self._groups = [numbered(side.user.tolist()) % MOST_GROUPS for side in (first, second)]
        self.conversations = [int((~np.isnan(side.values[:, column])).sum()) for side in (first, second)]
        self.users = [side.where(~np.isnan(side.values[:, column])).users for side in (first, second)]
        self._strata = [
            one
            for stratum in np.intersect1d(first.stratum, second.stratum)
            if (one := self._within(first, second, column, stratum)) is not None
        ]

    def _within(self, first: Side, second: Side, column: int, stratum: int) -> _Stratum | None:
        values, weights, users, means = [], [], [], []
        for side, group in zip((first, second), self._groups, strict=True):
            own = side.values[:, column]
            rows = np.flatnonzero((side.stratum == stratum) & ~np.isnan(own))
            if not rows.size:
                return None
            _, number, count = np.unique(side.user[rows], return_inverse=True, return_counts=True)
            share: Floats = 1 / count[number]
            shape = (int(group.max()) + 1, rows.size)
            weights.append(csr_array((share, (group[rows], np.arange(rows.size))), shape=shape))
            users.append(np.asarray(np.bincount(group[rows], share, minlength=shape[0]), dtype=np.float64))
            means.append(float(own[rows] @ share / share.sum()))
            values.append(own[rows])
        signs = np.sign(values[0][:, None] - values[1][None, :])
        above = weights[1] @ (weights[0] @ signs).T
        return _Stratum(above.T, (users[0], users[1]), (means[0], means[1]))

    def deltas(self, first: Floats, second: Floats) -> Floats:
        """Delta of each draw, from how often the groups of both sides count (draw x group); NaN where nothing is left."""
        above, weight = np.zeros(len(first)), np.zeros(len(first))
        for one in self._strata:
            m, n = first @ one.users[0], second @ one.users[1]
            both = np.maximum(m + n, 1e-9)
            above += ((first @ one.above) * second).sum(axis=1) / both
            weight += m * n / both
        found: Floats = np.divide(above, weight, out=np.full(len(first), np.nan), where=weight > 0)
        return found

    @property
    def means(self) -> tuple[float, float] | None:
        """The mean of each side, tasks weighted alike; None where no task has values of both."""
        if not self._strata:
            return None
        sizes = [(one.users[0].sum(), one.users[1].sum()) for one in self._strata]
        weights = [m * n / (m + n) for m, n in sizes]
        first, second = (
            float(np.average([one.means[side] for one in self._strata], weights=weights)) for side in (0, 1)
        )
        return first, second

    def superiority(self) -> Estimate:
        """How often the first side lies above, ties half, 0 to 1: the AUC, and (1 + delta) / 2; with its interval."""
        n = sum(self.conversations)
        if not self._strata:
            return Estimate(n=n, groups=sum(self.users), reason="no task has values of both sides")
        sizes = [int(group.max()) + 1 for group in self._groups]

        def of(drawn: Floats) -> Floats:
            return (1 + self.deltas(drawn[:, : sizes[0]], drawn[:, sizes[0] :])) / 2

        if min(self.users) < FEWEST:
            value = float(of(np.ones((1, sum(sizes))))[0])
            reason = f"no interval: {min(self.users)} users on a side, {FEWEST} are needed"
            return Estimate(value=value, n=n, groups=sum(self.users), reason=reason)
        # Equal weights of both sides: a small one has its few degrees of freedom however large the other is.
        balanced = 4 * self.conversations[0] * self.conversations[1] / n
        items = [balanced / 2 / size for size in sizes for _ in range(size)]
        found = score(of, items, scale=(0.0, 1.0))
        return found.model_copy(update={"n": n, "groups": sum(self.users)})

    def effect(self) -> Estimate:
        """Delta, -1 to 1, with its interval."""
        found = self.superiority()
        ends = {
            name: None if end is None else 2 * end - 1
            for name, end in (("value", found.value), ("low", found.low), ("high", found.high))
        }
        return found.model_copy(update=ends)


def between_halves(people: Side, column: int, rng: np.random.Generator) -> float | None:
    """The size of effect that one in 20 halvings of the people exceeds; None of too few."""
    if people.users < FEWEST:
        return None
    itself = Comparison(people, people, column)
    groups = min(people.users, MOST_GROUPS)
    drawn = np.argsort(rng.random((HALVINGS, groups)), axis=1) < groups // 2
    sizes = np.abs(itself.deltas(drawn.astype(float), (~drawn).astype(float)))
    sizes = sizes[np.isfinite(sizes)]
    return float(np.quantile(sizes, 0.95)) if sizes.size else None
