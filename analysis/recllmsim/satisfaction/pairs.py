"""Pairs of turns of one conversation that differ in satisfaction: the reply that serves the user better.

These pairs are ours. The published ones are two conversations of one person and task, by the usefulness in the
questionnaire, or a reply and its refinement.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from math import log
from typing import Any

import numpy as np

from ....data.identity import digest
from ....errors import of_extra
from ...over_users.concordance import Pair, pairs_within, preference
from ...over_users.estimate import FloatArray, mean_over
from ...over_users.folds import Fold, tested
from ..identification.settings import SplitName, parts
from ..identification.text_models.texts import tf_idf
from ..identification.values import Task, ValueRow, rows_of_models, unwatched
from .turns import ToldTurn


def pairs_of(turns: Sequence[ToldTurn], most: int = 10) -> list[Pair[int]]:
    """Pairs of turns of one conversation that differ in satisfaction, at most this number of each, drawn by digest."""
    conversations = [turn.judged.conversation for turn in turns]
    pairs = pairs_within([turn.judged.satisfaction for turn in turns], conversations)
    chosen: list[Pair[int]] = []
    for conversation, own in groupby(pairs, key=lambda pair: pair.group):
        first = conversations.index(conversation)
        path = turns[first].judged.path
        chosen += sorted(own, key=lambda pair: digest("pair", path, pair.better - first, pair.worse - first))[:most]
    return chosen


def measure_pairs(turns: Sequence[ToldTurn], split: SplitName, reads: str) -> list[ValueRow]:
    """Accuracy of chance, of the longer reply, and of a linear utility of the words, on pairs.

    Empty with too few pairs. The utility is that of a logistic regression on differences of TF-IDF without an intercept
    (Bradley and Terry 1952). So the order within a pair has no effect.
    """
    pairs = pairs_of(turns)
    users = [turns[pair.better].judged.user for pair in pairs]
    if len(set(users)) < 2 or len(pairs) < 5:
        return []
    folds = parts(users, split)
    task = Task("pairs", reads, [], [], users, folds, split)
    places = tested(folds)
    longer = np.array([_longer(turns, pairs[place]) for place in places])
    models: dict[str, Callable[[int], FloatArray]] = {
        "prior": lambda _: np.full(len(places), 0.5),
        "longer reply": lambda _: longer,
        "logistic": lambda _: np.concatenate([_by_words(turns, pairs, fold) for fold in folds]),
    }
    _, user = task.tested_users
    return rows_of_models(task, models, lambda right: {"accuracy": mean_over(right, user)}, seeds=1, watch=unwatched)


def _longer(turns: Sequence[ToldTurn], pair: Pair[int]) -> float:
    above = log(1 + len(turns[pair.better].judged.reply)) - log(1 + len(turns[pair.worse].judged.reply))
    return preference(above, 0)


def _by_words(turns: Sequence[ToldTurn], pairs: Sequence[Pair[int]], fold: Fold) -> FloatArray:
    """For each tested pair 1 if it is ordered rightly, a half for a tie."""
    train, test = fold
    learnt = sorted({place for at in train for place in (pairs[at].better, pairs[at].worse)})
    tested = [place for at in test for place in (pairs[at].better, pairs[at].worse)]
    train_features, test_features = tf_idf(
        [turns[place].text for place in learnt], [turns[place].text for place in tested]
    )
    row = {place: number for number, place in enumerate(learnt)}
    better, worse = ([row[place] for place in side] for side in zip(*((pairs[at].better, pairs[at].worse) for at in train), strict=True))  # fmt: skip
    difference: Any = train_features[better] - train_features[worse]
    stack = of_extra("scipy.sparse", "stats").vstack
    model = of_extra("sklearn.linear_model", "stats").LogisticRegression(fit_intercept=False, solver="newton-cg")
    model.fit(stack([difference, -difference]), [1] * len(train) + [0] * len(train))
    above = model.decision_function(test_features[0::2] - test_features[1::2])
    return np.array([preference(value, 0) for value in above])
