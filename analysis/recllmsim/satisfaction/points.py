"""Satisfaction as a number: regression on the words, its errors and its agreement with people."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ....errors import of_extra
from ...over_users.estimate import FloatArray, Of, crossed, mean_over
from ...over_users.folds import tested
from ..identification.text_models.classifiers import TREES, grown
from ..identification.text_models.texts import UserText, tf_idf
from ..identification.values import PRIOR, ModelWatch, Task, ValueRow, rows_of_models, unwatched
from ..judges.scores import weighted_kappa
from ..judges.turns import HIGHEST, LOWEST, nearest

Guess: TypeAlias = Callable[[Sequence[UserText], FloatArray, Sequence[UserText], int], FloatArray]
"""From texts with their points, further texts and a seed to the points of these, parts of points too."""


def regressor(name: str, trees: int = TREES) -> Guess:
    """A regression on words: a forest, boosted trees (extra `stats`), or, for `logistic`, a ridge regression."""

    def make(seed: int) -> Any:
        if name == "forest":
            return of_extra("sklearn.ensemble", "stats").RandomForestRegressor(n_estimators=trees, random_state=seed, max_features=1 / 3)  # fmt: skip
        if name == "xgboost":
            return of_extra("xgboost", "stats").XGBRegressor(n_estimators=trees, random_state=seed, n_jobs=1)
        return of_extra("sklearn.linear_model", "stats").Ridge()

    def guess(train: Sequence[UserText], points: FloatArray, texts: Sequence[UserText], seed: int) -> FloatArray:
        train_features, test_features = tf_idf(train, texts)
        model = (
            grown(make(seed), train_features, points) if name == "forest" else make(seed).fit(train_features, points)
        )
        predicted: FloatArray = np.clip(model.predict(test_features), LOWEST, HIGHEST)
        return predicted

    return guess


def _mean(train: Sequence[UserText], points: FloatArray, texts: Sequence[UserText], seed: int) -> FloatArray:
    return np.full(len(texts), points.mean())


def measure_points(
    task: Task, models: Mapping[str, Guess], *, seeds: int = 1, watch: ModelWatch = unwatched
) -> list[ValueRow]:
    """The prior (the mean) and each model: mean absolute error, root of the mean squared error, weighted kappa.

    `task.values` are whole points as texts. `mae` and `rmse` are of predictions as they are; `mae_rounded` and kappa are
    of the nearest whole points, as `mae` and kappa of judges. `watch`: called with a line on progress.
    """
    points = np.array([float(value) for value in task.values])
    truth, (_, user) = points[tested(task.folds)], task.tested_users

    def guesses(guess: Guess) -> Callable[[int], FloatArray]:
        def predicted(seed: int) -> FloatArray:
            texts = [([task.texts[place] for place in part] for part in fold) for fold in task.folds]
            learnt = [points[train] for train, _ in task.folds]
            return np.concatenate(
                [guess(train, own, test, seed) for (train, test), own in zip(texts, learnt, strict=True)]
            )

        return predicted

    def scores(predicted: FloatArray) -> dict[str, Of]:
        whole = np.array([nearest(value) for value in predicted])
        error = predicted - truth
        squared = mean_over(error**2, user)
        return {
            "mae": mean_over(abs(error), user),
            "mae_rounded": mean_over(abs(whole - truth), user),
            "rmse": lambda drawn: np.sqrt(squared(drawn)),
            "qwk": weighted_kappa(crossed(user, truth.astype(int) - LOWEST, whole - LOWEST, HIGHEST)),
        }

    names = {"logistic": "ridge"}
    predictions = {names.get(model, model): guesses(guess) for model, guess in {PRIOR: _mean, **models}.items()}
    return rows_of_models(task, predictions, scores, seeds=seeds, watch=watch, scale=(-np.inf, np.inf))
