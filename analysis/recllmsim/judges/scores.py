"""How near a judge comes to people: scores with intervals over users, from each user's own sums."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...over_users.chance import beyond_chance, chance_of_margins, distances_of
from ...over_users.concordance import concordance_within
from ...over_users.estimate import (
    FloatArray,
    Of,
    Places,
    Unsure,
    UserScore,
    auc_within,
    correlation_within,
    crossed,
    fishers,
    interval,
    items_of,
    mean_over,
    of_users,
    ratio,
    root_from,
    sums_of,
)
from ...over_users.jackknife import one_more
from .turns import HIGHEST, LOWEST, JudgedTurn, nearest

ScoreName: TypeAlias = Literal["qwk", "mae", "gain", "auc", "concordance", "accuracy", "macro_f1", "icc"]


@dataclass(frozen=True)
class PairedScores:
    """Turns with a judge's points, 1 to 5, parts of points too."""

    turns: Sequence[JudgedTurn]
    points: Sequence[float]
    fold: Sequence[int]
    """The fold of each turn's points: those of different folds are by differently trained models."""


def satisfaction_scores(paired: PairedScores, *, why_no_concordance: str = "") -> dict[ScoreName, UserScore]:
    """Every score of a judge of satisfaction.

    - `qwk`: Cohen's kappa with quadratic weights, of the nearest whole points;
    - `mae`: mean absolute error of the same;
    - `gain`: by how much that error is below that of the constant 4 on the same turns;
    - `auc`: share of pairs whose former turn has fewer points, ties half. A pair is a turn with 3 points or less and
        one with more, of the same fold;
    - `concordance`: share of a user's pairs of conversations that the mean points order as the mean satisfaction does.
    """
    if not paired.turns:
        return dict.fromkeys(("qwk", "mae", "gain", "auc", "concordance"), UserScore(value=None, reason="undefined: the judge gives nothing"))  # fmt: skip
    _, user = of_users([turn.user for turn in paired.turns])
    items = items_of(user)
    truth = np.array([turn.satisfaction for turn in paired.turns])
    predicted = np.array([nearest(points) for points in paired.points])
    table = crossed(user, truth - LOWEST, predicted - LOWEST, HIGHEST)
    error = abs(predicted - truth)
    dissatisfied = np.array([turn.dissatisfied for turn in paired.turns])
    auc, pairs = auc_within(dissatisfied, -np.array(paired.points, dtype=float), np.array(paired.fold), user)
    n, one_sided = len(paired.turns), "undefined: no fold has both satisfied and dissatisfied turns"
    gain = mean_over(abs(4 - truth) - error, user)

    return {
        "qwk": _kappa(table, items, len(paired.turns)),
        "mae": _mae(error, user, items),
        "gain": interval(gain, items, "", n=n, scale=(LOWEST - HIGHEST, HIGHEST - LOWEST)),
        "auc": interval(auc, pairs, one_sided, n=n, share=True),
        "concordance": UserScore(value=None, reason=f"undefined: {why_no_concordance}")
        if why_no_concordance
        else _concordance(paired),
    }


def weighted_kappa(table: FloatArray) -> Of:
    """Cohen's kappa with quadratic weights (1968), of user x true value x predicted value counts.

    Its variance has what one more agreement on a rare value would change.
    Without it the interval of a judge of rare values covers .81 to .92.
    """
    disagreement = chance_of_margins(distances_of(np.arange(table.shape[1]), "quadratic"))
    of, total = beyond_chance(table, disagreement), table.sum(axis=0)
    value = float(of(np.ones((1, len(table))))[0])
    return Unsure(of, one_more(total, disagreement, value, 1.0) if np.isfinite(value) else 0.0)


def _kappa(table: FloatArray, items: FloatArray, n: int) -> UserScore:
    apart = (table * distances_of(np.arange(table.shape[1]), "quadratic")).sum(axis=(1, 2))
    undefined = "undefined: people and the judge give the same for every turn"
    return interval(weighted_kappa(table), items, undefined, n=n, scale=(-1.0, 1.0), on=root_from(1.0, -1.0, apart))


def _mae(error: NDArray[Any], user: Places, items: FloatArray) -> UserScore:
    greatest = float(HIGHEST - LOWEST)
    on = root_from(0.0, greatest, sums_of(error, user))
    return interval(mean_over(error, user), items, "", n=len(user), scale=(0.0, greatest), on=on)


def _concordance(paired: PairedScores) -> UserScore:
    by_conversation: dict[int, list[int]] = {}
    for place, turn in enumerate(paired.turns):
        by_conversation.setdefault(turn.conversation, []).append(place)
    groups = list(by_conversation.values())
    pairs = concordance_within(
        [fmean(paired.turns[place].satisfaction for place in group) for group in groups],
        [fmean(paired.points[place] for place in group) for group in groups],
        [paired.turns[group[0]].user for group in groups],
    )
    telling = [user_pairs for user_pairs in pairs.values() if user_pairs.count]
    if not telling:
        return UserScore(value=None, reason="undefined: no user has two conversations of different satisfaction")
    right, count = np.array([(user_pairs.right, user_pairs.count) for user_pairs in telling], dtype=float).T
    users = {name for name, user_pairs in pairs.items() if user_pairs.count}
    n = sum(paired.turns[group[0]].user in users for group in groups)
    return interval(ratio(right, count), count, "", n=n, share=True)


def intraclass(turns: Sequence[JudgedTurn]) -> UserScore:
    """ICC(1) of the rater, -1 to 1: how alike the satisfactions of one user are."""
    _, user = of_users([turn.user for turn in turns])
    of, alike = correlation_within(np.array([turn.satisfaction for turn in turns], dtype=float), user)
    reason = "undefined: one user, one turn of each, or the same satisfaction everywhere"
    return interval(of, items_of(user), reason, n=len(turns), scale=(-1.0, 1.0), on=fishers(alike))
