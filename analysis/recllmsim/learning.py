"""What all predictions from words share: texts as words, folds, scikit-learn's models, and scores over users.

Needs the extra `stats`, and `zh` for Chinese.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import floor
from typing import Any, Literal, TypeAlias, get_args

from ...data import domains
from ...data.records import Conversation, Role
from ...data.text.languages import Language
from ...data.text.words import words_of
from ...errors import DataError, SettingError, of_extra
from ..coefficients import chance_of_margins, coefficient, distances_of
from ..estimates import Estimate, Score, by_group, folds, pooled, score

of_extra("numpy", "stats")
import numpy as np  # noqa: E402  # after the line that names the extra that brings it

Split: TypeAlias = Literal["users", "published"]
"""`users`: five folds of whole users, each tested once. `published`: a fifth of the items at random, as the scripts split,
so that other items of nearly all tested users are in training too."""
SPLITS: tuple[Split, ...] = get_args(Split)
Fold: TypeAlias = tuple[list[int], list[int]]
"""Places of the items to learn from and of those to test."""
Words: TypeAlias = Sequence[str]
Array: TypeAlias = Any
"""An array of numpy."""

FEWEST = 5
"""Items that a published split needs."""
NEWTON = "newton-cg"
"""A solver of logistic regressions that draws nothing."""
LOWEST, HIGHEST = 1, 5
"""Points of satisfaction."""
MODELS = ("forest", "logistic")
TREES, DEPTH = 100, 10
"""Of a forest, as published."""


def words_in(texts: Iterable[str], language: Language) -> list[str]:
    """The words of two characters or more, each text cut by itself: letters in English, jieba's words in Chinese."""
    return [word for text in texts for word in words_of(text, language) if len(word) > 1]


def messages_in(
    conversation: Conversation, language: Language | None
) -> tuple[Language, tuple[tuple[Role, str], ...]] | None:
    """The messages in a language and that language, by the source's own translations; None if they are not there in it."""
    spoken: Language = domains.of(conversation).language(conversation) or "en"
    target = language or spoken
    stored = [message for message in conversation.messages if message.stored]
    texts = [one.text if target == spoken else domains.in_language(one, target, spoken) for one in stored]
    read = tuple((one.role, text) for one, text in zip(stored, texts, strict=True) if text is not None)
    return (target, read) if read and len(read) == len(stored) else None


def features(train: Sequence[Words], test: Sequence[Words], **settings: Any) -> tuple[Any, Any]:
    """TF-IDF of both, scikit-learn's defaults; words and their weights are those of `train` alone."""
    vectors = of_extra("sklearn.feature_extraction.text", "stats").TfidfVectorizer(analyzer=list, **settings)
    learnt = vectors.fit_transform(train if any(train) else [["(no word)"]] * len(train))
    return learnt, vectors.transform(test)


def vectors_of(words: Sequence[Words]) -> Callable[[tuple[int, ...], tuple[int, ...]], tuple[Any, Any]]:
    """A function that gives the features of the texts to learn from and of those to test, by their places."""

    @lru_cache(maxsize=32)
    def vectors(train: tuple[int, ...], test: tuple[int, ...]) -> tuple[Any, Any]:
        return features([words[place] for place in train], [words[place] for place in test])

    return vectors


def models_of(names: Sequence[str], *, options: bool = False, **settings: Any) -> dict[str, Any]:
    """The models `forest` and `logistic` by name; SettingError for another.

    `options`: for several options of a text: a forest predicts all at once, a logistic regression each by itself.
    `settings`: of the forest, in place of the published ones for profiles and intents.
    """
    if odd := [name for name in names if name not in MODELS]:
        raise SettingError(f"--model {odd[0]}: is not a model that learns from words: give {', '.join(MODELS)}")
    forest = of_extra("sklearn.ensemble", "stats").RandomForestClassifier
    logistic = of_extra("sklearn.linear_model", "stats").LogisticRegression(solver=NEWTON)
    every = {
        "forest": forest(**{"n_estimators": TREES, "max_depth": DEPTH, "n_jobs": -1, **settings}),
        "logistic": of_extra("sklearn.multiclass", "stats").OneVsRestClassifier(logistic) if options else logistic,
    }
    return {name: every[name] for name in names}


def fitted(model: Any, learnt: Any, target: Any) -> Any:
    """The fitted model. One thread each is faster for small matrices, and the last digits do not hang on their number."""
    with of_extra("threadpoolctl", "stats").threadpool_limits(limits=1):
        done = model.fit(learnt, target)
    return done.set_params(n_jobs=1) if takes_seed(model) and "n_jobs" in model.get_params() else done


def seeded(model: Any, seed: int) -> Any:
    """A copy of the model, not fitted, with the seed if it takes one."""
    copy = of_extra("sklearn.base", "stats").clone(model)
    return copy.set_params(random_state=seed) if takes_seed(model) else copy


def takes_seed(model: Any) -> bool:
    """Whether a seed may change what the model predicts."""
    return "random_state" in model.get_params(deep=False) and getattr(model, "solver", "") != NEWTON


def folds_of(users: Sequence[str], split: Split) -> list[Fold]:
    """Places to learn from and to test, of items by their users. DataError if there are too few."""
    if split == "published":
        if len(users) < FEWEST:
            raise DataError(f"{len(users)} items to split: the published split needs {FEWEST} or more")
        splitting = of_extra("sklearn.model_selection", "stats").train_test_split
        train, test = splitting(range(len(users)), test_size=0.2, random_state=42)
        return [(list(train), list(test))]
    count = len(set(users))
    if count < 2:
        raise DataError(f"{count} users: users are held out from each other, so give two or more")
    fold = np.array(folds(users, min(5, count)))
    return [
        (np.flatnonzero(fold != number).tolist(), np.flatnonzero(fold == number).tolist())
        for number in range(int(fold.max()) + 1)
    ]


def known_share(names: Sequence[Any], of_folds: Iterable[Fold]) -> float:
    """The share of the tested items whose name is in training too, 0 to 1: how much a split leaks."""
    known = [names[place] in {names[at] for at in train} for train, test in of_folds for place in test]
    return sum(known) / len(known)


def places_of(names: Sequence[str]) -> tuple[Array, Array]:
    """For each item the place of its user, from 0, and how many items each user has."""
    found, places = np.unique(names, return_inverse=True)
    return places, np.bincount(places, minlength=len(found)).astype(float)


def crossed(user: Array, truth: Array, predicted: Array, values: int) -> Array:
    """How often each user has each pair of values: user x true x predicted, values by their places from 0."""
    tables = np.zeros((int(user.max()) + 1, values, values))
    np.add.at(tables, (user, truth, predicted), 1)
    return tables


def macro_f1(tables: Array) -> Score:
    """The mean over values that are true or predicted of their F1, from user x true x predicted counts."""

    def of(drawn: Array) -> Array:
        table = np.tensordot(drawn, tables, axes=1)
        both, used = np.diagonal(table, axis1=1, axis2=2), table.sum(axis=1) + table.sum(axis=2)
        f1 = np.divide(2 * both, used, out=np.zeros_like(used), where=used > 0)
        scored: Array = f1.sum(axis=1) / (used > 0).sum(axis=1)
        return scored

    return of


def points_scores(truth: Array, points: Array, user: Array) -> dict[str, Estimate]:
    """Of points from 1 to 5 the weighted kappa and the mean absolute error, both of the nearest whole points."""
    whole = np.array([nearest(value) for value in points])
    table = crossed(user, truth.astype(int) - LOWEST, whole - LOWEST, HIGHEST)
    return {
        "qwk": coefficient(table, chance_of_margins(distances_of(np.arange(HIGHEST), "quadratic"))),
        "mae": mean_error(abs(whole - truth), user),
    }


def mean_error(errors: Array, user: Array) -> Estimate:
    """The mean of absolute errors of points from 1 to 5."""
    return pooled(by_group(zip(user.tolist(), errors.tolist(), strict=True)), (0.0, float(HIGHEST - LOWEST)))


def nearest(points: float) -> int:
    """The whole number of points that is nearest, 1 to 5; a half goes up."""
    return min(HIGHEST, max(LOWEST, floor(points + 0.5)))


def auc_within(positive: Array, given: Array, fold: Array, user: Array) -> Estimate:
    """The share of pairs of one fold whose positive item has the greater score; equal scores count half.

    Scores of different folds are by differently trained models, and are never compared. Where each fold has one score
    there is no interval: it is .5 whoever is asked.
    """
    items = np.bincount(user)
    right, pairs = np.zeros((2, len(items), len(items)))
    for number in np.unique(fold):
        negative = np.flatnonzero(~positive & (fold == number))
        for place in np.flatnonzero(positive & (fold == number)):
            above = (given[place] > given[negative]) + 0.5 * (given[place] == given[negative])
            np.add.at(right[user[place]], user[negative], above)
            np.add.at(pairs[user[place]], user[negative], 1)

    def of(drawn: Array) -> Array:
        whole = ((drawn @ pairs) * drawn).sum(axis=1)
        won = ((drawn @ right) * drawn).sum(axis=1)
        return np.divide(won, whole, out=np.full(len(drawn), np.nan), where=whole > 0)

    if len(np.unique(np.column_stack([given, fold]), axis=0)) == len(np.unique(fold)):
        return Estimate(value=0.5, n=len(given), groups=len(items), reason="no interval: all have one score")
    rarer = float(min(positive.sum(), (~positive).sum()))
    return score(of, items.tolist(), scale=(0.0, 1.0), rarer=rarer)


Watch: TypeAlias = Callable[[str], None]
"""Called with a line on progress."""
Models: TypeAlias = Mapping[str, Any]
"""Classifiers of scikit-learn, not fitted, by the names that their rows have."""
