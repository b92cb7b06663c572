"""Judges of the reason for a user's dissatisfaction, against people's own reasons."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import multimode
from typing import Any, TypeAlias

import numpy as np

from ....data.records import Conversation
from ...over_users.estimate import FloatArray, Of, Unsure, crossed, interval, of_users, ratio
from ...over_users.option_f1 import f1, one_more_f1, why_none
from . import text
from .folds import HeldOut, Split
from .rows import ReasonCount, ScoreRow
from .turns import JudgedTurn, by_reply, reason_of

SayReasons: TypeAlias = Callable[[Sequence[JudgedTurn], Sequence[JudgedTurn]], Sequence[str]]
"""From the turns to learn from and those to judge to the reasons of the latter; empty where the judge has none."""


def with_reason(turns: Sequence[JudgedTurn]) -> list[JudgedTurn]:
    """The turns with 3 points or less that have a reason; "other" does not count as one."""
    return [turn for turn in turns if turn.dissatisfied and turn.reason]


def reason_counts(turns: Sequence[JudgedTurn]) -> tuple[ReasonCount, ...]:
    """The number of turns and of users of each reason, the commonest reason first."""
    counts = Counter(turn.reason for turn in turns)
    users = {name: len({turn.user for turn in turns if turn.reason == name}) for name in counts}
    return tuple(
        ReasonCount(reason=name, n=n, of=len(turns), share=n / len(turns), users=users[name])
        for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


def reason_judges() -> dict[str, SayReasons]:
    """The judges of reasons that every report has. The model of words needs the extra `stats`, and `zh` for Chinese."""
    return {"commonest": _commonest, "words of the reply (TF-IDF)": text.reasons}


def labelled_reasons(conversations: Iterable[Conversation]) -> dict[tuple[str, int], str]:
    """The reasons in the labels of the replies, as `by_reply`."""
    return by_reply(conversations, reason_of)


def given_reasons(reasons: Mapping[tuple[str, int], str]) -> SayReasons:
    """A judge with stored reasons. `reasons`: by the conversation's path, or id, and the place of the reply, from 1."""
    return lambda _, turns: [
        reasons.get((turn.path, turn.turn)) or reasons.get((turn.id, turn.turn), "") for turn in turns
    ]


def reason_rows(turns: Sequence[JudgedTurn], split: Split, judges: Mapping[str, SayReasons]) -> list[ScoreRow]:
    """Accuracy and macro F1 of each judge, over the turns of which it has a reason."""
    rows = []
    for name, judge in judges.items():
        reasons: dict[int, str] = {}
        for train, test in split.parts():
            fold_reasons = judge([turns[place] for place in train], [turns[place] for place in test])
            reasons.update((place, reason) for place, reason in zip(test, fold_reasons, strict=True) if reason)
        places = sorted(reasons)
        rows += _scored(name, split.held_out, [turns[place] for place in places], [reasons[place] for place in places])
    return rows


def _commonest(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> list[str]:
    return [min(multimode(turn.reason for turn in train))] * len(turns)


def _scored(name: str, held_out: HeldOut, turns: Sequence[JudgedTurn], predicted: Sequence[str]) -> list[ScoreRow]:
    about: dict[str, Any] = {"judge": name, "held_out": held_out}
    if not turns:
        reason = "undefined: the judge gives no reason"
        return [ScoreRow(**about, score=score, value=None, reason=reason) for score in ("accuracy", "macro_f1")]
    _, user = of_users([turn.user for turn in turns])
    reasons, places = np.unique([*(turn.reason for turn in turns), *predicted], return_inverse=True)
    table = crossed(user, places[: len(turns)], places[len(turns) :], len(reasons))
    right = np.trace(table, axis1=1, axis2=2)
    items = table.sum(axis=(1, 2))
    of: dict[str, Of] = {"accuracy": ratio(right, items), "macro_f1": macro_f1(table)}
    scores = {score: interval(function, items, "", n=len(turns), share=True) for score, function in of.items()}
    return [ScoreRow(**about, score=score, **measured.model_dump()) for score, measured in scores.items()]


def macro_f1(table: FloatArray) -> Of:
    """Mean F1 of the values that people or the judge use, of user x true value x predicted value counts."""
    counts = np.diagonal(table, axis1=1, axis2=2), table.sum(axis=1), table.sum(axis=2)
    in_use = (counts[1] + counts[2]).any(axis=0)

    def of(drawn: FloatArray) -> FloatArray:
        cells = np.tensordot(drawn, table, axes=1)
        predicted, true = cells.sum(axis=1), cells.sum(axis=2)
        of_value = f1(np.diagonal(cells, axis1=1, axis2=2), predicted, true)
        mean: FloatArray = of_value.sum(axis=1) / np.maximum((predicted + true > 0).sum(axis=1), 1)
        return mean

    of_used = [count[:, in_use] for count in counts]
    return Unsure(of, one_more_f1(*of_used), why_none(*of_used))
