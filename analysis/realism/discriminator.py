"""Whether a model that sees the measures alone can tell simulated users from people. Needs the extra `ml`."""

from collections.abc import Sequence

import numpy as np

from ...errors import of_extra
from .cells import Floats, Ints, quantile
from .measures import Measure
from .report import Coefficient, Discriminator, Interval
from .rows import FEWEST_USERS, Draws, halvings
from .samples import Sample, generator

FOLDS = 5
FLOOR_HALVINGS = 20
RESAMPLES = 500
MOST_COEFFICIENTS = 8


def discriminate(
    sim: Sample,
    human: Sample,
    measures: Sequence[Measure],
    columns: Sequence[int],
    draws: Draws,
    published: Sample | None,
) -> Discriminator:
    """How well a logistic regression on the chosen columns orders conversations of users that it has not seen.

    Whole users are held out, in five folds; a missing value is replaced by the median, and each measure is
    standardised within its task. The interval is that of users drawn with replacement, where each side has five or
    more; the floor is the same model on halves of the people.
    """
    names = tuple(measures[column].name for column in columns)
    auc, weights = cross_validated_auc(sim, human, columns, draws)
    largest_first = sorted(zip(names, weights, strict=False), key=lambda pair: -abs(pair[1]))
    return Discriminator(
        auc=auc,
        floor=_floor(human, columns, draws),
        published=cross_validated_auc(published, human, columns, draws)[0] if published is not None else None,
        measures=names,
        leans_on=tuple(
            Coefficient(name=name, weight=float(weight)) for name, weight in largest_first[:MOST_COEFFICIENTS]
        ),
    )


def _floor(human: Sample, columns: Sequence[int], draws: Draws) -> Interval:
    """Median AUC between halves of the people, with the range of the middle 95 % of the halvings."""
    clusters = [transcript.cluster for transcript in human.transcripts]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    user = np.array([numbers[cluster] for cluster in clusters], dtype=np.int64)
    aucs = []
    for half in halvings(len(numbers), draws)[:FLOOR_HALVINGS]:
        in_first = half[user] > 0
        first, second = human.where(list(in_first)), human.where(list(~in_first))
        auc = cross_validated_auc(first, second, columns, draws, resamples=0)[0].value
        if auc is not None:
            aucs.append(auc)
    if not aucs:
        return Interval(value=None, reason="too few people for halves")
    low, median, high = (float(quantile(np.array(aucs)[:, None], share)[0]) for share in (0.025, 0.5, 0.975))
    return Interval(value=median, low=low, high=high)


def cross_validated_auc(
    sim: Sample, human: Sample, columns: Sequence[int], draws: Draws, resamples: int = RESAMPLES
) -> tuple[Interval, list[float]]:
    """The AUC with its interval, and the coefficient of each column.

    The AUC is the share of pairs of a simulated and a person's conversation that the model orders rightly.
    """
    transcripts = (*sim.transcripts, *human.transcripts)
    side = np.array([1] * len(sim.transcripts) + [0] * len(human.transcripts), dtype=np.int64)
    users = list(zip(side.tolist(), (transcript.cluster for transcript in transcripts), strict=True))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(users))}
    user = np.array([numbers[key] for key in users], dtype=np.int64)
    fewest = min(sum(key[0] == label for key in numbers) for label in (0, 1))
    if fewest < FEWEST_USERS or not len(columns):
        why = "a side has one user or none" if len(columns) else "no measure that both sides tell differs"
        return Interval(value=None, reason=why), []
    task = np.unique([transcript.task for transcript in transcripts], return_inverse=True)[1]
    values = np.concatenate([sim.values, human.values])[:, list(columns)]
    score, fold, weights = _held_out_scores(_standardised(values, task), side, user, min(FOLDS, fewest), draws.seed)
    auc = _auc_within_folds(score, side, fold, np.ones((1, len(side))))[0]
    if not np.isfinite(auc):
        return Interval(value=None, reason="too few users to hold some out"), weights
    if not resamples or fewest < FOLDS:
        # Of few users each draw is much the same again: the interval would be a point.
        why = "too few users for an interval" if resamples else ""
        return Interval(value=float(auc), reason=why), weights
    drawn = np.zeros((resamples, len(numbers)))
    rng = generator(draws.seed, "discriminator")
    for label in (0, 1):
        of_side = np.unique(user[side == label])
        drawn[:, of_side] = rng.multinomial(of_side.size, np.full(of_side.size, 1 / of_side.size), size=resamples)
    aucs = _auc_within_folds(score, side, fold, drawn[:, user])[:, None]
    low, high = (float(quantile(aucs, share)[0]) for share in (0.025, 0.975))
    return Interval(value=float(auc), low=low, high=high), weights


def _standardised(values: Floats, task: Ints) -> Floats:
    """Each column with the median for what is missing, centred within tasks, at standard deviation 1."""
    centred = values.copy()
    for number in np.unique(task):
        rows = task == number
        in_task = centred[rows]
        median = np.nan_to_num(quantile(in_task, 0.5))
        filled = np.where(np.isnan(in_task), median, in_task)
        centred[rows] = filled - filled.mean(axis=0)
    deviation = centred.std(axis=0)
    scaled: Floats = np.clip(centred / np.where(deviation > 1e-12, deviation, 1.0), -5, 5)
    return scaled


def _held_out_scores(values: Floats, side: Ints, user: Ints, folds: int, seed: int) -> tuple[Floats, Ints, list[float]]:
    """Each conversation's score by a model that has not seen its user, and its fold; and the mean coefficients."""
    of_extra("sklearn", "ml")
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    score, fold = np.full(len(side), np.nan), np.full(len(side), -1, dtype=np.int64)
    weights = []
    # Each side in folds of its own: a user is on one side alone, and both sides stand in every fold.
    for label in (0, 1):
        rows = np.flatnonzero(side == label)
        split = GroupKFold(n_splits=folds, shuffle=True, random_state=seed + label)
        for number, (_, test) in enumerate(split.split(rows, groups=user[rows])):
            fold[rows[test]] = number
    for number in range(folds):
        train, test = fold != number, fold == number
        model = LogisticRegression(C=0.1, class_weight="balanced", solver="newton-cholesky")
        model.fit(values[train], side[train])
        score[test] = model.decision_function(values[test])
        weights.append(model.coef_[0])
    return score, fold, [float(weight) for weight in np.mean(weights, axis=0)] if weights else []


def _auc_within_folds(score: Floats, side: Ints, fold: Ints, weights: Floats) -> Floats:
    """For each row of weights the share of pairs within a fold that are ordered rightly, ties half.

    Only within a fold, as models of different folds have different scales.
    """
    right, pairs = np.zeros(len(weights)), np.zeros(len(weights))
    for number in np.unique(fold[fold >= 0]):
        rows = np.flatnonzero(fold == number)
        scores, rank = np.unique(score[rows], return_inverse=True)
        simulated, people = np.zeros((2, len(weights), scores.size))
        for weight_at, label in ((simulated, 1), (people, 0)):
            of_side = side[rows] == label
            np.add.at(weight_at.T, rank[of_side], weights[:, rows[of_side]].T)
        below = np.cumsum(people, axis=1) - people / 2
        right += (simulated * below).sum(axis=1)
        pairs += simulated.sum(axis=1) * people.sum(axis=1)
    auc = np.full(len(weights), np.nan)
    np.divide(right, pairs, out=auc, where=pairs > 0)
    return auc
