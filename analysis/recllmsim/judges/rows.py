"""The rows of a report on judges."""

from collections.abc import Collection

from typing_extensions import override

from ....data.records import Record
from ...over_users.estimate import UserScore
from ...tables import Table, TypedRows
from .folds import HeldOut


class ScoreOf(Record):
    """The judge and split of a score."""

    judge: str
    held_out: HeldOut
    """The units that are held out together in training; judges without training are scored on the same turns."""
    score: str


class ScoreRow(UserScore, ScoreOf):
    """One score of one judge."""


class ScoreRows(TypedRows[ScoreRow], title="Scores with 95 % intervals over users"):
    """Scores with their intervals."""

    @override
    def wide_fields(self) -> Collection[str]:
        return "held_out", "reason"

    @override
    def brief(self) -> Table:
        table, why = self.table(), dict[str, dict[str, list[str]]]()
        for row in self.rows:
            if row.reason:
                why.setdefault(row.reason, {}).setdefault(row.judge, []).append(row.score)
        notes = list(table.notes)
        for reason, of in why.items():
            rows = ", ".join(f"{judge} ({', '.join(scores)})" for judge, scores in of.items())
            wherever = sum(map(len, of.values())) == sum(row.value is not None for row in self.rows)
            notes.append(f"{reason[0].upper()}{reason[1:]}: {'every row' if wherever else rows}.")
        return table.model_copy(update={"notes": tuple(notes)})


class Scores(ScoreRows):
    """Every score of every judge, with its interval."""


class ReasonScores(ScoreRows, title="Reasons of dissatisfaction: judges"):
    """Scores of judges of the reason why a user is not satisfied."""


class JudgeRow(Record):
    """The scores of a judge side by side."""

    judge: str
    held_out: HeldOut
    n: int
    users: int
    qwk: float | None
    """Cohen's kappa with quadratic weights."""
    mae: float | None
    """Mean absolute error, in points."""
    gain: float | None
    """By how much that error is below that of always saying 4."""
    auc: float | None
    """Of dissatisfaction (3 points or less); .5 is chance."""
    concordance: float | None
    """Share of a user's pairs of conversations that are ordered rightly; .5 is chance."""


class Judges(TypedRows[JudgeRow], title="Judges of satisfaction against people"):
    """Judges of satisfaction against people."""


class ReasonCount(Record):
    """The number of turns with a reason."""

    reason: str
    n: int
    of: int
    share: float | None
    users: int


class ReasonCounts(TypedRows[ReasonCount], title="Reasons of dissatisfaction: people"):
    """People's reasons."""


class AssistantMean(Record):
    """The mean of an assistant by a judge, by people, or by the mere length."""

    by: str
    place: int
    """In the order of the judge, the highest first; equal means share one."""
    assistant: str
    mean: float | None
    """Points; characters for the length of the reply."""
    n: int
    """Turns."""


class AssistantOrders(TypedRows[AssistantMean], title="Order of assistants: proves nothing"):
    """The order of the assistants by people, by each judge, and by length."""
