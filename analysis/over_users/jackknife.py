"""Intervals in closed form: each user is left out in turn, since labels of one user are not independent.

For scores of so few labels that Student's interval would leave the scale: agreement, and means that are corrected by it.
"""

from typing import Any

import numpy as np

from .chance import Disagreement
from .estimate import FloatArray, UserScore, jackknife_variance
from .rates import FREEDOM_OF_USERS, effective_users, independent, of_few, share_of_users, wilson
from .student_quantile import students

FEWEST_LABELLED = 5
"""Users that an interval needs: fewer than elsewhere, as the prior holds it up where few users differ."""

PRIOR = 0.05
"""Weight of a prior of one label of each user, over the number of users. Without it a label with
no error would have no error; with more, intervals of 40 labels are too wide."""

FEWEST_RARE = 4
"""Labels of other values than the commonest that the interval of a coefficient beyond chance needs: of fewer it covers
.80 to .86."""

TINY = 1e-12


def coefficient_interval(
    tables: FloatArray,
    disagreement: Disagreement,
    *,
    margins: bool = True,
    votes: float = 1.0,
    weighted: bool = False,
) -> UserScore:
    """A coefficient of tables, user x value x value, with its interval.

    `margins`: its chance is that of how often each value is used, so that it is uncertain where nearly all have one.
    `votes`: by how much one thing on which all agree raises the table. `weighted`: without such a chance, whether values
    may be near each other, so that few labels far apart count most.

    The variance is the jackknife's over users (Efron and Stein 1981, each user left out in turn). The interval is of
    the score form (Wilson 1927), with the number of independent labels that would vary so much. The disagreement that
    chance would give puts it on the coefficient's scale.
    """
    total = tables.sum(axis=0)
    if total.sum() < TINY:
        return UserScore(value=None, reason="no label of both")
    counts: dict[str, Any] = {"n": round(float(total.sum())), "users": len(tables)}
    observed, expected = (float(part) for part in disagreement(total))
    if expected < TINY:
        return UserScore(value=None, reason="one value only", **counts)
    value = 1 - observed / expected
    if len(tables) < FEWEST_LABELLED:
        return UserScore(value=value, reason=f"an interval needs {FEWEST_LABELLED} users", **counts)
    rare = float(total.sum() - (total.sum(axis=0) + total.sum(axis=1)).max() / 2)
    if margins and rare < FEWEST_RARE:
        reason = f"no interval: {FEWEST_RARE} labels of other values than the commonest are needed, not {rare:g}"
        return UserScore(value=value, reason=reason, **counts)
    observed_without, by_chance = disagreement(total - tables)
    if (by_chance < TINY).any():
        return UserScore(value=value, reason="no interval: all other values are of one user", **counts)
    variance = jackknife_variance(observed_without / by_chance)
    if margins:
        variance += one_more(total, disagreement, value, votes)
    elif weighted:
        variance += one_farther(total, disagreement, value)
    share = variance * expected**2
    users = float(effective_users(tables.sum(axis=(1, 2))))
    worth = independent(observed, share, PRIOR / users, 1 / users)
    bounds = wilson(1 - observed, worth, students(FREEDOM_OF_USERS * max(users - 1, 1)))
    if not margins:
        bounds = of_few(bounds, worth)
    low, high = (1 - (1 - bound) / expected for bound in (bounds.low, bounds.high))
    return UserScore(value=value, low=max(low, -1.0), high=min(high, 1.0), **counts)


def one_more(total: FloatArray, disagreement: Disagreement, value: float, votes: float) -> float:
    """The variance that comes from how many agreements there are on a value other than the commonest.

    It is the square of the change by one more, over their number plus one: the greatest of the values. If the data
    happens to have none, no user who is left out shows that there could be one.
    """
    agreed, used = np.diagonal(total) / votes, total.sum(axis=0) + total.sum(axis=1)
    rarer = [place for place in np.flatnonzero(used > TINY) if place != int(used.argmax())]
    more = total + votes * np.eye(len(total))[rarer, :, None] * np.eye(len(total))[rarer, None, :]
    observed, expected = disagreement(more)
    changes: FloatArray = np.square(1 - observed / np.maximum(expected, TINY) - value) / (1 + agreed[rarer])
    return float(changes.max(initial=0.0))


def one_farther(total: FloatArray, disagreement: Disagreement, value: float) -> float:
    """The variance that comes from how many pairs there are of the first and the last value that are used.

    If the data happens to have none, no user who is left out shows that there could be one: without it AC2 covers .88
    to .92. It is smaller, the fewer of such pairs chance would put among the disagreements, if that is less than one.
    """
    rows, columns = total.sum(axis=1), total.sum(axis=0)
    used = np.flatnonzero(rows + columns > TINY)
    ends, others = np.array([used[0], used[-1]]), np.array([used[-1], used[0]])
    expected = float((total.sum() - np.trace(total)) * (rows[ends] * columns[others]).sum())
    expected /= max(float(total.sum() ** 2 - rows @ columns), TINY)
    more = total.copy()
    more[ends[0], ends[1]] += 1
    observed, by_chance = (float(part) for part in disagreement(more))
    change = 1 - observed / by_chance - value
    return min(expected, 1.0) * change**2 / (1 + float(total[ends, others].sum()))


def mean_interval(
    value: float, left_out: FloatArray, labels: FloatArray, step: float, more: float = 0.0, *, rate: bool = False
) -> UserScore:
    """A mean with its interval, by its values without each user and how many labels each user has.

    The variance is the jackknife's plus `more`. Of a rate the interval is of the score form, as that of a coefficient.
    Else it is Student's. One more label a `step` away would add to the variance: half of that is added, and the
    variance is at least the whole of it. For a few labels without an error do not prove that no error exists.
    """
    labels = labels[labels > 0]
    counts: dict[str, Any] = {"n": int(labels.sum()), "users": len(labels)}
    if len(labels) < FEWEST_LABELLED:
        return UserScore(value=value, reason=f"an interval needs {FEWEST_LABELLED} users", **counts)
    users = float(effective_users(labels))
    variance = jackknife_variance(left_out) + more
    if rate:
        return UserScore(**share_of_users(value, variance, labels.tolist()).model_dump(), **counts)
    step_more = step**2 / (users * float(labels.sum()))
    variance = max(variance + step_more / 2, step_more)
    half = students(max(users - 1, 1)) * float(np.sqrt(variance))
    return UserScore(value=value, low=value - half, high=value + half, **counts)
