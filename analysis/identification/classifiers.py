"""What learns the options of a profile from texts: forests, boosted trees and linear models, by option or as a chain."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError, of_extra
from ..judges.scores import Floats
from .texts import Text, tf_idf

Truth: TypeAlias = NDArray[np.bool_]
"""Texts x options: which are true."""
Classify: TypeAlias = Callable[[Sequence[Text], Truth, Sequence[Text], int], Floats]
"""From texts with their options, further texts and a seed to a score of each option, 0 to 1, of each further text."""

TREES = 100
"""Of a forest, and of boosted trees, as published."""
DEPTH = 10
"""Of each tree at most, as published."""
RATE = 0.1
"""At which boosted trees learn, as published."""


@dataclass(frozen=True)
class Model:
    """What is measured, by name."""

    name: str
    classify: Classify
    seeded: bool = True
    """Whether the seed changes what it says."""


def prior(train: Sequence[Text], truth: Truth, texts: Sequence[Text], seed: int = 0) -> Floats:
    """The share of the learnt texts that have each option, whatever is said."""
    share: Floats = truth.mean(axis=0)
    return np.tile(share, (len(texts), 1))


PRIOR = Model("label prior", prior, seeded=False)


def forest(trees: int = TREES) -> Classify:
    """A random forest whose trees tell all options at once."""

    def fitted(known: Any, truth: Truth, asked: Any, seed: int) -> Floats:
        by_option = grown(trees_of(trees, seed), known, truth).predict_proba(asked)
        return np.column_stack([each[:, 1] for each in by_option]) if truth.shape[1] > 1 else by_option[:, 1:]

    return _on_tf_idf(fitted)


def chain(base: Callable[[int], Any]) -> Classify:
    """A chain of classifiers in an order by the seed: each is told what those before it say (Read et al. 2011).

    `base`: from a seed to a classifier with probabilities.
    """

    def fitted(known: Any, truth: Truth, asked: Any, seed: int) -> Floats:
        options = truth.shape[1]
        order = np.random.default_rng(seed).permutation(options)
        told: Floats = (
            _of("multioutput").ClassifierChain(base(seed), order=order).fit(known, truth).predict_proba(asked)
        )
        return told

    return _on_tf_idf(fitted)


def each_alone(base: Callable[[int], Any]) -> Classify:
    """A classifier for each option."""

    def fitted(known: Any, truth: Truth, asked: Any, seed: int) -> Floats:
        by_option = [base(seed).fit(known, of).predict_proba(asked)[:, 1] for of in truth.T]
        return np.column_stack(by_option)

    return _on_tf_idf(fitted)


def models(names: Sequence[str], trees: int = TREES) -> list[Model]:
    """Models by their names. SettingError for an unknown one; MissingExtraError where an extra is missing."""
    known = learners(trees)
    for name in names:
        if name not in known:
            raise SettingError(f"--model {name}: is no model: give {', '.join(known)}, or PROVIDER:NAME")
        if name.startswith("xgboost"):
            booster(1, 0)  # who lacks it reads which extra brings it before anything is learnt
    return [Model(name, known[name](), seeded=name != "logistic") for name in dict.fromkeys(names)]


def learners(trees: int = TREES) -> Mapping[str, Callable[[], Classify]]:
    """What makes each model, by name."""

    def wood(seed: int) -> Any:
        return trees_of(trees, seed)

    def boosted(seed: int) -> Any:
        return booster(trees, seed)

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


def grown(wood: Any, known: Any, told: Any) -> Any:
    """A fitted forest. All processors grow its trees, each from its own seed; it answers in one thread, because threads
    would add the trees' shares in any order, and the last digits with it."""
    return wood.set_params(n_jobs=-1).fit(known, told).set_params(n_jobs=1)


def booster(trees: int, seed: int) -> Any:
    """Boosted trees of XGBoost (extra `xgboost`)."""
    return of_extra("xgboost", "xgboost").XGBClassifier(
        n_estimators=trees, max_depth=DEPTH, learning_rate=RATE, random_state=seed, n_jobs=1
    )


def one_thread() -> Any:
    """A context in which linear algebra has one thread: for texts as few as these it is several times as fast, and the
    last digits do not depend on the machine's processors."""
    return of_extra("threadpoolctl", "ml").threadpool_limits(limits=1, user_api="blas")


def _on_tf_idf(fitted: Callable[[Any, Truth, Any, int], Floats]) -> Classify:
    """Options that all learnt texts have, or none has, are told so; only the others are learnt."""

    def classify(train: Sequence[Text], truth: Truth, texts: Sequence[Text], seed: int) -> Floats:
        scores = prior(train, truth, texts)
        varied = np.flatnonzero((scores[0] > 0) & (scores[0] < 1)) if len(texts) else np.array([], dtype=int)
        if len(varied):
            known, asked = tf_idf(train, texts)
            scores[:, varied] = fitted(known, truth[:, varied], asked, seed)
        return scores

    return classify


def _of(module: str) -> Any:
    return of_extra(f"sklearn.{module}", "ml")
