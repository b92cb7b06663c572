"""Prediction of one value of several from words: the intent of a user's message, the satisfaction with a reply, its reason.

Every task has the same features, folds, models and intervals, and the prior is a row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ...data import domains
from ...data.people import user_of
from ...data.records import Conversation
from ...data.text.languages import Language
from ...errors import DataError, of_extra
from ..coefficients import chance_of_margins, coefficient, distances_of
from ..estimates import Estimate, ratio, score
from .judges import HIGHEST, LABEL, LOWEST, JudgedTurn, judged_turns, nearest, replies_of
from .learning import (
    MODELS,
    SPLITS,
    Array,
    Fold,
    Models,
    Split,
    Watch,
    auc_within,
    crossed,
    features,
    fitted,
    folds_of,
    known_share,
    macro_f1,
    messages_in,
    models_of,
    places_of,
    seeded,
    sums,
    words_in,
)
from .talks import TablesReport, TaskSide, table_of

SatisfactionTask: TypeAlias = Literal["five", "points", "binary", "reasons", "six"]
TASKS: tuple[SatisfactionTask, ...] = get_args(SatisfactionTask)
PRIOR = "prior"
SATISFIED, DISSATISFIED, OTHER = "satisfied", "dissatisfied", "other"
FOREST: Mapping[str, Any] = {"n_estimators": 50, "max_depth": None, "class_weight": "balanced"}
"""The published forest for satisfaction, with half its trees: all values have the same weight, trees are of any depth."""
_COLUMNS = ("task", "reads", "split", "known", "model", "score", "n", "users", "value", "low", "high", "reason")


@dataclass(frozen=True)
class ToldText:
    """A text to read, and the value to predict from it."""

    user: str
    conversation: int
    value: str
    words: Sequence[str]


def intent_texts(
    conversations: Iterable[Conversation], side: TaskSide = "people", language: Language | None = "zh"
) -> tuple[dict[str, list[ToldText]], int]:
    """The messages of one side's users with one intent, as `message` and with all before them as `history`.

    The number of those with several intents, which are left out, is the second result; the published script takes the
    first of them, and leaves out the first message of each conversation.
    """
    texts: dict[str, list[ToldText]] = {"message": [], "history": []}
    several = 0
    for number, conversation in enumerate(conversations):
        simulated = domains.of(conversation).simulated(conversation) is True
        read = messages_in(conversation, language) if simulated == (side == "simulated") else None
        if read is None:
            continue
        words = [words_in([text], read[0]) for _, text in read[1]]
        stored = [message for message in conversation.messages if message.stored]
        for place, message in enumerate(stored):
            label = message.labels.get("intent") if message.role == "user" else None
            intents = [label] if isinstance(label, str) else label if isinstance(label, list) else []
            several += len(intents) > 1
            if len(intents) == 1 and isinstance(intents[0], str) and intents[0].strip():
                history = [word for said in words[: place + 1] for word in said]
                for reads, own in (("message", words[place]), ("history", history)):
                    texts[reads].append(ToldText(user_of(conversation), number, intents[0].strip(), own))
    return texts, several


def measure_intents(
    conversations: Iterable[Conversation],
    models: Models | None = None,
    *,
    side: TaskSide = "people",
    language: Language | None = "zh",
    watch: Watch = lambda _: None,
) -> TablesReport:
    """Accuracy and macro F1 of predicted intents, in both splits; DataError without a message that has one intent."""
    texts, several = intent_texts(conversations, side, language)
    if not texts["message"]:
        raise DataError(
            f"no message of {side} in {language} has exactly one intent: give conversations such as people's first study"
        )
    models = models_of(MODELS) if models is None else models
    rows = [
        row
        for reads, own in texts.items()
        for split in SPLITS
        for row in _measured("intent", reads, own, split, models, watch)
    ]
    return _report("Intents of users' messages", rows, [f"{several} messages have several intents and are left out."])


def measure_satisfaction(
    conversations: Iterable[Conversation],
    models: Models | None = None,
    *,
    tasks: Sequence[SatisfactionTask] = TASKS,
    label: str = LABEL,
    watch: Watch = lambda _: None,
) -> TablesReport:
    """Satisfaction with replies, predicted from words, in both splits.

    Args:
        conversations: Those whose users rate each reply.
        models: Classifiers of scikit-learn by name; default: a balanced forest, and `logistic`.
        tasks: `five`: 1 to 5; `points`: the same as a number, by regressions of the same words; `binary`: 3 or less
            against more, of users who have both; `reasons`: why not satisfied, "other" left out; `six`: the reasons,
            other ones, and satisfied.
        label: The label with users' points.
        watch: Called with a line on progress.

    Raises:
        DataError: No reply has a satisfaction, or of too few users.
    """
    held = list(conversations)
    turns = judged_turns(held, label)
    if not turns:
        raise DataError("no reply has a satisfaction of 1 to 5: give people's second study of RecLLMSim, or its like")
    words = [words_in(_parts(held[turn.conversation], turn), turn.language) for turn in turns]
    classifiers = models_of(MODELS, **FOREST) if models is None else models
    negative_users = {turn.user for turn in turns if turn.dissatisfied}
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for task in tasks:
        told = [
            ToldText(turn.user, turn.conversation, value, own)
            for turn, own in zip(turns, words, strict=True)
            if (value := _value(turn, task)) and (task != "binary" or turn.user in negative_users)
        ]
        if len({one.user for one in told}) < 2 or len(told) < 5 or len({one.value for one in told}) < 2:
            notes.append(f"{task}: too few turns, or users, to part.")
            continue
        own_models = _regressors() if task == "points" else classifiers
        for split in SPLITS:
            rows += _measured(task, "talk", told, split, own_models, watch)
    if not rows:
        raise DataError(
            f"{len(turns)} rated replies of {len({turn.user for turn in turns})} users are too few: give more"
        )
    return _report("Satisfaction with replies", rows, notes)


def _measured(
    task: str, reads: str, told: Sequence[ToldText], split: Split, models: Models, watch: Watch
) -> list[dict[str, Any]]:
    """The scores of the prior and each model in one split."""
    of_folds = folds_of([one.user for one in told], split)
    tested = [place for _, test in of_folds for place in test]
    user, counts = places_of([told[place].user for place in tested])
    leaking = [one.user if task == "intent" else one.conversation for one in told]
    about = {"task": task, "reads": reads, "split": split, "known": known_share(leaking, of_folds)}
    number = np.repeat(np.arange(len(of_folds)), [len(test) for _, test in of_folds])
    dummies = of_extra("sklearn.dummy", "stats")
    numeric = task == "points"
    prior = dummies.DummyRegressor() if numeric else dummies.DummyClassifier()
    rows = []
    for name, model in {PRIOR: prior, **models}.items():
        watch(f"{task}, {reads}, {split}: {name}")
        found = _of_points if numeric else _of_values
        for scored, estimate in found(told, of_folds, tested, seeded(model, 0), number, user, counts).items():
            rows.append(
                {**about, "model": name, "score": scored, "n": len(tested), "users": estimate.groups, **_ends(estimate)}
            )
    return rows


def _of_values(
    told: Sequence[ToldText],
    of_folds: Sequence[Fold],
    tested: list[int],
    model: Any,
    number: Array,
    user: Array,
    counts: Array,
) -> dict[str, Estimate]:
    """Accuracy and macro F1; of satisfied and dissatisfied the AUC too, over pairs of the same fold."""
    names = sorted({one.value for one in told})
    values = np.array([names.index(one.value) for one in told])
    shares = np.zeros((len(tested), len(names)))
    for fold, (train, test) in enumerate(of_folds):
        learnt, asked = features([told[place].words for place in train], [told[place].words for place in test])
        seen = sorted(set(values[train]))
        one_only = of_extra("sklearn.dummy", "stats").DummyClassifier()
        learner = fitted(model if len(seen) > 1 else one_only, learnt, values[train])
        shares[np.ix_(number == fold, seen)] = learner.predict_proba(asked)
    truth, predicted = values[tested], shares.argmax(axis=1)
    table = crossed(user, truth, predicted, len(names))
    items = counts.tolist()
    right = np.trace(table, axis1=1, axis2=2)
    rarer = float(np.bincount(truth, minlength=len(names)).min())
    scores = {
        "accuracy": score(ratio(right, counts), items, scale=(0.0, 1.0)),
        "macro_f1": score(macro_f1(table), items, scale=(0.0, 1.0), rarer=rarer),
    }
    if names == [DISSATISFIED, SATISFIED]:
        scores["auc"] = auc_within(truth == 0, shares[:, 0], number, user)
    return scores


def _of_points(
    told: Sequence[ToldText],
    of_folds: Sequence[Fold],
    tested: list[int],
    model: Any,
    number: Array,
    user: Array,
    counts: Array,
) -> dict[str, Estimate]:
    """Mean absolute error as it is, and of the nearest whole points, and their weighted kappa."""
    points = np.array([float(one.value) for one in told])
    guessed = np.zeros(len(tested))
    for fold, (train, test) in enumerate(of_folds):
        learnt, asked = features([told[place].words for place in train], [told[place].words for place in test])
        guessed[number == fold] = np.clip(fitted(model, learnt, points[train]).predict(asked), LOWEST, HIGHEST)
    truth, whole = points[tested], np.array([nearest(value) for value in guessed])
    table = crossed(user, truth.astype(int) - LOWEST, whole - LOWEST, HIGHEST)
    span, items = (0.0, float(HIGHEST - LOWEST)), counts.tolist()
    return {
        "mae": score(ratio(sums(abs(guessed - truth), user, len(counts)), counts), items, scale=span),
        "mae_rounded": score(ratio(sums(abs(whole - truth), user, len(counts)), counts), items, scale=span),
        "qwk": coefficient(table, chance_of_margins(distances_of(np.arange(HIGHEST), "quadratic"))),
    }


def _regressors() -> dict[str, Any]:
    forest = of_extra("sklearn.ensemble", "stats").RandomForestRegressor
    return {
        "forest": forest(n_estimators=FOREST["n_estimators"], max_features=1 / 3),
        "ridge": of_extra("sklearn.linear_model", "stats").Ridge(),
    }


def _parts(conversation: Conversation, turn: JudgedTurn) -> list[str]:
    """What is read, as published: profile, task and all messages up to the reply."""
    about = [f"{name} {value}" for name, value in domains.of(conversation).facts(conversation.scenario)]
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


def _ends(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "reason": estimate.reason}


def _report(title: str, rows: Sequence[dict[str, Any]], notes: Sequence[str]) -> TablesReport:
    frame = of_extra("pandas", "stats").DataFrame(rows)[list(_COLUMNS)]
    explained = [
        *notes,
        "users: whole users are held out. published: a fifth at random. known: tests of a user (intents), or of a "
        "conversation (satisfaction), of which other texts are trained on. Intervals are over users.",
    ]
    return TablesReport(by_name={"scores": table_of(title, frame, explained, ("reads", "known", "users", "reason"))})
