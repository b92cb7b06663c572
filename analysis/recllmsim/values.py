"""Prediction of one value of several from words: the intent of a user's message, the satisfaction with a reply, its reason.

Every task has the same features, folds, models and intervals, and the prior is a row.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ...data import domains
from ...data.people import user_of
from ...data.recllmsim import facts_of
from ...data.records import Conversation, value_of
from ...data.text.languages import Language
from ...errors import DataError, of_extra
from ..estimates import Estimate, ratio, score
from ..tables import TablesReport, table_of
from . import learning
from .judges import LABEL, JudgedTurn, judged_turns, replies_of

SatisfactionTask: TypeAlias = Literal["five", "points", "binary", "reasons", "six"]
TASKS: tuple[SatisfactionTask, ...] = get_args(SatisfactionTask)
"""`five`: 1 to 5; `points`: the same as a number, by regressions of the same words; `binary`: 3 or less against more, of
users who have both; `reasons`: why not satisfied, "other" left out; `six`: the reasons, other ones, and satisfied."""
PRIOR = "prior"
SATISFIED, DISSATISFIED, OTHER = "satisfied", "dissatisfied", "other"
FOREST: Mapping[str, Any] = {"n_estimators": 50, "max_depth": None, "class_weight": "balanced"}
"""The published forest for satisfaction, with half its trees: all values have the same weight, trees are of any depth."""


@dataclass(frozen=True)
class ToldText:
    """A text to read, and the value to predict from it."""

    user: str
    conversation: int
    value: str
    words: Sequence[str]


def measure_intents(
    conversations: Iterable[Conversation],
    models: learning.Models | None = None,
    *,
    language: Language | None = "zh",
    watch: learning.Watch = lambda _: None,
) -> TablesReport:
    """Accuracy and macro F1 of predicted intents of people's messages, in both splits.

    Of the message alone (`message`), and with all before it (`history`). Messages with several intents are left out; the
    published script takes the first of them, and leaves out the first message of each conversation. DataError without a
    message that has one intent.
    """
    texts: dict[str, list[ToldText]] = {"message": [], "history": []}
    several = 0
    for number, conversation in enumerate(conversations):
        simulated = domains.of(conversation).simulated(conversation) is True
        read = None if simulated else learning.messages_in(conversation, language)
        if read is None:
            continue
        words = [learning.words_in([text], read[0]) for _, text in read[1]]
        for place, message in enumerate(message for message in conversation.messages if message.stored):
            label = value_of(message.labels, "intent") if message.role == "user" else None
            intents = [label] if isinstance(label, str) else label if isinstance(label, list) else []
            several += len(intents) > 1
            if len(intents) == 1 and isinstance(intents[0], str) and intents[0].strip():
                history = [word for said in words[: place + 1] for word in said]
                for reads, own in (("message", words[place]), ("history", history)):
                    texts[reads].append(ToldText(user_of(conversation), number, intents[0].strip(), own))
    if not texts["message"]:
        raise DataError(
            f"no message of people in {language} has exactly one intent: give conversations such as people's first study"
        )
    models = learning.models_of(learning.MODELS) if models is None else models
    rows = [
        row
        for reads, own in texts.items()
        for split in learning.SPLITS
        for row in _measured("intent", reads, own, split, models, watch)
    ]
    return _report("Intents of users' messages", rows, [f"{several} messages have several intents and are left out."])


def measure_satisfaction(
    conversations: Iterable[Conversation],
    models: learning.Models | None = None,
    *,
    watch: learning.Watch = lambda _: None,
) -> TablesReport:
    """Satisfaction with replies, predicted from words, in both splits: the tasks of `TASKS`.

    Args:
        conversations: Those whose users rate each reply.
        models: Classifiers of scikit-learn by name; default: a balanced forest, and `logistic`.
        watch: Called with a line on progress.

    Raises:
        DataError: No reply has a satisfaction, or of too few users.
    """
    held = list(conversations)
    turns = judged_turns(held)
    if not turns:
        raise DataError(f"no reply has a {LABEL} of 1 to 5: give people's second study of RecLLMSim, or its like")
    words = [learning.words_in(_parts(held[turn.conversation], turn), turn.language) for turn in turns]
    classifiers = learning.models_of(learning.MODELS, **FOREST) if models is None else models
    negative_users = {turn.user for turn in turns if turn.dissatisfied}
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for task in TASKS:
        told = [
            ToldText(turn.user, turn.conversation, value, own)
            for turn, own in zip(turns, words, strict=True)
            if (value := _value(turn, task)) and (task != "binary" or turn.user in negative_users)
        ]
        if len({one.user for one in told}) < 2 or len(told) < 5 or len({one.value for one in told}) < 2:
            notes.append(f"{task}: too few turns, or users, to part.")
            continue
        for split in learning.SPLITS:
            rows += _measured(task, "talk", told, split, _regressors() if task == "points" else classifiers, watch)
    if not rows:
        raise DataError(
            f"{len(turns)} rated replies of {len({turn.user for turn in turns})} users are too few: give more"
        )
    return _report("Satisfaction with replies", rows, notes)


def _measured(
    task: str,
    reads: str,
    told: Sequence[ToldText],
    split: learning.Split,
    models: learning.Models,
    watch: learning.Watch,
) -> list[dict[str, Any]]:
    """The scores of the prior and each model in one split."""
    of_folds = learning.folds_of([one.user for one in told], split)
    tested = [place for _, test in of_folds for place in test]
    number = np.repeat(np.arange(len(of_folds)), [len(test) for _, test in of_folds])
    user, counts = learning.places_of([told[place].user for place in tested])
    leaking = [one.user if task == "intent" else one.conversation for one in told]
    known = learning.known_share(leaking, of_folds)
    dummies = of_extra("sklearn.dummy", "stats")
    vectors = learning.vectors_of([one.words for one in told])
    names = sorted({one.value for one in told})

    def by_fold(predict: Callable[[list[int], Any, Any], learning.Array]) -> learning.Array:
        parts = [predict(train, *vectors(tuple(train), tuple(test))) for train, test in of_folds]
        return np.concatenate(parts)

    def of_values(model: Any) -> dict[str, Estimate]:
        """Accuracy and macro F1; of satisfied and dissatisfied the AUC too, over pairs of the same fold."""
        values = np.array([names.index(one.value) for one in told])

        def shares_of(train: list[int], learnt: Any, asked: Any) -> learning.Array:
            seen = sorted(set(values[train]))
            shares = np.zeros((asked.shape[0], len(names)))
            learner = learning.fitted(model if len(seen) > 1 else dummies.DummyClassifier(), learnt, values[train])
            shares[:, seen] = learner.predict_proba(asked)
            return shares

        shares, truth = by_fold(shares_of), values[tested]
        table = learning.crossed(user, truth, shares.argmax(axis=1), len(names))
        right = ratio(np.trace(table, axis1=1, axis2=2), counts)
        rarer = float(np.bincount(truth, minlength=len(names)).min())
        scores = {
            "accuracy": score(right, counts.tolist(), scale=(0.0, 1.0)),
            "macro_f1": score(learning.macro_f1(table), counts.tolist(), scale=(0.0, 1.0), rarer=rarer),
        }
        if names == [DISSATISFIED, SATISFIED]:
            scores["auc"] = learning.auc_within(truth == 0, shares[:, 0], number, user)
        return scores

    def of_points(model: Any) -> dict[str, Estimate]:
        """Mean absolute error as it is, and of the nearest whole points, and their weighted kappa."""
        points = np.array([float(one.value) for one in told])
        guessed = by_fold(lambda train, learnt, asked: learning.fitted(model, learnt, points[train]).predict(asked))
        guessed, truth = np.clip(guessed, learning.LOWEST, learning.HIGHEST), points[tested]
        of_whole = learning.points_scores(truth, guessed, user)
        exact = learning.mean_error(abs(guessed - truth), user)
        return {"mae": exact, "mae_rounded": of_whole["mae"], "qwk": of_whole["qwk"]}

    prior = dummies.DummyRegressor() if task == "points" else dummies.DummyClassifier()
    rows = []
    for name, model in {PRIOR: prior, **models}.items():
        watch(f"{task}, {reads}, {split}: {name}")
        for scored, one in (of_points if task == "points" else of_values)(learning.seeded(model, 0)).items():
            about = {"task": task, "reads": reads, "split": split, "known": known, "model": name, "score": scored}
            ends = {"value": one.value, "low": one.low, "high": one.high, "reason": one.reason}
            rows.append({**about, "n": len(tested), "users": one.groups, **ends})
    return rows


def _regressors() -> dict[str, Any]:
    forest = of_extra("sklearn.ensemble", "stats").RandomForestRegressor
    return {
        "forest": forest(n_estimators=FOREST["n_estimators"], max_features=1 / 3),
        "ridge": of_extra("sklearn.linear_model", "stats").Ridge(),
    }


def _parts(conversation: Conversation, turn: JudgedTurn) -> list[str]:
    """What is read, as published: profile, task and all messages up to the reply."""
    about = [f"{name} {value}" for name, value in facts_of(conversation.scenario)]
    place, _ = replies_of(conversation.messages)[turn.turn - 1]
    return [*about, *(message.text for message in conversation.messages[: place + 1] if message.stored)]


def _value(turn: JudgedTurn, task: SatisfactionTask) -> str:
    """The value to predict; empty where the turn is left out."""
    if task == "reasons":
        return turn.reason if turn.dissatisfied else ""
    if task == "binary":
        return DISSATISFIED if turn.dissatisfied else SATISFIED
    if task == "six":
        return (turn.reason or OTHER) if turn.dissatisfied else SATISFIED
    return str(turn.satisfaction)


def _report(title: str, rows: Sequence[dict[str, Any]], notes: Sequence[str]) -> TablesReport:
    frame = of_extra("pandas", "stats").DataFrame(rows)
    explained = [
        *notes,
        "users: whole users are held out. published: a fifth at random. known: tests of a user (intents), or of a "
        "conversation (satisfaction), of which other texts are trained on. Intervals are over users.",
    ]
    return TablesReport(by_name={"scores": table_of(title, frame, explained, ("reads", "known", "users", "reason"))})
