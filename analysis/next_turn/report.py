"""The benchmark's table: for each row the means over users, with intervals, and its distance from the baseline."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from statistics import fmean
from typing import Literal, get_args

from typing_extensions import override

from ...data.people import user_of
from ...data.records import Record
from ..over_users.means import over_users
from ..over_users.rates import IntervalEstimate
from ..realism.report import UserPartName
from ..tables import Column, Table, TabledReport
from .acts import ACTS, Act
from .judging import JudgedRow, JudgedTurns, RowKind

FLOOR = "another person"

TurnScore = Literal["chrf", "first", "later", "words", "embedding", "acts", "ended", "stayed"]
SCORES: tuple[TurnScore, ...] = get_args(TurnScore)
_BESIDE: tuple[TurnScore, ...] = ("words", "acts", "stayed")
TITLES: dict[TurnScore, str] = {score: "chrF" if score == "chrf" else score for score in SCORES}


class UserMean(IntervalEstimate):
    """A mean over users, each with the same weight, and its distance from the baseline.

    Intervals over users are Student's, of a mean near an end of the scale of the score form; none with fewer than 10
    users.
    """

    users: int = 0
    above: float | None = None
    """Mean over users of the row's value less that of the human-human baseline, over the turns that both have; None for
    the baseline."""
    above_low: float | None = None
    above_high: float | None = None


class NextTurnRow(Record):
    """The scores of one source of turns."""

    name: str
    kind: RowKind
    turns: int
    """Turns of people that it is compared at."""
    ends: int
    """Ends of people that it is compared at."""
    scores: dict[TurnScore, UserMean]
    by_act: dict[Act, float]
    """Agreement in each act: mean over users."""
    silent: int
    """Turns at which the user wrote nothing and did not leave."""
    rejected: int
    """Drafts that its own validator rejected."""
    calls: int
    tokens: int
    failed: int
    """Moments at which it could not be asked; they count in no mean."""
    failure: str
    """Why, of the most frequent reason; empty if all were asked."""


class NextTurnReport(TabledReport):
    """The nearness of each row to people's next turns."""

    part: UserPartName
    seed: int
    conversations: int
    users: int
    turns: int
    ends: int
    rows: tuple[NextTurnRow, ...]
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        return [self.table(), self.by_score()]

    def table(self) -> Table:
        """A row for each source of turns."""
        columns = [Column(name="row"), Column(name="turns", kind="count")]
        scores = self._scores(without=("first", "later"))
        for score in scores:
            columns.append(Column(name=TITLES[score], kind="number"))
            if score == "chrf":
                columns += [Column(name=name, kind="number") for name in ("low", "high")]
        user_rows = [row for row in self.rows if row.kind == "user"]
        rare = [name for name in ("silent", "rejected", "failed") if any(getattr(row, name) for row in user_rows)]
        columns += [Column(name=name, kind="count") for name in rare]
        rows = [
            vars(row)
            | {TITLES[score]: row.scores[score].value for score in scores}
            | {"row": row.name, "low": row.scores["chrf"].low, "high": row.scores["chrf"].high}
            for row in self.rows
        ]
        notes = [
            "chrF, words (cosine of TF-IDF), embedding: similarity to what the person wrote, 0 to 1. acts: agreement in "
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
        all_scores = self._scores()
        # Without first turns all are later ones.
        scores = all_scores if "first" in all_scores else self._scores(without=("later",))
        rows = [
            {"row": row.name, "score": TITLES[score], "mean": row.scores[score].value}
            | row.scores[score].model_dump(exclude={"value"})
            for score in scores
            for row in self.rows
            if row.kind != "person"
        ]
        empty = {name for name in numbers if all(row.get(name.replace(" ", "_")) is None for row in rows)}
        columns = [column for column in columns if column.name not in empty]
        notes = ["first, later: chrF of first and of later turns."] if "first" in scores else []
        notes.append(f"above: the difference from {FLOOR}'s, over the turns that both have. 95 % intervals over users.")
        if empty:
            notes.append(f"Left out, as no row has them: {', '.join(name for name in numbers if name in empty)}.")
        return Table.of("By score", columns, rows, notes)

    def _scores(self, without: Sequence[TurnScore] = ()) -> list[TurnScore]:
        named: list[TurnScore] = [score for score in TITLES if score not in without]
        return [score for score in named if any(row.scores[score].value is not None for row in self.rows)]


class ProbedNextTurnReport(NextTurnReport):
    """The nearness of each row at chosen places of the conversations."""

    by_probe: dict[int, tuple[NextTurnRow, ...]]
    """The rows at each probe only, by its per cent."""

    @override
    def tables(self) -> list[Table]:
        return [*super().tables(), self.probe_table()]

    def probe_table(self) -> Table:
        """Each row at each probe: similarity, acts, and how far it is above another person's turn."""
        columns = [Column(name="row"), Column(name="probe"), Column(name="turns", kind="count")]
        numbers = ("chrF", "low", "high", "above", "above low", "above high", "words", "acts", "stayed")
        columns += [Column(name=name, kind="number") for name in numbers]
        rows = [
            row.scores["chrf"].model_dump(exclude={"value"})
            | {"row": row.name, "probe": f"{probe} %", "turns": row.turns, "chrF": row.scores["chrf"].value}
            | {score: row.scores[score].value for score in _BESIDE}
            for probe, at_probe in self.by_probe.items()
            for row in at_probe
            if row.kind != "person"
        ]
        notes = ["probe: the turn before which this per cent of the person's turns lie. Intervals over users."]
        return Table.of("By place in the conversation", columns, rows, notes)


def row_of(judged: JudgedRow, floor: JudgedRow | None, common: Set[str]) -> NextTurnRow:
    """The row with its means at the moments that are compared; `floor`: the row of the baseline."""
    turns = [turn for turn in judged.turns if turn.next_turn.failure is None and turn.moment.key in common]
    failed = [turn.next_turn.failure for turn in judged.turns if turn.next_turn.failure is not None]
    of_floor = None if floor is None or floor is judged else floor.turns
    scores: dict[TurnScore, UserMean] = {score: _estimate(turns, of_floor, value) for score, value in _VALUES.items()}
    if judged.kind == "person":  # each turn is compared with itself: 1 by definition, of whatever users
        scores = {score: mean.model_copy(update={"low": None, "high": None}) for score, mean in scores.items()}
    return NextTurnRow(
        name=judged.name,
        kind=judged.kind,
        turns=sum(turn.scores.chrf is not None for turn in turns),
        ends=sum(turn.moment.ended for turn in turns),
        scores=scores,
        by_act={act: fmean(means.values()) for act in ACTS if (means := _by_user(turns, partial(_of_act, act)))},
        silent=sum(not turn.next_turn.text and not turn.next_turn.stopped and not turn.moment.ended for turn in turns),
        rejected=sum(turn.next_turn.rejected for turn in judged.turns),
        calls=sum(turn.next_turn.calls for turn in judged.turns),
        tokens=sum(turn.next_turn.input_tokens + turn.next_turn.output_tokens for turn in judged.turns),
        failed=len(failed),
        failure=Counter(failed).most_common(1)[0][0] if failed else "",
    )


def _left_at(turn: JudgedTurns, end: bool) -> float | None:
    """Whether the user left at an end, and stayed where the person went on."""
    return float(turn.scores.left is end) if turn.moment.ended is end and turn.scores.left is not None else None


def _of_act(act: Act, turn: JudgedTurns) -> float | None:
    return (turn.scores.acts or {}).get(act)


_VALUES: dict[TurnScore, Callable[[JudgedTurns], float | None]] = {
    "chrf": lambda turn: turn.scores.chrf,
    "first": lambda turn: None if turn.moment.turn else turn.scores.chrf,
    "later": lambda turn: turn.scores.chrf if turn.moment.turn else None,
    "words": lambda turn: turn.scores.words,
    "embedding": lambda turn: turn.scores.embedding,
    "acts": lambda turn: fmean(turn.scores.acts.values()) if turn.scores.acts else None,
    "ended": lambda turn: _left_at(turn, end=True),
    "stayed": lambda turn: _left_at(turn, end=False),
}


def _estimate(
    turns: Sequence[JudgedTurns], floor: Iterable[JudgedTurns] | None, value: Callable[[JudgedTurns], float | None]
) -> UserMean:
    means = _by_user(turns, value)
    if not means:
        return UserMean(value=None)
    sums = over_users(list(means.values()))
    low, high = sums.interval(-1.0, 1.0) if min(means.values()) < 0 else sums.scale_interval()
    estimate = UserMean(value=fmean(means.values()), low=low, high=high, users=len(means))
    if floor is None:
        return estimate
    of_floor = {turn.moment.key: turn for turn in floor if value(turn) is not None}
    common = [turn for turn in turns if turn.moment.key in of_floor and value(turn) is not None]
    own, others = _by_user(common, value), _by_user([of_floor[turn.moment.key] for turn in common], value)
    if not own:
        return estimate
    differences = [own[user] - others[user] for user in own]
    low, high = over_users(differences).interval()
    return estimate.model_copy(update={"above": fmean(differences), "above_low": low, "above_high": high})


def _by_user(turns: Iterable[JudgedTurns], value: Callable[[JudgedTurns], float | None]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for turn in turns:
        if (number := value(turn)) is not None:
            values[user_of(turn.moment.conversation)].append(number)
    return {user: fmean(of_user) for user, of_user in values.items()}
