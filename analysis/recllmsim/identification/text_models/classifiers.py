"""Classifiers of profile options: forests, boosted trees and linear models, by option or as a chain."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .....errors import SettingError, of_extra
from ....over_users.estimate import FloatArray
from .texts import UserText, tf_idf

Truth: TypeAlias = NDArray[np.bool_]
"""Texts x options: which are true."""
Classify: TypeAlias = Callable[[Sequence[UserText], Truth, Sequence[UserText], int], FloatArray]
"""From texts with their options, further texts and a seed to a score of each option, 0 to 1, of each further text."""

TREES = 100
"""Of a forest, and of boosted trees, as published."""
DEPTH = 10
"""Of each tree at most, as published."""
RATE = 0.1
"""At which boosted trees learn, as published."""


@dataclass(frozen=True)
class Model:
    """A model by name."""

    name: str
    classify: Classify
    seeded: bool = True
    """Whether the seed changes its predictions."""


def prior(train: Sequence[UserText], truth: Truth, texts: Sequence[UserText], seed: int = 0) -> FloatArray:
    """The share of the training texts that have each option, for every text."""
    share: FloatArray = truth.mean(axis=0)
    return np.tile(share, (len(texts), 1))


PRIOR = Model("label prior", prior, seeded=False)


def forest(trees: int = TREES) -> Classify:
    """A random forest whose trees predict all options at once."""

    def fitted(train_features: Any, truth: Truth, test_features: Any, seed: int) -> FloatArray:
        by_option = grown(trees_of(trees, seed), train_features, truth).predict_proba(test_features)
        return np.column_stack([shares[:, 1] for shares in by_option]) if truth.shape[1] > 1 else by_option[:, 1:]

    return _on_tf_idf(fitted)


def chain(base: Callable[[int], Any]) -> Classify:
    """A chain of classifiers in an order by the seed (Read et al. 2011).

    Each reads the predictions of those before it. `base`: from a seed to a classifier with probabilities.
    """

    def fitted(train_features: Any, truth: Truth, test_features: Any, seed: int) -> FloatArray:
        options = truth.shape[1]
        order = np.random.default_rng(seed).permutation(options)
        probabilities: FloatArray = (
            _of("multioutput")
            .ClassifierChain(base(seed), order=order)
            .fit(train_features, truth)
            .predict_proba(test_features)
        )
        return probabilities

    return _on_tf_idf(fitted)


def each_alone(base: Callable[[int], Any]) -> Classify:
    """A classifier for each option."""

    def fitted(train_features: Any, truth: Truth, test_features: Any, seed: int) -> FloatArray:
        by_option = [base(seed).fit(train_features, of).predict_proba(test_features)[:, 1] for of in truth.T]
        return np.column_stack(by_option)

    return _on_tf_idf(fitted)


def models(names: Sequence[str], trees: int = TREES) -> list[Model]:
    """Models by their names. SettingError for an unknown one; MissingExtraError where an extra is missing."""
    makers = learners(trees)
    for name in names:
        if name not in makers:
            raise SettingError(f"--model {name}: is not a model: give {', '.join(makers)}, or PROVIDER:NAME")
        if name.startswith("xgboost"):
            booster(1, 0)  # who lacks it reads which extra brings it before anything is learnt
    return [Model(name, makers[name](), seeded=name != "logistic") for name in dict.fromkeys(names)]


def learners(trees: int = TREES) -> Mapping[str, Callable[[], Classify]]:
    """The factory of each model, by name."""
    wood, boosted = partial(trees_of, trees), partial(booster, trees)
    return {
        "forest": lambda: forest(trees),
        "forest-alone": lambda: each_alone(wood),
        "forest-chain": lambda: chain(wood),
        "logistic": lambda: each_alone(logistic),
        "logistic-chain": lambda: chain(logistic),
        "xgboost": lambda: each_alone(boosted),
        "xgboost-chain": lambda: chain(boosted),
    }


def logistic(seed: int = 0) -> Any:
    """A logistic regression, scikit-learn's defaults."""
    return _of("linear_model").LogisticRegression(solver="newton-cg")


def trees_of(trees: int, seed: int, **settings: Any) -> Any:
    """A random forest of scikit-learn, with other settings of it where they are given."""
    settings = {"max_depth": DEPTH, **settings}
    return _of("ensemble").RandomForestClassifier(n_estimators=trees, random_state=seed, **settings)


def grown(wood: Any, features: Any, targets: Any) -> Any:
    """A fitted forest.

    All processors grow its trees, each from its own seed. It predicts in one thread, because threads would add the
    trees' shares in any order, and the last digits with it.
    """
    with warnings.catch_warnings():
        # Before Python 3.14 its threads share one list of filters: one that finds it empty warns of it.
        warnings.filterwarnings("ignore", "`sklearn.utils.parallel.delayed` should be used", UserWarning)
        return wood.set_params(n_jobs=-1).fit(features, targets).set_params(n_jobs=1)


def booster(trees: int, seed: int) -> Any:
    """Boosted trees of XGBoost (extra `stats`)."""
    return of_extra("xgboost", "stats").XGBClassifier(
        n_estimators=trees, max_depth=DEPTH, learning_rate=RATE, random_state=seed, n_jobs=1
    )


def _on_tf_idf(fitted: Callable[[Any, Truth, Any, int], FloatArray]) -> Classify:
    """A classifier on TF-IDF that learns only options that some but not all training texts have.

    Options that all of them have, or none has, are predicted so.
    """

    def classify(train: Sequence[UserText], truth: Truth, texts: Sequence[UserText], seed: int) -> FloatArray:
        scores = prior(train, truth, texts)
        varied = np.flatnonzero((scores[0] > 0) & (scores[0] < 1)) if len(texts) else np.array([], dtype=int)
        if len(varied):
            train_features, test_features = tf_idf(train, texts)
            scores[:, varied] = fitted(train_features, truth[:, varied], test_features, seed)
        return scores

    return classify


def _of(module: str) -> Any:
    return of_extra(f"sklearn.{module}", "stats")
