"""Satisfaction as a number: regression on the words, its errors and its agreement with people."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ...errors import of_extra
from ..identification.classifiers import TREES, grown, one_thread
from ..identification.metrics import over_seeds
from ..identification.texts import Text, tf_idf
from ..identification.values import Task, ValueRow, Watch, unwatched
from ..judges.scores import Floats, Of, of_users, ratio, weighted_kappa
from ..judges.turns import HIGHEST, LOWEST, nearest

Guess: TypeAlias = Callable[[Sequence[Text], Floats, Sequence[Text], int], Floats]
"""From texts with their points, further texts and a seed to the points of these, parts of points too."""


def regressor(name: str, trees: int = TREES) -> Guess:
    """A regression on words: a forest, boosted trees (extra `xgboost`), or, for `logistic`, a ridge regression."""

    def make(seed: int) -> Any:
        if name == "forest":
            return of_extra("sklearn.ensemble", "ml").RandomForestRegressor(n_estimators=trees, random_state=seed, max_features=1 / 3)  # fmt: skip
        if name == "xgboost":
            return of_extra("xgboost", "xgboost").XGBRegressor(n_estimators=trees, random_state=seed, n_jobs=1)
        return of_extra("sklearn.linear_model", "ml").Ridge()

    def guess(train: Sequence[Text], points: Floats, texts: Sequence[Text], seed: int) -> Floats:
        known, asked = tf_idf(train, texts)
        model = grown(make(seed), known, points) if name == "forest" else make(seed).fit(known, points)
        told: Floats = np.clip(model.predict(asked), LOWEST, HIGHEST)
        return told

    return guess


def _mean(train: Sequence[Text], points: Floats, texts: Sequence[Text], seed: int) -> Floats:
    return np.full(len(texts), points.mean())


def measure_points(
    task: Task, models: Mapping[str, Guess], *, seeds: int = 1, seed: int = 0, watch: Watch = unwatched
) -> list[ValueRow]:
    """The prior (the mean) and each model: mean absolute error, root of the mean squared error, weighted kappa.

    `task.values` are whole points as texts. Kappa is of the nearest whole points, as of judges. `watch`: is
    told what is under way.
    """
    points = np.array([float(value) for value in task.values])
    tested = [place for _, test in task.folds for place in test]
    truth = points[tested]
    users, user = of_users([task.users[place] for place in tested])
    count = np.bincount(user).astype(float)
    rows = []
    for model, guess in {"prior": _mean, **models}.items():
        name = "ridge" if model == "logistic" else model
        watch(f"{task.name}, {task.reads}: {name}")
        by_seed: list[dict[str, Of]] = []
        for number in range(1 if name in ("prior", "ridge") else seeds):
            with one_thread():
                told = np.concatenate([
                    guess([task.texts[place] for place in train], points[train], [task.texts[place] for place in test], number)
                    for train, test in task.folds
                ])  # fmt: skip
            table = np.zeros((len(users), HIGHEST, HIGHEST))
            whole = np.array([nearest(value) for value in told])
            np.add.at(table, (user, truth.astype(int) - LOWEST, whole - LOWEST), 1)
            error = told - truth
            by_seed.append({
                "mae": ratio(np.bincount(user, weights=abs(error)).astype(float), count),
                "rmse": _root(ratio(np.bincount(user, weights=error**2).astype(float), count)),
                "qwk": weighted_kappa(table),
            })  # fmt: skip
        for score in by_seed[0]:
            found = over_seeds([one[score] for one in by_seed], len(users), len(user), seed=seed)
            rows.append(ValueRow.of(task, name, score, found))
    return rows


def _root(of: Of) -> Of:
    def function(drawn: Floats) -> Floats:
        root: Floats = np.sqrt(of(drawn))
        return root

    return function
