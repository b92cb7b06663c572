"""Every judge against people, as one report."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from ...data.records import Record
from ...errors import DataError
from ..tables import Table
from . import folds
from .assistants import orders
from .folds import Split
from .judge import Judge, baselines
from .reasons import SayReasons, reason_counts, reason_judges, reason_rows, with_reason
from .rows import JudgeRow, Judges, Orders, ReasonCounts, ReasonScores, ScoreRow, ScoreRows, Scores
from .scores import Score, Told, intraclass, satisfaction_scores
from .turns import JudgedTurn

SplitName: TypeAlias = Literal["users", "published"]


class Leak(Record):
    """How far the tested turns are known to what learns."""

    tested: int
    """Turns that are tested."""
    shared: int
    """Those of a conversation of which other turns are learnt from."""

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.shared / self.tested


class JudgesReport(Record):
    """Judges of satisfaction against people. See `measure_judges`."""

    split: SplitName
    turns: int
    users: int
    conversations: int
    leak: Leak
    rater: Score
    """ICC(1): how alike the satisfactions of one user are."""
    judges: Judges
    scores: Scores
    reasons: ReasonCounts
    reason_scores: ReasonScores
    orders: Orders

    def tables(self) -> list[Table]:
        """The tables that have rows."""
        parts = (self.judges, self.scores, self.reasons, self.reason_scores, self.orders)
        return [part.table() for part in parts if part.rows]

    def narrow(self) -> list[Table]:
        """The same for a terminal, with fewer columns."""
        parts = (self.judges, self.scores, self.reasons, self.reason_scores, self.orders)
        return [part.narrow() if isinstance(part, ScoreRows) else part.table() for part in parts if part.rows]

    def to_json(self) -> dict[str, Any]:
        """What is counted, the rows of each table, and the notes of each."""
        parts = {name: getattr(self, name) for name in ("judges", "scores", "reasons", "reason_scores", "orders")}
        head = self.model_dump(mode="json", include={"split", "turns", "users", "conversations", "leak", "rater"})
        return (
            head
            | {name: part.to_json() for name, part in parts.items()}
            | {"notes": {name: list(part.notes) for name, part in parts.items()}}
        )


def measure_judges(
    turns: Sequence[JudgedTurn],
    judges: Sequence[Judge] = (),
    *,
    split: SplitName = "users",
    reasons_said: Mapping[str, SayReasons] | None = None,
    seed: int = 0,
) -> JudgesReport:
    """The baselines and the given judges against what people say, cross-validated.

    `split`: `users` holds out whole users in five folds (of the user's mean: conversations); `published` a fifth of the
    turns at random, whose conversations mostly stand in training too. `seed`: of the users that are drawn for intervals.
    DataError without turns to judge, with fewer than two users, or for two judges of one name.
    Needs the extras `ml`, and `zh` for Chinese replies.
    """
    everyone = [*baselines(), *judges]
    names = [judge.name for judge in everyone]
    if double := [name for name in names if names.count(name) > 1]:
        raise DataError(f"two judges have the name {double[0]!r}: give them different names")
    main = folds.published(turns) if split == "published" else folds.users_held_out(turns)
    rows: list[ScoreRow] = []
    side_by_side: list[JudgeRow] = []
    told: dict[str, list[float | None]] = {}
    for judge in everyone:
        used = folds.conversations_held_out(turns) if judge.knows_user and split == "users" else main
        told[judge.name] = judge.points(turns, used)
        own, row = _scored(judge, turns, told[judge.name], used, seed)
        rows += own
        side_by_side.append(row)
    ordering = {judge.name: told[judge.name] for judge in everyone if not judge.constant}
    order_rows, order_notes = orders(turns, ordering) if split == "users" else ([], [])
    leak = Leak(tested=len(main.tested), shared=folds.shared(turns, main))
    rater = intraclass(turns, seed=seed)
    reasons = with_reason(turns)
    return JudgesReport(
        split=split,
        turns=len(turns),
        users=len({turn.user for turn in turns}),
        conversations=len({turn.conversation for turn in turns}),
        leak=leak,
        rater=rater,
        judges=Judges(
            rows=tuple(side_by_side), notes=(*_notes(turns, leak, rater, main), *_silent(side_by_side, main))
        ),
        scores=Scores(rows=tuple(rows)),
        reasons=ReasonCounts(rows=reason_counts(reasons), notes=_of_reasons(turns, reasons)),
        reason_scores=_reasons(reasons, split, reasons_said or {}, seed),
        orders=Orders(rows=tuple(order_rows), notes=tuple(order_notes)),
    )


def _scored(
    judge: Judge, turns: Sequence[JudgedTurn], points: Sequence[float | None], split: Split, seed: int
) -> tuple[list[ScoreRow], JudgeRow]:
    said = [
        (turn, value, fold) for turn, value, fold in zip(turns, points, split.fold, strict=True) if value is not None
    ]
    told = Told([one[0] for one in said], [one[1] for one in said], [one[2] for one in said])
    scores = satisfaction_scores(told, seed=seed, why_no_concordance=judge.why_no_concordance)
    rows = [ScoreRow.of(judge.name, split.held_out, name, score) for name, score in scores.items()]
    values: dict[str, Any] = {name: score.value for name, score in scores.items()}
    users = len({turn.user for turn in told.turns})
    return rows, JudgeRow(judge=judge.name, held_out=split.held_out, n=len(said), users=users, **values)


def _reasons(
    turns: Sequence[JudgedTurn], split: SplitName, judges: Mapping[str, SayReasons], seed: int
) -> ReasonScores:
    if len({turn.user for turn in turns}) < 2 or len(turns) < folds.FOLDS:
        return ReasonScores(rows=())
    used = folds.published(turns) if split == "published" else folds.users_held_out(turns)
    rows = reason_rows(turns, used, {**reason_judges(), **judges}, seed=seed)
    tested = len(used.tested)
    silent = {row.judge: row.n for row in rows if row.n < tested}
    notes = (
        f"{name}: says no reason of {tested - n} of {tested} turns, so that its row is of other turns than the commonest's."
        for name, n in silent.items()
    )
    return ReasonScores(rows=tuple(rows), notes=tuple(notes))


def _notes(turns: Sequence[JudgedTurn], leak: Leak, rater: Score, split: Split) -> list[str]:
    whole = f"{len(turns)} turns of {len({turn.user for turn in turns})} users"
    how = {
        "users": "Whole users are held out; for the user's mean, whole conversations.",
        "turns": "Turns at random are held out.",
    }
    icc = rater.reason if rater.value is None else f"{rater.value:.3f}{_range(rater)}"
    return [
        f"{whole}. {how.get(split.held_out, '')} {leak.shared} of {leak.tested} test turns ({leak.share:.1%}) are of "
        "conversations that stand in training too.",
        f"ICC(1) of the rater: {icc}. A judge with a lower kappa tells less than who the user is.",
        "Rules with hindsight read what the user says next.",
    ]


def _range(score: Score) -> str:
    return "" if score.low is None or score.high is None else f" ({score.low:.3f} to {score.high:.3f})"


def _silent(rows: Sequence[JudgeRow], split: Split) -> list[str]:
    tested = len(split.tested)
    return [f"{row.judge}: says nothing of {tested - row.n} of {tested} turns, which are left out of its row alone." for row in rows if row.n < tested and row.held_out == split.held_out]  # fmt: skip


def _of_reasons(turns: Sequence[JudgedTurn], reasons: Sequence[JudgedTurn]) -> tuple[str, ...]:
    low = sum(turn.dissatisfied for turn in turns)
    if not reasons:
        return (f"None of {low} turns with 3 points or less has a reason.",)
    return (f"{len(reasons)} of {low} turns with 3 points or less have a reason that says something.",)
