"""How near a judge comes to people: scores with intervals over users, from each user's own sums.

Every score is a function of how often each user is drawn, so that drawing users again is one product of matrices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...data.identity import digest
from ...data.records import Record
from ..concordance import concordance_within
from .turns import HIGHEST, LOWEST, JudgedTurn, nearest

Floats: TypeAlias = NDArray[np.float64]
Of: TypeAlias = Callable[[Floats], Floats]
"""From draws x users, how often each user is drawn, to the score of each draw; NaN where a draw has none."""

DRAWS = 2000
"""Times that users are drawn again."""
FEWEST_USERS = 8
"""Users that an interval needs."""
MOST_UNDEFINED = 0.05
"""Share of draws that may have no score."""

ScoreName: TypeAlias = Literal["qwk", "mae", "gain", "auc", "concordance", "accuracy", "macro_f1", "icc"]


class Score(Record):
    """A score with its 95 % interval over users."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    """Turns that are judged; conversations for `concordance`."""
    users: int = 0
    """Users of these."""
    reason: str = ""
    """Why there is no value, or no interval."""


@dataclass(frozen=True)
class Told:
    """Turns, and what a judge says of each: points of 1 to 5, parts of points too."""

    turns: Sequence[JudgedTurn]
    points: Sequence[float]
    fold: Sequence[int]
    """Where the points come from: those of different folds are by differently taught models."""


def of_users(names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The users in the order of their first turn, and for each turn the place of its user."""
    users = list(dict.fromkeys(names))
    place = {name: number for number, name in enumerate(users)}
    return users, np.array([place[name] for name in names], dtype=np.int64)


def satisfaction_scores(told: Told, *, seed: int = 0, why_no_concordance: str = "") -> dict[ScoreName, Score]:
    """Every score of a judge of satisfaction.

    `qwk`: Cohen's kappa with quadratic weights, of the nearest whole points. `mae`: mean absolute error of the same.
    `gain`: by how much that error is below that of always saying 4 on the same turns. `auc`: share of pairs of a turn
    with 3 points or less and one with more, of the same fold, of which the former has fewer points, ties half.
    `concordance`: share of a user's pairs of conversations that the mean points order as the mean satisfaction does.
    """
    if not told.turns:
        return dict.fromkeys(("qwk", "mae", "gain", "auc", "concordance"), Score(value=None, reason="undefined: the judge says nothing"))  # fmt: skip
    users, user = of_users([turn.user for turn in told.turns])
    truth = np.array([turn.satisfaction for turn in told.turns])
    said = np.array([nearest(points) for points in told.points])
    table = np.zeros((len(users), HIGHEST, HIGHEST))
    np.add.at(table, (user, truth - LOWEST, said - LOWEST), 1)

    def scored(of: Of, reason: str) -> Score:
        return interval(of, len(users), reason, n=len(told.turns), seed=seed)

    return {
        "qwk": scored(weighted_kappa(table), "undefined: people and the judge say the same of every turn"),
        "mae": scored(ratio(_sums(abs(said - truth), user), _sums(np.ones(len(user)), user)), ""),
        "gain": scored(ratio(_sums(abs(4 - truth) - abs(said - truth), user), _sums(np.ones(len(user)), user)), ""),
        "auc": scored(_auc(told, user, len(users)), "undefined: no fold has both satisfied and dissatisfied turns"),
        "concordance": Score(value=None, reason=f"undefined: {why_no_concordance}")
        if why_no_concordance
        else _concordance(told, seed),
    }


def weighted_kappa(table: Floats) -> Of:
    """Cohen's kappa with quadratic weights (1968), of user x true value x said value counts."""
    size = table.shape[1]
    places = np.arange(size)
    weight = (places[:, None] - places[None, :]) ** 2.0

    def of(drawn: Floats) -> Floats:
        cells = np.tensordot(drawn, table, axes=1)
        total = cells.sum(axis=(1, 2))
        by_chance = cells.sum(axis=2)[:, :, None] * cells.sum(axis=1)[:, None, :]
        return 1 - _divided((cells * weight).sum(axis=(1, 2)) * total, (by_chance * weight).sum(axis=(1, 2)))

    return of


def ratio(above: Floats, below: Floats) -> Of:
    """A ratio of sums over users."""
    return lambda drawn: _divided(drawn @ above, drawn @ below)


def interval(of: Of, users: int, reason: str, *, n: int, seed: int = 0) -> Score:
    """The score of all users, and the middle 95 % of those of users drawn again with replacement.

    `reason`: why there is no value, if there is none. No interval stands on fewer than eight users, nor where the score
    is the same whoever is drawn.
    """
    value = float(of(np.ones((1, users)))[0])
    if not np.isfinite(value):
        return Score(value=None, n=n, users=users, reason=reason)
    without = Score(value=value + 0.0, n=n, users=users)
    if users < FEWEST_USERS:
        return without.model_copy(
            update={"reason": f"no interval: {users} user{'s' if users > 1 else ''}, {FEWEST_USERS} are needed"}
        )
    drawn = of(_draws(users, seed))
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < (1 - MOST_UNDEFINED) * DRAWS:
        return without.model_copy(update={"reason": "no interval: too many draws of users have no score"})
    if np.ptp(drawn) < 1e-12:
        return without.model_copy(update={"reason": "no interval: the same whichever users are drawn"})
    low, high = np.quantile(drawn, (0.025, 0.975))
    return without.model_copy(update={"low": float(low), "high": float(high)})


@lru_cache(maxsize=16)
def _draws(users: int, seed: int) -> Floats:
    """Draws x users: how often each is drawn; the same for every judge, so that rows go together."""
    random = np.random.default_rng(int(digest("judges", seed, users)[:16], 16))
    return random.multinomial(users, np.full(users, 1 / users), size=DRAWS).astype(float)


def _auc(told: Told, user: NDArray[np.int64], users: int) -> Of:
    points, fold = np.array(told.points), np.array(told.fold)
    low = np.array([turn.dissatisfied for turn in told.turns])
    right, pairs = np.zeros((2, users, users))
    for number in np.unique(fold):
        satisfied = np.flatnonzero(~low & (fold == number))
        for place in np.flatnonzero(low & (fold == number)):
            above = points[satisfied]
            ordered = (points[place] < above) + 0.5 * (points[place] == above)
            np.add.at(right[user[place]], user[satisfied], ordered)
            np.add.at(pairs[user[place]], user[satisfied], 1)
    return lambda drawn: _divided(((drawn @ right) * drawn).sum(axis=1), ((drawn @ pairs) * drawn).sum(axis=1))


def _concordance(told: Told, seed: int) -> Score:
    by_conversation: dict[int, list[int]] = {}
    for place, turn in enumerate(told.turns):
        by_conversation.setdefault(turn.conversation, []).append(place)
    groups = list(by_conversation.values())
    pairs = concordance_within(
        [fmean(told.turns[place].satisfaction for place in group) for group in groups],
        [fmean(told.points[place] for place in group) for group in groups],
        [told.turns[group[0]].user for group in groups],
    )
    telling = [each for each in pairs.values() if each.count]
    if not telling:
        return Score(value=None, reason="undefined: no user has two conversations of different satisfaction")
    right, count = np.array([(each.right, each.count) for each in telling], dtype=float).T
    users = {name for name, each in pairs.items() if each.count}
    n = sum(told.turns[group[0]].user in users for group in groups)
    return interval(ratio(right, count), len(telling), "", n=n, seed=seed)


def intraclass(turns: Sequence[JudgedTurn], *, seed: int = 0) -> Score:
    """ICC(1) of the rater, -1 to 1: how alike the satisfactions of one user are (one-way analysis of variance).

    Shrout and Fleiss, "Intraclass Correlations" (1979); users with unequal numbers of turns as in Donner (1986).
    """
    users, user = of_users([turn.user for turn in turns])
    truth = np.array([turn.satisfaction for turn in turns], dtype=float)
    count, total, squares = (_sums(values, user) for values in (np.ones(len(truth)), truth, truth**2))

    def of(drawn: Floats) -> Floats:
        raters, n = drawn.sum(axis=1), drawn @ count
        overall = (drawn @ total) ** 2 / n
        of_users_ = drawn @ (total**2 / count)
        between = _divided(of_users_ - overall, raters - 1)
        within = _divided(drawn @ squares - of_users_, n - raters)
        typical = _divided(n - (drawn @ count**2) / n, raters - 1)
        return _divided(between - within, between + (typical - 1) * within)

    reason = "undefined: one user, one turn of each, or the same satisfaction everywhere"
    return interval(of, len(users), reason, n=len(turns), seed=seed)


def _sums(values: NDArray[Any], user: NDArray[np.int64]) -> Floats:
    sums: Floats = np.bincount(user, weights=values).astype(float)
    return sums


def _divided(above: Floats, below: Floats) -> Floats:
    """NaN where the divisor is nothing."""
    result: Floats = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=np.abs(below) > 1e-12)
    return result
