"""A judge: a function from turns to the satisfaction of their users, with or without turns to learn from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import multimode
from typing import TypeAlias

from ....data.records import Conversation
from ....errors import DataError
from .folds import Split
from .rules import by_rules
from .text import ordinal
from .turns import JudgedTurn, in_range, path_of, replies_of, without_labels

Points: TypeAlias = Sequence[float | None]
"""Satisfaction of each turn, 1 to 5, parts of points too; None where the judge has none."""
Predict: TypeAlias = Callable[[Sequence[JudgedTurn], Sequence[JudgedTurn]], Points]
"""From the turns to learn from and those to judge to the points of the latter. It must not read their satisfaction."""
AskedJudge: TypeAlias = Callable[[Conversation], Points]
"""From a conversation to the points of each of its replies, in their order."""

SHRINK = 3
"""Turns that the mean of all users is worth beside those of one user."""


@dataclass(frozen=True)
class Judge:
    """A judge by name."""

    name: str
    predict: Predict
    knows_user: bool = False
    """It judges by other turns of the same user, so that users cannot be held out: conversations are."""
    constant: bool = False
    """It gives every reply the same points, so that it has no order of assistants."""
    why_no_concordance: str = ""
    """Why its order of the conversations of one user is not measured."""

    def points(self, turns: Sequence[JudgedTurn], split: Split) -> list[float | None]:
        """The points of each turn by a model trained on the other folds; None for turns that are not tested."""
        all_points: list[float | None] = [None] * len(turns)
        for train, test in split.parts():
            fold_points = self.predict([turns[place] for place in train], [turns[place] for place in test])
            for place, points in zip(test, fold_points, strict=True):
                all_points[place] = points
        return all_points


def baselines() -> list[Judge]:
    """The judges that every other one is compared with.

    The model of words needs the extra `stats`, and `zh` for Chinese.
    """
    return [
        Judge("commonest", _commonest, constant=True),
        Judge("always 4", lambda _, turns: [4.0] * len(turns), constant=True),
        Judge("mean", lambda train, turns: [_mean(train)] * len(turns), constant=True),
        Judge(
            "user's mean",
            _users_mean,
            knows_user=True,
            why_no_concordance="the mean of a user's other conversations is the lower, the higher this one is",
        ),
        Judge("length of the reply", _length),
        Judge("words of the reply (TF-IDF)", ordinal),
        Judge("rules with hindsight", lambda _, turns: by_rules(turns)),
    ]


def judge_of_points(name: str, points: Mapping[tuple[str, int], float]) -> Judge:
    """A judge with stored points.

    `points`: by the conversation's path, else its id, and the place of the reply, from 1.
    """

    def predict(_: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> Points:
        return [points.get((turn.path, turn.turn), points.get((turn.id, turn.turn))) for turn in turns]

    return Judge(name, predict)


def judge_of_function(name: str, judge: AskedJudge, conversations: Iterable[Conversation]) -> Judge:
    """A judge that is a function of a conversation.

    It is called once for each conversation, without any label. DataError if it does not give a number from 1 to 5, or
    None, for each reply.
    """
    points_by_reply = {}
    for conversation in conversations:
        replies = len(replies_of(conversation.messages))
        points = list(judge(without_labels(conversation)))
        if len(points) != replies:
            raise DataError(
                f"{name}: gives {len(points)} numbers for the {replies} replies of {path_of(conversation)}: give one for each, or None"
            )
        for turn, value in enumerate(points, start=1):
            if value is None:
                continue
            if (number := in_range(value)) is None:
                raise DataError(
                    f"{name}: gives {value!r} for reply {turn} of {path_of(conversation)}: give a number from 1 to 5, or None"
                )
            points_by_reply[path_of(conversation), turn] = number
    return judge_of_points(name, points_by_reply)


def _commonest(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> Points:
    return [float(min(multimode(turn.satisfaction for turn in train)))] * len(turns)


def _mean(turns: Sequence[JudgedTurn]) -> float:
    return sum(turn.satisfaction for turn in turns) / len(turns)


def _users_mean(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> Points:
    """The user's mean in other conversations, drawn towards that of all as by `SHRINK` further turns."""
    overall = _mean(train)
    of_user: dict[str, list[int]] = {}
    for turn in train:
        of_user.setdefault(turn.user, []).append(turn.satisfaction)
    return [(sum(own := of_user.get(turn.user, [])) + SHRINK * overall) / (len(own) + SHRINK) for turn in turns]


def _length(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> Points:
    """A straight line through satisfaction by the logarithm of the reply's characters (least squares)."""

    def x(turn: JudgedTurn) -> float:
        return log(1 + len(turn.reply))

    centre, overall = sum(map(x, train)) / len(train), _mean(train)
    spread = sum((x(turn) - centre) ** 2 for turn in train)
    slope = sum((x(turn) - centre) * (turn.satisfaction - overall) for turn in train) / spread if spread else 0.0
    return [overall + slope * (x(turn) - centre) for turn in turns]
