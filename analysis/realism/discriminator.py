"""Whether a model that sees the measures alone can tell simulated users from people. Needs the extra `ml`."""

from collections.abc import Sequence

import numpy as np

from ...errors import of_extra
from .contrast import Floats, Ints, quantile
from .measures import Measure
from .numbers import Side, chance
from .report import Discriminator, Interval, Lean
from .rows import FEWEST_USERS, Draws, halvings

FOLDS = 5
FLOOR_HALVINGS = 20
RESAMPLES = 500
MOST_LEANS = 8


def discriminate(
    sim: Side, human: Side, measures: Sequence[Measure], columns: Sequence[int], draws: Draws, published: Side | None
) -> Discriminator:
    """How well a logistic regression on the given columns orders conversations of users that it has not seen.

    Whole users are held out, five times; a measure that a conversation does not tell is at its median, and each is
    standardised within its task. Its interval is that of users drawn with replacement, from five on each side on;
    the floor is the same model on halves of the people.
    """
    names = tuple(measures[column].name for column in columns)
    auc, weights = told_apart(sim, human, columns, draws)
    lean = sorted(zip(names, weights, strict=False), key=lambda pair: -abs(pair[1]))
    return Discriminator(
        auc=auc,
        floor=_floor(human, columns, draws),
        published=told_apart(published, human, columns, draws)[0] if published is not None else None,
        measures=names,
        leans_on=tuple(Lean(name=name, weight=float(weight)) for name, weight in lean[:MOST_LEANS]),
    )


def _floor(human: Side, columns: Sequence[int], draws: Draws) -> Interval:
    """Median of the halvings, with the range of the middle 95 % of them."""
    users = {name: number for number, name in enumerate(dict.fromkeys(s.cluster for s in human.speeches))}
    own = np.array([users[speech.cluster] for speech in human.speeches], dtype=np.int64)
    told = []
    for half in halvings(len(users), draws)[:FLOOR_HALVINGS]:
        first = half[own] > 0
        one = told_apart(human.where(list(first)), human.where(list(~first)), columns, draws, resamples=0)[0].value
        if one is not None:
            told.append(one)
    if not told:
        return Interval(value=None, reason="too few people for halves")
    low, middle, high = (float(quantile(np.array(told)[:, None], share)[0]) for share in (0.025, 0.5, 0.975))
    return Interval(value=middle, low=low, high=high)


def told_apart(
    sim: Side, human: Side, columns: Sequence[int], draws: Draws, resamples: int = RESAMPLES
) -> tuple[Interval, list[float]]:
    """The share of pairs that a model orders rightly, with its interval, and the weight of each column."""
    speeches = (*sim.speeches, *human.speeches)
    side = np.array([1] * len(sim.speeches) + [0] * len(human.speeches), dtype=np.int64)
    names = {
        key: n for n, key in enumerate(dict.fromkeys(zip(side.tolist(), (s.cluster for s in speeches), strict=True)))
    }
    user = np.array(
        [names[key] for key in zip(side.tolist(), (s.cluster for s in speeches), strict=True)], dtype=np.int64
    )
    fewest = min(len({key for key in names if key[0] == one}) for one in (0, 1))
    if fewest < FEWEST_USERS or not len(columns):
        why = "a side has one user or none" if len(columns) else "no measure that both sides tell differs"
        return Interval(value=None, reason=why), []
    task = np.unique([speech.task for speech in speeches], return_inverse=True)[1]
    values = np.concatenate([sim.values, human.values])[:, list(columns)]
    score, fold, weights = _scores(_standardised(values, task), side, user, min(FOLDS, fewest), draws.seed)
    users = len(names)
    value = _ordered(score, side, fold, np.ones((1, len(side))))[0]
    if not np.isfinite(value):
        return Interval(value=None, reason="too few users to hold some out"), weights
    if not resamples or fewest < FOLDS:
        # Of few users each draw is much the same again: the interval would be a point.
        why = "too few users for an interval" if resamples else ""
        return Interval(value=float(value), reason=why), weights
    drawn = np.zeros((resamples, users))
    rng = chance(draws.seed, "discriminator")
    for one in (0, 1):
        own = np.unique(user[side == one])
        drawn[:, own] = rng.multinomial(own.size, np.full(own.size, 1 / own.size), size=resamples)
    found = _ordered(score, side, fold, drawn[:, user])[:, None]
    low, high = (float(quantile(found, share)[0]) for share in (0.025, 0.975))
    return Interval(value=float(value), low=low, high=high), weights


def _standardised(values: Floats, task: Ints) -> Floats:
    """Each column at mean 0 within tasks and at standard deviation 1, the median for what is missing."""
    result = values.copy()
    for number in np.unique(task):
        rows = task == number
        part = result[rows]
        middle = np.nan_to_num(quantile(part, 0.5))
        part = np.where(np.isnan(part), middle, part)
        result[rows] = part - part.mean(axis=0)
    deviation = result.std(axis=0)
    scaled: Floats = np.clip(result / np.where(deviation > 1e-12, deviation, 1.0), -5, 5)
    return scaled


def _scores(values: Floats, side: Ints, user: Ints, folds: int, seed: int) -> tuple[Floats, Ints, list[float]]:
    """For each conversation the score of a model that has not seen its user, and its fold; and the mean weights."""
    of_extra("sklearn", "ml")
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    score, fold = np.full(len(side), np.nan), np.full(len(side), -1, dtype=np.int64)
    weights = []
    # Each side in folds of its own: a user is on one side alone, and both sides stand in every fold.
    for one in (0, 1):
        rows = np.flatnonzero(side == one)
        split = GroupKFold(n_splits=folds, shuffle=True, random_state=seed + one)
        for number, (_, test) in enumerate(split.split(rows, groups=user[rows])):
            fold[rows[test]] = number
    for number in range(folds):
        train, test = fold != number, fold == number
        model = LogisticRegression(C=0.1, class_weight="balanced", solver="newton-cholesky")
        model.fit(values[train], side[train])
        score[test] = model.decision_function(values[test])
        weights.append(model.coef_[0])
    return score, fold, [float(weight) for weight in np.mean(weights, axis=0)] if weights else []


def _ordered(score: Floats, side: Ints, fold: Ints, weights: Floats) -> Floats:
    """For each row of weights the share of pairs within a fold that are ordered rightly, ties half.

    Only within a fold, as models of different folds have different scales.
    """
    right, pairs = np.zeros(len(weights)), np.zeros(len(weights))
    for number in np.unique(fold[fold >= 0]):
        rows = np.flatnonzero(fold == number)
        values, place = np.unique(score[rows], return_inverse=True)
        ones, others = np.zeros((len(weights), values.size)), np.zeros((len(weights), values.size))
        for table, label in ((ones, 1), (others, 0)):
            own = side[rows] == label
            np.add.at(table.T, place[own], weights[:, rows[own]].T)
        below = np.cumsum(others, axis=1) - others / 2
        right += (ones * below).sum(axis=1)
        pairs += ones.sum(axis=1) * others.sum(axis=1)
    result = np.full(len(weights), np.nan)
    np.divide(right, pairs, out=result, where=pairs > 0)
    return result
