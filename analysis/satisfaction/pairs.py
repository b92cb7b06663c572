"""Which of two replies serves the user better: pairs of turns of one conversation that differ in satisfaction."""

from collections.abc import Sequence
from itertools import groupby
from math import log
from typing import Any

import numpy as np

from ...data.identity import digest
from ...errors import of_extra
from ..concordance import Pair, pairs_within, preference
from ..identification.classifiers import one_thread
from ..identification.metrics import over_seeds
from ..identification.settings import Fold, SplitName, parts
from ..identification.texts import tf_idf
from ..identification.values import Task, ValueRow
from ..judges.scores import Floats, of_users, ratio
from .turns import ToldTurn


def pairs_of(turns: Sequence[ToldTurn], most: int = 10) -> list[Pair[int]]:
    """Pairs of turns of one conversation that differ in satisfaction, at most this number of each, drawn by digest."""
    conversations = [turn.judged.conversation for turn in turns]
    pairs = pairs_within([turn.judged.satisfaction for turn in turns], conversations)
    found: list[Pair[int]] = []
    for conversation, own in groupby(pairs, key=lambda pair: pair.group):
        first = conversations.index(conversation)
        path = turns[first].judged.path
        found += sorted(own, key=lambda pair: digest("pair", path, pair.better - first, pair.worse - first))[:most]
    return found


def measure_pairs(turns: Sequence[ToldTurn], split: SplitName, reads: str, *, seed: int = 0) -> list[ValueRow]:
    """Accuracy of chance, of the longer reply, and of a linear utility of the words, on pairs; empty with too few.

    The utility is that of a logistic regression on differences of TF-IDF without an intercept (Bradley and Terry 1952),
    so that it does not matter which of a pair stands first.
    """
    pairs = pairs_of(turns)
    users = [turns[pair.better].judged.user for pair in pairs]
    if len(set(users)) < 2 or len(pairs) < 5:
        return []
    folds = parts(users, split)
    task = Task("pairs", reads, [], [], users, folds, split)
    tested = [place for _, test in folds for place in test]
    names, user = of_users([users[place] for place in tested])
    with one_thread():
        by_words = np.concatenate([_by_words(turns, pairs, fold) for fold in folds])
    right = {
        "prior": np.full(len(tested), 0.5),
        "longer reply": np.array([_longer(turns, pairs[place]) for place in tested]),
        "logistic": by_words,
    }
    rows = []
    for model, each in right.items():
        of = ratio(np.bincount(user, weights=each).astype(float), np.bincount(user).astype(float))
        found = over_seeds([of], len(names), len(user), seed=seed)
        rows.append(ValueRow.of(task, model, "accuracy", found))
    return rows


def _longer(turns: Sequence[ToldTurn], pair: Pair[int]) -> float:
    above = log(1 + len(turns[pair.better].judged.reply)) - log(1 + len(turns[pair.worse].judged.reply))
    return preference(above, 0)


def _by_words(turns: Sequence[ToldTurn], pairs: Sequence[Pair[int]], fold: Fold) -> Floats:
    """For each tested pair 1 if it is ordered rightly, a half for a tie."""
    train, test = fold
    learnt = sorted({place for at in train for place in (pairs[at].better, pairs[at].worse)})
    asked = [place for at in test for place in (pairs[at].better, pairs[at].worse)]
    known, told = tf_idf([turns[place].text for place in learnt], [turns[place].text for place in asked])
    row = {place: number for number, place in enumerate(learnt)}
    better, worse = ([row[place] for place in side] for side in zip(*((pairs[at].better, pairs[at].worse) for at in train), strict=True))  # fmt: skip
    difference: Any = known[better] - known[worse]
    stack = of_extra("scipy.sparse", "ml").vstack
    model = of_extra("sklearn.linear_model", "ml").LogisticRegression(fit_intercept=False, solver="newton-cg")
    model.fit(stack([difference, -difference]), [1] * len(train) + [0] * len(train))
    above = model.decision_function(told[0::2] - told[1::2])
    return np.array([preference(value, 0) for value in above])
