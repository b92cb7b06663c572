"""Judges of why a user is not satisfied, against the reasons that people tell."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ...data.records import Conversation
from . import text
from .folds import HeldOut, Split
from .rows import ReasonCount, ScoreRow
from .scores import Floats, Of, interval, of_users, ratio
from .turns import JudgedTurn, path_of, reason_of

SayReasons: TypeAlias = Callable[[Sequence[JudgedTurn], Sequence[JudgedTurn]], Sequence[str]]
"""From the turns to learn from and those to judge to the reasons of the latter; empty where the judge says none."""


def with_reason(turns: Sequence[JudgedTurn]) -> list[JudgedTurn]:
    """The turns with 3 points or less whose user says why; a reason that says nothing ("other") is none."""
    return [turn for turn in turns if turn.dissatisfied and turn.reason]


def reason_counts(turns: Sequence[JudgedTurn]) -> tuple[ReasonCount, ...]:
    """How often each reason is told, the commonest first, and by how many users."""
    names = [turn.reason for turn in turns]
    ordered = sorted(set(names), key=lambda name: (-names.count(name), name))
    return tuple(
        ReasonCount(
            reason=name,
            n=names.count(name),
            of=len(names),
            share=names.count(name) / len(names),
            users=len({turn.user for turn in turns if turn.reason == name}),
        )
        for name in ordered
    )


def reason_judges() -> dict[str, SayReasons]:
    """What is measured without being asked for. The model of words needs the extra `ml`, and `zh` for Chinese."""
    return {"commonest": _commonest, "words of the reply (TF-IDF)": text.reasons}


def labelled_reasons(conversations: Iterable[Conversation]) -> dict[tuple[str, int], str]:
    """The reasons that labels of the replies tell, by the conversation's path, or id, and the place of the reply, from 1."""
    found = {}
    for conversation in conversations:
        replies = (message for message in conversation.messages if message.stored and message.role == "assistant")
        for turn, message in enumerate(replies, start=1):
            if reason := reason_of(message):
                found[path_of(conversation), turn] = found[conversation.id, turn] = reason
    return found


def given_reasons(told: Mapping[tuple[str, int], str]) -> SayReasons:
    """A judge whose reasons are there, by the conversation's path, or id, and the place of the reply, from 1."""
    return lambda _, turns: [told.get((turn.path, turn.turn)) or told.get((turn.id, turn.turn), "") for turn in turns]


def reason_rows(
    turns: Sequence[JudgedTurn], split: Split, judges: Mapping[str, SayReasons], *, seed: int = 0
) -> list[ScoreRow]:
    """Accuracy and macro F1 of each judge, over the turns that it says a reason of."""
    rows = []
    for name, judge in judges.items():
        told: dict[int, str] = {}
        for train, test in split.parts():
            said = judge([turns[place] for place in train], [turns[place] for place in test])
            told.update((place, reason) for place, reason in zip(test, said, strict=True) if reason)
        places = sorted(told)
        rows += _scored(
            name, split.held_out, [turns[place] for place in places], [told[place] for place in places], seed
        )
    return rows


def _commonest(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> list[str]:
    told = [turn.reason for turn in train]
    return [max(sorted(set(told)), key=told.count)] * len(turns)


def _scored(
    name: str, held_out: HeldOut, turns: Sequence[JudgedTurn], said: Sequence[str], seed: int
) -> list[ScoreRow]:
    if not turns:
        reason = "undefined: the judge says no reason"
        return [ScoreRow(judge=name, held_out=held_out, score=score, value=None, reason=reason) for score in ("accuracy", "macro_f1")]  # fmt: skip
    users, user = of_users([turn.user for turn in turns])
    reasons = sorted({turn.reason for turn in turns} | set(said))
    table = np.zeros((len(users), len(reasons), len(reasons)))
    places = [(reasons.index(turn.reason), reasons.index(reason)) for turn, reason in zip(turns, said, strict=True)]
    np.add.at(table, (user, *np.array(places).T), 1)
    right = np.trace(table, axis1=1, axis2=2)
    of: dict[str, Of] = {"accuracy": ratio(right, table.sum(axis=(1, 2))), "macro_f1": macro_f1(table)}
    return [
        ScoreRow.of(name, held_out, score, interval(function, len(users), "", n=len(turns), seed=seed))
        for score, function in of.items()
    ]


def macro_f1(table: Floats) -> Of:
    """Mean F1 of the values that people or the judge use, of user x true value x said value counts."""

    def of(drawn: Floats) -> Floats:
        cells = np.tensordot(drawn, table, axes=1)
        right = np.diagonal(cells, axis1=1, axis2=2)
        used = cells.sum(axis=1) + cells.sum(axis=2)
        each = np.divide(2 * right, used, out=np.zeros_like(used), where=used > 0)
        mean: Floats = each.sum(axis=1) / np.maximum((used > 0).sum(axis=1), 1)
        return mean

    return of
