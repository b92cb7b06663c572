"""Prediction of one value of several from a text, such as an intent or a satisfaction.

Every task has the same models, folds and intervals.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from typing_extensions import override

from ....data.records import Record
from ....errors import SettingError
from ...over_users.estimate import FloatArray, Of, Places, auc_within, crossed, items_of, of_users, ratio
from ...over_users.folds import Fold, tested
from ...tables import Table, TypedRows
from ...threads import one_thread
from ..judges.reasons import macro_f1
from .metrics import MeasuredOptions, measured
from .text_models.classifiers import TREES, booster, grown, logistic, trees_of
from .text_models.texts import UserText, tf_idf

Tell: TypeAlias = Callable[[Sequence[UserText], Sequence[int], Sequence[UserText], int], FloatArray]
"""From texts with their values (places from 0, each occurring), further texts and a seed to shares of each value."""
ModelWatch: TypeAlias = Callable[[str], None]
PRIOR = "prior"
UNSEEDED = frozenset({PRIOR, "logistic", "ridge"})
"""Models in which a seed changes nothing."""


def unwatched(line: str) -> None:
    """Takes a line on progress and drops it."""


class ValueOf(Record):
    """The task, model and split of a score."""

    task: str
    reads: str
    """The text that the model reads."""
    model: str
    split: str
    score: str


class ValueRow(MeasuredOptions, ValueOf):
    """One score of one model."""


class ValueRows(TypedRows[ValueRow], title="Predicted from the text"):
    """Scores of models that predict one value of several, the prior first."""

    @override
    def wide_fields(self) -> Collection[str]:
        same = {name for name in ValueRow.model_fields if len({getattr(row, name) for row in self.rows}) < 2}
        return (same - {"model", "score", "value"}) | {"split", "reason"}

    @override
    def brief(self) -> Table:
        """With what is the same in all rows in the title, and reasons as notes."""
        same = [name for name in ("task", "reads", "split", "n", "users") if name in self.wide_fields()]
        constants = [f"{name} {getattr(row, name)}" for row in self.rows[:1] for name in same]
        reasons = dict.fromkeys(f"–: {row.reason}" for row in self.rows if row.reason)
        title, notes = ", ".join([self.title, *constants]), (*self.notes, *reasons)
        return self.table().model_copy(update={"title": title, "notes": notes})


@dataclass(frozen=True)
class Task:
    """A prediction task: texts with a value and a user each, and the folds to learn and to test in."""

    name: str
    reads: str
    texts: Sequence[UserText]
    values: Sequence[str]
    users: Sequence[str]
    folds: Sequence[Fold]
    split: str

    @property
    def tested_users(self) -> tuple[list[str], Places]:
        """The users of the tested items, and the place of the user of each."""
        return of_users([self.users[place] for place in tested(self.folds)])


def learner(name: str, trees: int = TREES, *, balanced: bool = False) -> Tell:
    """A model of words by its name.

    SettingError for an unknown one; MissingExtraError where an extra is missing. `balanced`: a forest gives all values
    the same weight, and its trees may be of any depth, as in the published scripts for satisfaction. Else it is that of
    the scripts for profiles and intents.
    """
    settings = {"max_depth": None, "class_weight": "balanced"} if balanced else {}
    makers: Mapping[str, Callable[[int], Any]] = {
        "forest": lambda seed: trees_of(trees, seed, **settings),
        "logistic": logistic,
        "xgboost": lambda seed: booster(trees, seed),
    }
    if name not in makers:
        raise SettingError(f"--model {name}: is not a model: give {', '.join(makers)}")
    make = makers[name]
    if name == "xgboost":
        make(0)  # who lacks it reads which extra brings it before anything is learnt

    def tell(train: Sequence[UserText], values: Sequence[int], texts: Sequence[UserText], seed: int) -> FloatArray:
        train_features, test_features = tf_idf(train, texts)
        model, learnt = make(seed), (train_features, list(values))
        fitted = grown(model, *learnt) if name == "forest" else model.fit(*learnt)
        shares: FloatArray = fitted.predict_proba(test_features)
        return shares

    return tell


def _prior(train: Sequence[UserText], values: Sequence[int], texts: Sequence[UserText], seed: int) -> FloatArray:
    share = np.bincount(values) / len(values)
    return np.tile(share, (len(texts), 1))


def measure_values(
    task: Task,
    models: Mapping[str, Tell],
    *,
    seeds: int = 1,
    auc_of: str = "",
    watch: ModelWatch = unwatched,
) -> list[ValueRow]:
    """Accuracy and macro F1 of the prior (the commonest value) and each model; `auc_of`: of this value the AUC too.

    Macro F1 is over the values that are true or predicted. The AUC is over pairs of the same fold. `watch`: called with
    a line on progress.
    """
    names = sorted(set(task.values))
    place = {name: number for number, name in enumerate(names)}
    values = np.array([place[value] for value in task.values])
    truth, (_, user) = values[tested(task.folds)], task.tested_users
    fold = np.repeat(np.arange(len(task.folds)), [len(test) for _, test in task.folds])

    pairs: dict[str, FloatArray] = {}

    def shares(tell: Tell) -> Callable[[int], FloatArray]:
        return lambda seed: _shares(task, values.tolist(), len(names), tell, seed)

    def scores(shares: FloatArray) -> dict[str, Of]:
        table = crossed(user, truth, shares.argmax(axis=1), len(names))
        right = np.trace(table, axis1=1, axis2=2)
        of: dict[str, Of] = {"accuracy": ratio(right, table.sum(axis=(1, 2))), "macro_f1": macro_f1(table)}
        if auc_of in place:
            of["auc"], pairs["auc"] = auc_within(truth == place[auc_of], shares[:, place[auc_of]], fold, user)
        return of

    predictions = {model: shares(tell) for model, tell in {PRIOR: _prior, **models}.items()}
    return rows_of_models(task, predictions, scores, seeds=seeds, watch=watch, items_of_score=pairs)


def rows_of_models(
    task: Task,
    models: Mapping[str, Callable[[int], FloatArray]],
    scores: Callable[[FloatArray], Mapping[str, Of]],
    *,
    seeds: int,
    watch: ModelWatch,
    scale: tuple[float, float] = (0.0, 1.0),
    items_of_score: Mapping[str, FloatArray] = MappingProxyType({}),
) -> list[ValueRow]:
    """The scores of each model over seeds; `models`: from a seed to predictions for the tested items.

    `items_of_score`: what counts of each user, for scores that do not count the tested items; read after `scores`.
    """
    _, user = task.tested_users
    items = items_of(user)
    rows = []
    about: dict[str, Any] = {"task": task.name, "reads": task.reads, "split": task.split}
    for model, predict in models.items():
        watch(f"{task.name}, {task.reads}: {model}")
        with one_thread():
            of_seeds = [scores(predict(number)) for number in range(1 if model in UNSEEDED else seeds)]
        for score, measured_score in measured(of_seeds, items, len(user), scale, items_of_score).items():
            rows.append(ValueRow(**about, model=model, score=score, **measured_score.model_dump()))
    return rows


def _shares(task: Task, values: Sequence[int], count: int, tell: Tell, seed: int) -> FloatArray:
    """Shares of each value for the tested items, in the order of the folds.

    A value that a fold did not learn has a share of 0.
    """
    parts = []
    for train, test in task.folds:
        seen = sorted({values[place] for place in train})
        own = [seen.index(values[place]) for place in train]
        shares = np.zeros((len(test), count))
        texts = [task.texts[place] for place in test]
        learnt = [task.texts[place] for place in train]
        shares[:, seen] = tell(learnt, own, texts, seed) if len(seen) > 1 else 1.0
        parts.append(shares)
    return np.concatenate(parts)
