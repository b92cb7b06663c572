"""A score as a function of how often each user counts, and its interval over users.

Each user is left out in turn, which is one product of matrices: no score needs the items again, only each user's own
sums.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .rates import IntervalEstimate, effective_users, share_of_users
from .resemblance import MeanSquares, mean_squares
from .student_quantile import students

FloatArray: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
Of: TypeAlias = Callable[[FloatArray], FloatArray]
"""From draws x users, how often each user counts, to the score of each draw; NaN where a draw has none."""

FEWEST_USERS = 8
"""Users that an interval needs, on each side that is compared: of fewer, Student's rests on users being normal."""
UNSEEN = 1.5
"""Degrees of freedom of an error beyond the number of users who err: the most with which intervals cover .92.

`tests/intervals` draws them.
"""


class UserScore(IntervalEstimate):
    """A score with its 95 % interval over users."""

    n: int = 0
    """Items that are counted."""
    users: int = 0
    """Users of these."""
    reason: str = ""
    """Why there is no value, or no interval."""


def of_users(names: Sequence[str]) -> tuple[list[str], Places]:
    """The users in the order of their first item, and for each item the place of its user."""
    users = list(dict.fromkeys(names))
    place = {name: number for number, name in enumerate(users)}
    return users, np.array([place[name] for name in names], dtype=np.int64)


def sums_of(values: NDArray[Any], user: Places) -> FloatArray:
    """The sum of each user's values, by the place of the user of each."""
    sums: FloatArray = np.bincount(user, weights=values).astype(float)
    return sums


def items_of(user: Places) -> FloatArray:
    """How many items each user has, by the place of the user of each."""
    return sums_of(np.ones(len(user)), user)


def crossed(user: Places, truth: NDArray[Any], predicted: NDArray[Any], values: int) -> FloatArray:
    """How often each user has each pair of values: user x true x predicted.

    Values are places from 0.
    """
    tables = np.zeros((int(user.max()) + 1, values, values))
    np.add.at(tables, (user, truth, predicted), 1)
    return tables


def divided(above: FloatArray, below: FloatArray) -> FloatArray:
    """NaN where the divisor is nothing."""
    result: FloatArray = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=np.abs(below) > 1e-12)
    return result


def ratio(above: FloatArray, below: FloatArray) -> Of:
    """A ratio of sums over users."""
    return lambda drawn: divided(drawn @ above, drawn @ below)


def mean_over(values: NDArray[Any], user: Places) -> Of:
    """The mean of the items' values."""
    return ratio(sums_of(values, user), items_of(user))


@dataclass(frozen=True)
class Unsure:
    """A score with variance that no user who is left out shows."""

    of: Of
    more: float
    reason: str = ""
    """Why it has no interval; empty where it may have one."""

    def __call__(self, drawn: FloatArray) -> FloatArray:
        """The score of each draw."""
        return self.of(drawn)


def mean_of(functions: Sequence[Of], *, apart: bool = False) -> Of:
    """The mean of scores that take the same users; `apart`: what is unsure in one says nothing of the others."""
    unsure = [function for function in functions if isinstance(function, Unsure)]
    more = sum(function.more for function in unsure) / len(functions) ** (2 if apart else 1)
    reason = next((function.reason for function in unsure if function.reason), "")

    def mean(drawn: FloatArray) -> FloatArray:
        result: FloatArray = np.mean([function(drawn) for function in functions], axis=0)
        return result

    return Unsure(mean, more, reason) if unsure else mean


def auc_within(positive: NDArray[np.bool_], score: FloatArray, fold: Places, user: Places) -> tuple[Of, FloatArray]:
    """The share of pairs of one fold whose positive item has the greater score.

    The second result is the number of pairs that each user is in. Equal scores count half. Scores of different folds are
    by differently trained models, and are never compared. Where few items are positive, few users have most pairs:
    counted by their items, 20 users with 3 % cover .84.
    """
    users = int(user.max()) + 1
    right, pairs = np.zeros((2, users, users))
    for number in np.unique(fold):
        negative = np.flatnonzero(~positive & (fold == number))
        for place in np.flatnonzero(positive & (fold == number)):
            above = (score[place] > score[negative]) + 0.5 * (score[place] == score[negative])
            np.add.at(right[user[place]], user[negative], above)
            np.add.at(pairs[user[place]], user[negative], 1)

    def of(drawn: FloatArray) -> FloatArray:
        return divided(((drawn @ right) * drawn).sum(axis=1), ((drawn @ pairs) * drawn).sum(axis=1))

    return of, pairs.sum(axis=0) + pairs.sum(axis=1)


def correlation_within(values: FloatArray, user: Places) -> tuple[Of, float]:
    """ICC(1) of the items' values within users, and the mean number of a user's items by it."""
    count, total, squares = (sums_of(values**power, user) for power in range(3))

    def anova(drawn: FloatArray) -> MeanSquares:
        n, of_means = drawn @ count, drawn @ (total**2 / count)
        between, within = of_means - (drawn @ total) ** 2 / n, drawn @ squares - of_means
        return mean_squares(drawn.sum(axis=1), n, drawn @ count**2, between, within, divided)

    def of(drawn: FloatArray) -> FloatArray:
        correlation: FloatArray = anova(drawn).correlation(divided)
        return correlation

    return of, float(anova(np.ones((1, len(count)))).size[0])


class Rescaling(NamedTuple):
    """A scale on which an interval is Student's, there and back."""

    there: Callable[[FloatArray], FloatArray]
    back: Callable[[float], float]
    reason: str = ""
    """Why a score has no place there."""
    freedom: float = np.inf
    """Degrees of freedom, where those of all users are too many."""


AS_IS = Rescaling(lambda values: values, lambda place: place)


def root_from(best: float, worst: float, errors: FloatArray) -> Rescaling:
    """The square root of how far a score is from its best value (Bartlett 1936), where few users may err.

    It puts the variance of few errors apart from their number. `errors`: the sum of each user's.
    """
    sign = float(np.sign(worst - best))
    return Rescaling(
        lambda values: np.sqrt(np.maximum((values - best) * sign, 0.0)),
        lambda place: best + sign * max(place, 0.0) ** 2,
        freedom=float(effective_users(errors)) + UNSEEN,
    )


def fishers(items: float) -> Rescaling:
    """Fisher's scale of an intraclass correlation, twice ("Statistical Methods for Research Workers", 1925, section 39).

    It is the logarithm of the variance between users over that within. `items`: mean number of a user's.
    """

    def there(values: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            places: FloatArray = np.log1p((items - 1) * values) - np.log1p(-values)
        return places

    def back(place: float) -> float:
        return float(np.expm1(place) / (np.expm1(place) + items))

    return Rescaling(there, back, "a user's items are all the same, or users are")


def interval(
    of: Of,
    items: FloatArray,
    reason: str,
    *,
    n: int,
    scale: tuple[float, float] = (-np.inf, np.inf),
    share: bool = False,
    on: Rescaling = AS_IS,
) -> UserScore:
    """The score of all users, with its interval.

    `items`: how many of each user are counted. `reason`: why there is no value, if so.

    The variance is the jackknife's over users (Efron and Stein 1981, each user left out in turn). At eight users it
    covers .94, where the percentiles of drawn users cover .84 to .90. The interval is Student's, cut to the `scale`.

    `share`: of items, or of pairs of them. Its interval is of the score form. Student's covers .72 to .94 of it where
    most users are near an end or some have ten times the items of others.

    `on`: another scale than the score's own. On it Student's covers .78 to .99 of a coefficient or an error of which
    few users have most, and .88 to .93 of an intraclass correlation.

    No interval stands on fewer than eight users, nor where the score is the same without any one user. But a share of 0
    or 1 has one. Otherwise, of shares near 1 only draws below 1 would have one, and these cover .56.
    """
    users = len(items)
    more, why_none = (of.more, of.reason) if isinstance(of, Unsure) else (0.0, "")
    value = float(of(np.ones((1, users)))[0])
    if not np.isfinite(value):
        return UserScore(value=None, n=n, users=users, reason=reason)
    without = UserScore(value=value + 0.0, n=n, users=users)
    if users < FEWEST_USERS:
        return without.model_copy(
            update={"reason": f"no interval: {users} user{'s' if users > 1 else ''}, {FEWEST_USERS} are needed"}
        )
    if why_none:
        return without.model_copy(update={"reason": f"no interval: {why_none}"})
    left_out = of(1 - np.eye(users))
    if not np.isfinite(left_out).all():
        return without.model_copy(update={"reason": "no interval: without one of the users there is no score"})
    if np.ptp(left_out) < 1e-12 and not (share and value in (0.0, 1.0)):
        return without.model_copy(update={"reason": "no interval: the same whichever user is left out"})
    if share:
        bounds = share_of_users(value, jackknife_variance(left_out) + more, items.tolist())
        return without.model_copy(update={"low": bounds.low, "high": bounds.high})
    ends = on.there(np.array([value, *left_out, value - np.sqrt(more)]))
    if not np.isfinite(ends).all():
        return without.model_copy(update={"reason": f"no interval: {on.reason}"})
    variance = jackknife_variance(ends[1:-1]) + float(np.square(ends[-1] - ends[0]))
    half = students(max(min(float(effective_users(items)) - 1, on.freedom), 1.0)) * np.sqrt(variance)
    low, high = sorted(on.back(float(end)) for end in (ends[0] - half, ends[0] + half))
    return without.model_copy(update={"low": max(low, scale[0]), "high": min(high, scale[1])})


def jackknife_variance(left_out: FloatArray) -> float:
    """The variance of a number, from its values without each user."""
    number = len(left_out)
    return float((number - 1) / number * ((left_out - left_out.mean()) ** 2).sum())
