"""The benchmark's table: for each row the means over users, with intervals, and how far it is above the floor."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from statistics import fmean
from typing import Any, Literal

from ...data.records import Record
from ...data.users import user_of
from ..comparison import mean_interval
from ..realism.report import Part
from ..tables import Column, Table
from .acts import ACTS, Act
from .judging import Judged, JudgedRow, Kind

FLOOR = "another person"

Score = Literal["chrf", "first", "later", "words", "embedding", "acts", "ended", "stayed"]
TITLES: dict[Score, str] = {
    "chrf": "chrF",
    "first": "first",
    "later": "later",
    "words": "words",
    "embedding": "embedding",
    "acts": "acts",
    "ended": "ended",
    "stayed": "stayed",
}


class Estimate(Record):
    """A mean over users, each with the same weight, and its distance from the floor."""

    value: float | None
    low: float | None = None
    """Lower end of the 95 % interval over users, by Student's t; None with fewer than 10 users."""
    high: float | None = None
    users: int = 0
    above: float | None = None
    """Mean over users of the row's value less the floor's, over the turns that both have; None for the floor."""
    above_low: float | None = None
    above_high: float | None = None


class Row(Record):
    """What one source of turns scores."""

    name: str
    kind: Kind
    turns: int
    """Turns of people that it is compared at."""
    ends: int
    """Ends of people that it is compared at."""
    scores: dict[Score, Estimate]
    by_act: dict[Act, float]
    """Agreement in each act: mean over users."""
    silent: int
    """Turns at which it said nothing and did not leave."""
    rejected: int
    """Drafts that its own validator rejected."""
    calls: int
    tokens: int
    failed: int
    """Moments at which it could not be asked; they count in no mean."""
    failure: str
    """Why, of the most frequent reason; empty if all were asked."""


class Report(Record):
    """How near each row comes to what people said next."""

    part: Part
    seed: int
    conversations: int
    users: int
    turns: int
    ends: int
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def with_notes(self, notes: Sequence[str]) -> "Report":
        """The report with further notes."""
        return self.model_copy(update={"notes": (*self.notes, *notes)}) if notes else self

    def table(self) -> Table:
        """A row for each source of turns."""
        columns = [Column(name="row"), Column(name="turns", kind="count")]
        scores = self._scores(without=("first", "later"))
        for score in scores:
            columns.append(Column(name=TITLES[score], kind="number"))
            if score == "chrf":
                columns += [Column(name=name, kind="number") for name in ("low", "high")]
        asked = [row for row in self.rows if row.kind == "user"]
        rare = [name for name in ("silent", "rejected", "failed") if any(getattr(row, name) for row in asked)]
        columns += [Column(name=name, kind="count") for name in rare]
        rows = []
        for row in self.rows:
            cells: dict[str, Any] = {"row": row.name, "turns": row.turns}
            cells |= {name: getattr(row, name) for name in rare}
            cells |= {TITLES[score]: row.scores[score].value for score in scores}
            rows.append(cells | {"low": row.scores["chrf"].low, "high": row.scores["chrf"].high})
        notes = [
            "chrF, words (cosine of TF-IDF), embedding: similarity to what the person said, 0 to 1. acts: agreement in "
            "question, thanks, rejection and new wish. ended: left where the person left; stayed: went on where the "
            "person went on.",
            "Means over users; low and high: the 95 % interval of chrF over users.",
            *self.notes,
        ]
        return Table.of(f"The next turn of {self.users} people, {self.turns} turns", columns, rows, notes)

    def by_score(self) -> Table:
        """Each score of each row with its interval, and how far it is above another person's turn."""
        numbers = ("mean", "low", "high", "above", "above low", "above high")
        columns = [Column(name="row"), Column(name="score"), Column(name="users", kind="count")]
        columns += [Column(name=name, kind="number") for name in numbers]
        told = self._scores()
        # Without first turns all are later ones.
        scores = told if "first" in told else self._scores(without=("later",))
        rows = [
            {"row": row.name, "score": TITLES[score], "mean": row.scores[score].value}
            | row.scores[score].model_dump(exclude={"value"})
            for score in scores
            for row in self.rows
            if row.kind != "person"
        ]
        empty = {name for name in numbers if all(row.get(name.replace(" ", "_")) is None for row in rows)}
        columns = [column for column in columns if column.name not in empty]
        notes = [
            *(["first, later: chrF of first and of later turns."] if "first" in scores else []),
            f"above: the difference from {FLOOR}'s, over the turns that both have. 95 % intervals over users.",
            *(
                [f"Left out, as no row has them: {', '.join(name for name in numbers if name in empty)}."]
                if empty
                else []
            ),
        ]
        return Table.of("By score", columns, rows, notes)

    def _scores(self, without: Sequence[Score] = ()) -> list[Score]:
        named: list[Score] = [score for score in TITLES if score not in without]
        return [score for score in named if any(row.scores[score].value is not None for row in self.rows)]


def row_of(judged: JudgedRow, floor: JudgedRow | None, common: Set[str]) -> Row:
    """The row with its means at the moments that are compared; `floor`: what it is measured against."""
    turns = [turn for turn in judged.turns if turn.said.failure is None and turn.moment.key in common]
    failed = [turn.said.failure for turn in judged.turns if turn.said.failure is not None]
    of_floor = None if floor is None or floor is judged else floor.turns
    scores: dict[Score, Estimate] = {score: _estimate(turns, of_floor, value) for score, value in _VALUES.items()}
    return Row(
        name=judged.name,
        kind=judged.kind,
        turns=sum(turn.scores.chrf is not None for turn in turns),
        ends=sum(turn.moment.ended for turn in turns),
        scores=scores,
        by_act={act: mean for act in ACTS if (mean := _mean(turns, _of_act(act))) is not None},
        silent=sum(not turn.said.text and not turn.said.stopped and not turn.moment.ended for turn in turns),
        rejected=sum(turn.said.rejected for turn in judged.turns),
        calls=sum(turn.said.calls for turn in judged.turns),
        tokens=sum(turn.said.input_tokens + turn.said.output_tokens for turn in judged.turns),
        failed=len(failed),
        failure=Counter(failed).most_common(1)[0][0] if failed else "",
    )


def _left_at(end: bool, agrees: bool) -> Callable[[Judged], float | None]:
    def value(turn: Judged) -> float | None:
        if turn.moment.ended is not end or turn.scores.left is None:
            return None
        return float(turn.scores.left is agrees)

    return value


def _acts(turn: Judged) -> float | None:
    return fmean(turn.scores.acts.values()) if turn.scores.acts else None


def _of_act(act: Act) -> Callable[[Judged], float | None]:
    def value(turn: Judged) -> float | None:
        acts = turn.scores.acts or {}
        return float(acts[act]) if act in acts else None

    return value


_VALUES: dict[Score, Callable[[Judged], float | None]] = {
    "chrf": lambda turn: turn.scores.chrf,
    "first": lambda turn: None if turn.moment.turn else turn.scores.chrf,
    "later": lambda turn: turn.scores.chrf if turn.moment.turn else None,
    "words": lambda turn: turn.scores.words,
    "embedding": lambda turn: turn.scores.embedding,
    "acts": _acts,
    "ended": _left_at(end=True, agrees=True),
    "stayed": _left_at(end=False, agrees=False),
}


def _estimate(
    turns: Sequence[Judged], floor: Iterable[Judged] | None, value: Callable[[Judged], float | None]
) -> Estimate:
    means = _by_user(turns, value)
    if not means:
        return Estimate(value=None)
    least = -1.0 if min(means.values()) < 0 else 0.0
    low, high = mean_interval(list(means.values())) or (None, None)
    estimate = Estimate(
        value=fmean(means.values()),
        low=None if low is None else max(least, low),
        high=None if high is None else min(1.0, high),
        users=len(means),
    )
    if floor is None:
        return estimate
    of_floor = {turn.moment.key: turn for turn in floor if value(turn) is not None}
    common = [turn for turn in turns if turn.moment.key in of_floor and value(turn) is not None]
    own, others = _by_user(common, value), _by_user([of_floor[turn.moment.key] for turn in common], value)
    if not own:
        return estimate
    differences = [own[user] - others[user] for user in own]
    low, high = mean_interval(differences) or (None, None)
    return estimate.model_copy(update={"above": fmean(differences), "above_low": low, "above_high": high})


def _mean(turns: Sequence[Judged], value: Callable[[Judged], float | None]) -> float | None:
    means = _by_user(turns, value)
    return fmean(means.values()) if means else None


def _by_user(turns: Iterable[Judged], value: Callable[[Judged], float | None]) -> dict[str, float]:
    """Each user's mean, for those with a value."""
    values: dict[str, list[float]] = defaultdict(list)
    for turn in turns:
        if (number := value(turn)) is not None:
            values[user_of(turn.moment.conversation)].append(number)
    return {user: fmean(of_user) for user, of_user in values.items()}
