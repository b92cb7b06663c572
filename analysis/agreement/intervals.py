"""Intervals of agreement over users: each user is left out in turn, since labels of one user are not independent."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from scipy.stats import t as students_t

from ...data.records import Record

Floats: TypeAlias = NDArray[np.float64]

Disagreement: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""Of tables (... x value x value): the disagreement that is observed and the one that chance would give, 0 to 1 each.
A coefficient is 1 less the first over the second."""

FEWEST_USERS = 5
"""Users that an interval needs."""

PRIOR = 0.05
"""How much weighs, over the number of users, that one label of each user is all that is known. Without it a label with
no error would have no error; with more, intervals of 40 labels are too wide."""

FREEDOM = 4
"""Degrees of freedom for each user but one: the score form is wider than Student's at few users (found by simulation)."""

TINY = 1e-12


class Estimate(Record):
    """A number with its 95 % interval over users."""

    value: float | None
    """None if it is undefined."""
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Why there is no value, or no interval."""


def estimate(tables: Floats, disagreement: Disagreement) -> Estimate:
    """A coefficient of tables, user x value x value, with its interval.

    The variance is the jackknife's over users (Efron and Stein 1981, each user left out in turn). The interval is of
    the score form (Wilson 1927), as many independent labels being taken as would vary so much; it is put on the
    coefficient's scale by the disagreement that chance would give.
    """
    total = tables.sum(axis=0)
    if total.sum() < TINY:
        return Estimate(value=None, reason="no label of both")
    observed, expected = (float(part) for part in disagreement(total))
    if expected < TINY:
        return Estimate(value=None, reason="one value only")
    value = 1 - observed / expected
    if len(tables) < FEWEST_USERS:
        return Estimate(value=value, reason=f"an interval needs {FEWEST_USERS} users")
    found, by_chance = disagreement(total - tables)
    if (by_chance < TINY).any():
        return Estimate(value=value, reason="no interval: all other values are one user's alone")
    others = 1 - found / by_chance
    share = jackknife_variance(others) * expected**2
    users = effective_users(tables.sum(axis=(1, 2)))
    low, high = score_bounds(1 - observed, one_label_variance(share, observed, users), users)
    return Estimate(value=value, low=max(1 - (1 - low) / expected, -1.0), high=min(1 - (1 - high) / expected, 1.0))


def jackknife_variance(left_out: Floats) -> float:
    """The variance of a number, from its values without each user."""
    number = len(left_out)
    return float((number - 1) / number * ((left_out - left_out.mean()) ** 2).sum())


def effective_users(labels: Floats) -> float:
    """Number of users with equally many labels that would weigh like these, by each user's number of labels."""
    return float(labels.sum() ** 2 / (labels**2).sum())


def one_label_variance(variance: float, observed: float, users: float) -> float:
    """The variance of a share over that of one label, which is 1 over the labels that it is worth.

    `observed` is the share; with none and with all of the labels it is that of one label of each user.
    """
    prior = PRIOR / users
    return (variance + prior / users) / (observed * (1 - observed) + prior)


def score_bounds(share: float, of_one: float, users: float) -> tuple[float, float]:
    """The shares t with (share - t)^2 <= q^2 of_one t (1 - t)."""
    k = float(students_t.ppf(0.975, FREEDOM * max(users - 1, 1))) ** 2 * of_one
    middle = 2 * share + k
    half = float(np.sqrt(max(middle**2 - 4 * (1 + k) * share**2, 0.0)))
    return (middle - half) / (2 * (1 + k)), (middle + half) / (2 * (1 + k))


def lower_bound(right: Floats, labels: Floats, error: float) -> float:
    """A bound below which a share lies with a chance of at most `error`; the parameters have a number for each user.

    The exact binomial bound with as many labels as these of users are worth (Korn and Graubard 1998). It is never above
    the bound if all were right, which is as many labels as users: an error tells nothing that makes the others surer.
    """
    share = float(right.sum() / labels.sum())
    users = effective_users(labels)
    variance = 0.0
    if len(labels) > 1:
        variance = jackknife_variance((right.sum() - right) / np.maximum(labels.sum() - labels, TINY))
    worth = min(1 / one_label_variance(variance, share, users), float(labels.sum()))
    bound = float(beta.ppf(error, share * worth, worth - share * worth + 1)) if share > 0 else 0.0
    return min(bound, float(error ** (1 / min(users, float(labels.sum())))))
