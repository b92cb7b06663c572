"""Judges of satisfaction against people's own points of the same replies, with baselines, users held out.

Needs the extra `stats`, and `zh` for Chinese.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import fmean, multimode
from typing import Any, TypeAlias

import numpy as np

from ...data import domains
from ...data.labels.reading import is_other, whole_value
from ...data.people import user_of
from ...data.records import Conversation, Message
from ...data.text.languages import Language
from ...data.text.words import words_of
from ...errors import DataError, of_extra
from ..coefficients import concordance
from ..estimates import Estimate, by_group
from ..labels.reading import number_of
from ..tables import TablesReport, table_of
from . import learning

LABEL, REASON = "satisfaction", "reason"
DISSATISFIED = 3
"""Highest satisfaction that is dissatisfaction: such a turn has a reason in the published files."""
SHRINK = 3
"""Turns that the mean of all users is worth beside those of one user."""
SCORES = ("qwk", "mae", "auc", "concordance")

Points: TypeAlias = Sequence[float | None]
"""Satisfaction of each turn, 1 to 5, parts of points too; None where the judge has none."""
Stored: TypeAlias = Mapping[tuple[str, int], float]
"""Points by the conversation's path, else its id, and the place of the reply, from 1."""


@dataclass(frozen=True)
class JudgedTurn:
    """One reply with its user's satisfaction."""

    conversation: int
    """Place of its conversation in the source, from 0."""
    id: str
    path: str
    """Of the conversation in its data set, else its id: it identifies the conversation in another copy of the data."""
    turn: int
    """Which reply of its conversation, from 1."""
    user: str
    language: Language
    reply: str
    satisfaction: int
    """1 to 5, by the user."""
    reason: str = ""
    """The user's reason for dissatisfaction; empty without one, and for reasons without content."""
    by: tuple[str, ...] = ()
    """Who rated it, as the label tells: empty for the published ones, which are by the user."""

    @property
    def dissatisfied(self) -> bool:
        """3 points or less."""
        return self.satisfaction <= DISSATISFIED


Judge: TypeAlias = Callable[[Sequence[JudgedTurn], Sequence[JudgedTurn]], Points]
"""From the turns to learn from and those to judge to the points of the latter. It must not read their satisfaction."""


def judged_turns(conversations: Iterable[Conversation], label: str = LABEL) -> tuple[JudgedTurn, ...]:
    """Every reply with a satisfaction of 1 to 5, a whole number, in the order of the source."""
    turns = []
    for place, conversation in enumerate(conversations):
        for turn, (_, message) in enumerate(replies_of(conversation.messages), start=1):
            points = points_of(message, label)
            if points is None or points != int(points):
                continue
            reason = whole_value(message, REASON)
            turns.append(
                JudgedTurn(
                    conversation=place,
                    id=conversation.id,
                    path=path_of(conversation),
                    turn=turn,
                    user=user_of(conversation),
                    language=domains.of(conversation).language(conversation) or "en",
                    reply=message.text,
                    satisfaction=int(points),
                    reason=reason.strip() if isinstance(reason, str) and not is_other(reason) else "",
                    by=message.labels[label].by,
                )
            )
    return tuple(turns)


def replies_of(messages: Sequence[Message]) -> list[tuple[int, Message]]:
    """The assistant's stored messages, each with its place among all, from 0."""
    return [
        (place, message) for place, message in enumerate(messages) if message.stored and message.role == "assistant"
    ]


def path_of(conversation: Conversation) -> str:
    """The path of a conversation in its data set, else its id."""
    path = conversation.extra.get("path")
    return path if isinstance(path, str) and path else conversation.id


def labelled_points(conversations: Iterable[Conversation], label: str) -> dict[tuple[str, int], float]:
    """A label's points of each reply that has them, such as in a copy by another annotator; votes by their result."""
    return {
        (path_of(conversation), turn): value
        for conversation in conversations
        for turn, (_, message) in enumerate(replies_of(conversation.messages), start=1)
        if (value := points_of(message, label)) is not None
    }


def points_of(message: Message, label: str) -> float | None:
    """The points, 1 to 5, that a label of the message holds, also as a text; None if it holds none."""
    value = whole_value(message, label)
    number = None if isinstance(value, bool) or not isinstance(value, int | float | str) else number_of(str(value))
    return number if number is not None and learning.LOWEST <= number <= learning.HIGHEST else None


def measure_judges(turns: Sequence[JudgedTurn], judges: Mapping[str, Judge | Stored] | None = None) -> TablesReport:
    """The baselines and the given judges against people's satisfaction, in both splits.

    Of users held out, the row of the user's mean holds out whole conversations: it would otherwise know nothing.

    - `qwk`: Cohen's kappa with quadratic weights, of the nearest whole points;
    - `mae`: mean absolute error of these;
    - `auc`: of dissatisfaction, over pairs of the same fold;
    - `concordance`: the share of a user's pairs of conversations whose mean points are in the user's order.

    `judges`: by name, functions that may learn, or stored points. DataError with too few turns or users.
    """
    if not turns:
        raise DataError("no reply has a satisfaction of 1 to 5: give people's second study of RecLLMSim, or its like")
    everyone = {**_BASELINES, **(judges or {})}
    rows: list[dict[str, Any]] = []
    why: dict[str, None] = {}
    for split in learning.SPLITS:
        for name, judge in everyone.items():
            unit = "id" if name == USERS_MEAN and split == "users" else "user"
            of_folds = learning.folds_of([getattr(turn, unit) for turn in turns], split)
            judged: list[tuple[JudgedTurn, float, int]] = []
            for number, (train, test) in enumerate(of_folds):
                asked = [turns[place] for place in test]
                points = _points(judge, [turns[place] for place in train], asked)
                judged += [
                    (turn, value, number) for turn, value in zip(asked, points, strict=True) if value is not None
                ]
            scores = _scores(judged) if judged else {}
            if name == USERS_MEAN:
                # It predicts a conversation from the others, so that the better one has the lower mean.
                scores.pop("concordance", None)
            known = learning.known_share([turn.conversation for turn in turns], of_folds)
            row = {"judge": name, "split": split, "known": known, "n": len(judged)}
            row["users"] = len({turn.user for turn, _, _ in judged})
            for key in SCORES:
                one = scores.get(key, Estimate())
                row |= {key: one.value, f"{key}_low": one.low, f"{key}_high": one.high}
                if one.reason:
                    why[f"{name}, {split}, {key}: {one.reason}."] = None
            rows.append(row)
    people = f"{len(turns)} turns of {len({turn.user for turn in turns})} users."
    notes = [
        f"{people} users: whole users are held out, for the user's mean whole conversations. published: a fifth of the "
        "turns at random. known: tests of a conversation that is trained on too. Intervals are over users.",
        *why,
    ]
    hidden = ["known", "users", *(f"{key}_{end}" for key in SCORES for end in ("low", "high"))]
    numbers = dict.fromkeys([name for name in rows[0] if name.startswith(SCORES)], float)
    frame = of_extra("pandas", "stats").DataFrame(rows).astype(numbers)
    about = {"turns": len(turns), "users": len({turn.user for turn in turns})}
    return TablesReport(
        about=about, by_name={"judges": table_of("Judges of satisfaction against people", frame, notes, hidden)}
    )


def _points(judge: Judge | Stored, train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> Points:
    if callable(judge):
        return judge(train, turns)
    return [judge.get((turn.path, turn.turn)) for turn in turns]


def _scores(judged: Sequence[tuple[JudgedTurn, float, int]]) -> dict[str, Estimate]:
    user, _ = learning.places_of([turn.user for turn, _, _ in judged])
    truth = np.array([turn.satisfaction for turn, _, _ in judged])
    points = np.array([value for _, value, _ in judged], dtype=float)
    low = np.array([turn.dissatisfied for turn, _, _ in judged])
    auc = learning.auc_within(low, -points, np.array([fold for _, _, fold in judged]), user)
    return {**learning.points_scores(truth, points, user), "auc": auc, "concordance": _concordance(judged)}


def _concordance(judged: Sequence[tuple[JudgedTurn, float, int]]) -> Estimate:
    """Of the mean points of a user's conversations."""
    talks = by_group((turn.conversation, (turn, points)) for turn, points, _ in judged)
    truth = [fmean(turn.satisfaction for turn, _ in talk) for talk in talks]
    return concordance(
        [talk[0][0].user for talk in talks], truth, [fmean(points for _, points in talk) for talk in talks]
    )


def _mean(turns: Sequence[JudgedTurn]) -> float:
    return fmean(turn.satisfaction for turn in turns)


def _users_mean(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> Points:
    """The user's mean in other conversations, drawn towards that of all as by `SHRINK` further turns."""
    of_user: dict[str, list[int]] = {}
    for turn in train:
        of_user.setdefault(turn.user, []).append(turn.satisfaction)
    own = [of_user.get(turn.user, []) for turn in turns]
    return [(sum(points) + SHRINK * _mean(train)) / (len(points) + SHRINK) for points in own]


def _length(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> Points:
    """A straight line through satisfaction by the logarithm of the reply's characters (least squares)."""
    linear = of_extra("sklearn.linear_model", "stats").LinearRegression()
    sizes = [[[log(1 + len(turn.reply))] for turn in own] for own in (train, turns)]
    points: list[float] = linear.fit(sizes[0], [turn.satisfaction for turn in train]).predict(sizes[1]).tolist()
    return points


def _ordinal(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> Points:
    """Expected points: 1 and, for k = 1 to 4, the probability of more than k points from the words of the reply.

    A logistic regression for each k ("A Simple Approach to Ordinal Classification", Frank and Hall 2001). Words of one
    reply are left out, nothing is tuned on the judged data.
    """
    texts = [[words_of(turn.reply, turn.language) for turn in own] for own in (train, turns)]
    common = min(2, max(np.unique([word for text in texts[0] for word in set(text)], return_counts=True)[1], default=1))
    learnt, asked = learning.features(*texts, min_df=common, sublinear_tf=True)
    expected = np.full(len(turns), float(learning.LOWEST))
    for least in range(learning.LOWEST, learning.HIGHEST):
        above = [turn.satisfaction > least for turn in train]
        if all(above) or not any(above):
            expected += float(all(above))
            continue
        model = of_extra("sklearn.linear_model", "stats").LogisticRegression(solver="newton-cg")
        expected += learning.fitted(model, learnt, above).predict_proba(asked)[:, 1]
    points: list[float] = expected.tolist()
    return points


USERS_MEAN = "user's mean"
_BASELINES: Mapping[str, Judge] = {
    "commonest": lambda train, turns: [float(min(multimode(turn.satisfaction for turn in train)))] * len(turns),
    "always 4": lambda train, turns: [4.0] * len(turns),
    "mean": lambda train, turns: [_mean(train)] * len(turns),
    USERS_MEAN: _users_mean,
    "length of the reply": _length,
    "words of the reply (TF-IDF)": _ordinal,
}
