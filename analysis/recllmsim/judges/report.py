"""Every judge against people, as one report."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from typing_extensions import override

from ....data.records import Record
from ....errors import DataError
from ...labels.reliability import UNTOLD
from ...over_users.estimate import UserScore
from ...over_users.folds import FOLDS, shared
from ...tables import Sections, TypedRows
from . import folds
from .assistants import orders
from .folds import Split
from .judge import Judge, baselines
from .reasons import SayReasons, reason_counts, reason_judges, reason_rows, with_reason
from .rows import AssistantOrders, JudgeRow, Judges, ReasonCounts, ReasonScores, ScoreRow, Scores
from .scores import PairedScores, intraclass, satisfaction_scores
from .turns import JudgedTurn

JudgeSplitName: TypeAlias = Literal["users", "published"]


class Leak(Record):
    """The overlap of tested turns with the conversations of training turns."""

    tested: int
    """Turns that are tested."""
    shared: int
    """Those of a conversation of which other turns are in training."""

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.shared / self.tested


class JudgesReport(Sections):
    """Judges of satisfaction against people; see `measure_judges`."""

    split: JudgeSplitName
    turns: int
    users: int
    conversations: int
    leak: Leak
    rater: UserScore
    """ICC(1): how alike the satisfactions of one user are."""
    judges: Judges
    scores: Scores
    reasons: ReasonCounts
    reason_scores: ReasonScores
    orders: AssistantOrders

    @override
    def shown(self) -> list[TypedRows[Any]]:
        return [section for section in super().shown() if section.rows]


def measure_judges(
    turns: Sequence[JudgedTurn],
    judges: Sequence[Judge] = (),
    *,
    split: JudgeSplitName = "users",
    reasons_said: Mapping[str, SayReasons] | None = None,
    trust: str = UNTOLD,
) -> JudgesReport:
    """The baselines and the given judges against people's satisfaction, cross-validated.

    `split`: `users` holds out whole users in five folds (of the user's mean: conversations). `published` holds out a
    fifth of the turns at random; their conversations mostly stand in training too. `trust`: the reliability of people's satisfaction, as from `analysis.labels.reliability.Trusts.note`.
    DataError without turns to judge, with fewer than two users, or for two judges of one name. Needs the extra `stats`,
    and `zh` for Chinese replies.
    """
    everyone = [*baselines(), *judges]
    names = [judge.name for judge in everyone]
    if double := [name for name in names if names.count(name) > 1]:
        raise DataError(f"two judges have the name {double[0]!r}: give them different names")
    main = folds.published(turns) if split == "published" else folds.users_held_out(turns)
    rows: list[ScoreRow] = []
    side_by_side: list[JudgeRow] = []
    points_of_judges: dict[str, list[float | None]] = {}
    for judge in everyone:
        used = folds.conversations_held_out(turns) if judge.knows_user and split == "users" else main
        points_of_judges[judge.name] = judge.points(turns, used)
        own, row = _scored(judge, turns, points_of_judges[judge.name], used)
        rows += own
        side_by_side.append(row)
    ordering = {judge.name: points_of_judges[judge.name] for judge in everyone if not judge.constant}
    order_rows, order_notes = orders(turns, ordering) if split == "users" else ([], [])
    tested, shared_turns = shared([turn.conversation for turn in turns], main.parts())
    leak = Leak(tested=tested, shared=shared_turns)
    rater = intraclass(turns)
    reasons = with_reason(turns)
    return JudgesReport(
        split=split,
        turns=len(turns),
        users=len({turn.user for turn in turns}),
        conversations=len({turn.conversation for turn in turns}),
        leak=leak,
        rater=rater,
        judges=Judges(
            rows=tuple(side_by_side), notes=(*_notes(turns, leak, rater, main), *_silent(side_by_side, main), trust)
        ),
        scores=Scores(rows=tuple(rows)),
        reasons=ReasonCounts(rows=reason_counts(reasons), notes=(*_of_reasons(turns, reasons), trust)),
        reason_scores=_reasons(reasons, split, reasons_said or {}),
        orders=AssistantOrders(rows=tuple(order_rows), notes=tuple(order_notes)),
    )


def _scored(
    judge: Judge, turns: Sequence[JudgedTurn], points: Sequence[float | None], split: Split
) -> tuple[list[ScoreRow], JudgeRow]:
    judged = [
        (turn, value, fold) for turn, value, fold in zip(turns, points, split.fold, strict=True) if value is not None
    ]
    paired = PairedScores([one[0] for one in judged], [one[1] for one in judged], [one[2] for one in judged])
    scores = satisfaction_scores(paired, why_no_concordance=judge.why_no_concordance)
    about: dict[str, Any] = {"judge": judge.name, "held_out": split.held_out}
    rows = [ScoreRow(**about, score=name, **score.model_dump()) for name, score in scores.items()]
    values: dict[str, Any] = {name: score.value for name, score in scores.items()}
    users = len({turn.user for turn in paired.turns})
    return rows, JudgeRow(**about, n=len(judged), users=users, **values)


def _reasons(turns: Sequence[JudgedTurn], split: JudgeSplitName, judges: Mapping[str, SayReasons]) -> ReasonScores:
    if len({turn.user for turn in turns}) < 2 or len(turns) < FOLDS:
        return ReasonScores(rows=())
    used = folds.published(turns) if split == "published" else folds.users_held_out(turns)
    rows = reason_rows(turns, used, {**reason_judges(), **judges})
    tested = len(used.tested)
    silent = {row.judge: row.n for row in rows if row.n < tested}
    notes = (
        f"{name}: gives no reason for {tested - n} of {tested} turns, so that its row is of other turns than the commonest's."
        for name, n in silent.items()
    )
    return ReasonScores(rows=tuple(rows), notes=tuple(notes))


def _notes(turns: Sequence[JudgedTurn], leak: Leak, rater: UserScore, split: Split) -> list[str]:
    whole = f"{len(turns)} turns of {len({turn.user for turn in turns})} users"
    how = {
        "users": "Whole users are held out; for the user's mean, whole conversations.",
        "turns": "Turns at random are held out.",
    }
    icc = rater.reason if rater.value is None else f"{rater.value:.3f}{_range(rater)}"
    return [
        f"{whole}. {how.get(split.held_out, '')} {leak.shared} of {leak.tested} test turns ({leak.share:.1%}) are of "
        "conversations that stand in training too.",
        f"ICC(1) of the rater: {icc}. A judge with a lower kappa predicts less than the identity of the user.",
        "Rules with hindsight read the user's next message.",
    ]


def _range(score: UserScore) -> str:
    return "" if score.low is None or score.high is None else f" ({score.low:.3f} to {score.high:.3f})"


def _silent(rows: Sequence[JudgeRow], split: Split) -> list[str]:
    tested = len(split.tested)
    return [f"{row.judge}: gives nothing for {tested - row.n} of {tested} turns, which are left out only of its row." for row in rows if row.n < tested and row.held_out == split.held_out]  # fmt: skip


def _of_reasons(turns: Sequence[JudgedTurn], reasons: Sequence[JudgedTurn]) -> tuple[str, ...]:
    low = sum(turn.dissatisfied for turn in turns)
    if not reasons:
        return (f"None of {low} turns with 3 points or less has a reason.",)
    return (f"{len(reasons)} of {low} turns with 3 points or less have a reason with content.",)
