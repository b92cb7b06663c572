"""One value of several told from a text, such as an intent or a satisfaction: the same models, folds and intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...data.records import Record
from ...errors import SettingError
from ..judges.reasons import macro_f1
from ..judges.scores import Floats, Of, of_users, ratio
from ..tables import Rows, Table
from .classifiers import TREES, booster, grown, logistic, one_thread, trees_of
from .metrics import Measured, over_seeds
from .settings import Fold
from .texts import Text, tf_idf

Tell: TypeAlias = Callable[[Sequence[Text], Sequence[int], Sequence[Text], int], Floats]
"""From texts with their values (places from 0, each occurring), further texts and a seed to shares of each value."""
ModelName: TypeAlias = Literal["forest", "logistic", "xgboost"]
Watch: TypeAlias = Callable[[str], None]
PRIOR = "prior"


def unwatched(line: str) -> None:
    """Takes what is under way, and tells nobody."""


class ValueOf(Record):
    """What a score is of."""

    task: str
    reads: str
    """Which text the model reads."""
    model: str
    split: str
    score: str


class ValueRow(Measured, ValueOf):
    """One score of one model."""

    @classmethod
    def of(cls, task: "Task", model: str, score: str, found: Measured) -> "ValueRow":
        """A measured score as a row."""
        return cls(task=task.name, reads=task.reads, model=model, split=task.split, score=score, **found.model_dump())


class ValueRows(Rows[ValueRow]):
    """Scores of models that tell one value of several, the prior first."""

    title: ClassVar[str] = "Told from the text"

    def brief(self) -> Table:
        """As narrow as a terminal: without what is the same in all rows, or nowhere; reasons as notes."""
        wanted = ("task", "reads", "model", "score", "value", "low", "high", "sd", "n", "users")
        differ = {name for name in wanted if len({getattr(row, name) for row in self.rows}) > 1}
        columns = [column for column in self.table().columns if column.name in {"model", "score", "value", *differ}]
        same = {"split", *(name for name in ("task", "reads", "n", "users") if name not in differ)}
        told = (
            [f"{name} {getattr(self.rows[0], name)}" for name in ValueRow.model_fields if name in same]
            if self.rows
            else []
        )
        reasons = dict.fromkeys(row.reason for row in self.rows if row.reason)
        return Table.of(
            ", ".join([self.title, *told]), columns, self.rows, [*self.notes, *(f"–: {each}" for each in reasons)]
        )


@dataclass(frozen=True)
class Task:
    """What is told: texts with a value and a user each, and the folds in which it is learnt and tested."""

    name: str
    reads: str
    texts: Sequence[Text]
    values: Sequence[str]
    users: Sequence[str]
    folds: Sequence[Fold]
    split: str


def learner(name: str, trees: int = TREES, *, balanced: bool = False) -> Tell:
    """A model of words by its name. SettingError for an unknown one; MissingExtraError where an extra is missing.

    `balanced`: a forest gives all values the same weight, and its trees may be of any depth, as in the published scripts
    for satisfaction; else it is that of the scripts for profiles and intents.
    """
    settings = {"max_depth": None, "class_weight": "balanced"} if balanced else {}
    makers: Mapping[str, Callable[[int], Any]] = {
        "forest": lambda seed: trees_of(trees, seed, **settings),
        "logistic": logistic,
        "xgboost": lambda seed: booster(trees, seed),
    }
    if name not in makers:
        raise SettingError(f"--model {name}: is no model: give {', '.join(makers)}")
    make = makers[name]
    if name == "xgboost":
        make(0)  # who lacks it reads which extra brings it before anything is learnt

    def tell(train: Sequence[Text], values: Sequence[int], texts: Sequence[Text], seed: int) -> Floats:
        known, asked = tf_idf(train, texts)
        fit = grown if name == "forest" else _fitted
        shares: Floats = fit(make(seed), known, list(values)).predict_proba(asked)
        return shares

    return tell


def _fitted(model: Any, known: Any, values: list[int]) -> Any:
    return model.fit(known, values)


def _prior(train: Sequence[Text], values: Sequence[int], texts: Sequence[Text], seed: int) -> Floats:
    share = np.bincount(values) / len(values)
    return np.tile(share, (len(texts), 1))


def measure_values(
    task: Task,
    models: Mapping[str, Tell],
    *,
    seeds: int = 1,
    seed: int = 0,
    auc_of: str = "",
    watch: Watch = unwatched,
) -> list[ValueRow]:
    """Accuracy and macro F1 of the prior (the commonest value) and each model; `auc_of`: of this value the AUC too.

    Macro F1 is over the values that are true or told. The AUC is over pairs of the same fold. `watch`: is told what is
    under way.
    """
    names = sorted(set(task.values))
    place = {name: number for number, name in enumerate(names)}
    values = [place[value] for value in task.values]
    users, user = of_users([task.users[at] for at in _tested(task)])
    rows = []
    for model, tell in {PRIOR: _prior, **models}.items():
        watch(f"{task.name}, {task.reads}: {model}")
        by_seed: list[dict[str, Of]] = []
        for number in range(1 if model in (PRIOR, "logistic") else seeds):
            with one_thread():
                shares = _shares(task, values, len(names), tell, number)
            table = np.zeros((len(users), len(names), len(names)))
            truth = np.array([values[at] for at in _tested(task)])
            np.add.at(table, (user, truth, shares.argmax(axis=1)), 1)
            by_seed.append({"accuracy": ratio(np.trace(table, axis1=1, axis2=2), table.sum(axis=(1, 2))), "macro_f1": macro_f1(table)})  # fmt: skip
            if auc_of in place:
                by_seed[-1]["auc"] = _auc(shares[:, place[auc_of]], truth == place[auc_of], task, user, len(users))
        for score in by_seed[0]:
            found = over_seeds([one[score] for one in by_seed], len(users), len(user), seed=seed)
            rows.append(ValueRow.of(task, model, score, found))
    return rows


def _tested(task: Task) -> list[int]:
    return [place for _, test in task.folds for place in test]


def _shares(task: Task, values: Sequence[int], count: int, tell: Tell, seed: int) -> Floats:
    """Tested items x values, in the order of the folds; a value that a fold did not learn has a share of 0."""
    parts = []
    for train, test in task.folds:
        seen = sorted({values[place] for place in train})
        own = [seen.index(values[place]) for place in train]
        told = np.zeros((len(test), count))
        texts = [task.texts[place] for place in test]
        learnt = [task.texts[place] for place in train]
        told[:, seen] = tell(learnt, own, texts, seed) if len(seen) > 1 else 1.0
        parts.append(told)
    return np.concatenate(parts)


def _auc(share: Floats, positive: NDArray[np.bool_], task: Task, user: NDArray[np.int64], users: int) -> Of:
    """Share of pairs of a positive and a negative item of one fold in which the former has the greater share."""
    fold = np.repeat(np.arange(len(task.folds)), [len(test) for _, test in task.folds])
    right, pairs = np.zeros((2, users, users))
    for number in range(len(task.folds)):
        negative = np.flatnonzero(~positive & (fold == number))
        for place in np.flatnonzero(positive & (fold == number)):
            above = (share[place] > share[negative]) + 0.5 * (share[place] == share[negative])
            np.add.at(right[user[place]], user[negative], above)
            np.add.at(pairs[user[place]], user[negative], 1)
    return ratio_of_pairs(right, pairs)


def ratio_of_pairs(right: Floats, pairs: Floats) -> Of:
    """A ratio of sums over pairs of users."""

    def of(drawn: Floats) -> Floats:
        above, below = (((drawn @ each) * drawn).sum(axis=1) for each in (right, pairs))
        share: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)
        return share

    return of
