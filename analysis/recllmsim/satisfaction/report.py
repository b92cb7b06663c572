"""Satisfaction, its binary form, reasons and preferences, predicted from words, as one report."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from ....errors import DataError, SettingError
from ...labels.reliability import UNTOLD
from ...over_users.folds import shared
from ...tables import Sections
from ..identification.settings import SplitName, parts
from ..identification.text_models.classifiers import TREES
from ..identification.values import ModelWatch, Task, ValueRow, ValueRows, learner, measure_values, unwatched
from .pairs import measure_pairs
from .points import measure_points, regressor
from .turns import ToldTurn, with_a_negative

SatisfactionTask: TypeAlias = Literal["five", "points", "binary", "reasons", "six", "pairs"]
TASKS: tuple[SatisfactionTask, ...] = get_args(SatisfactionTask)
MODELS = ("forest", "logistic")
SATISFIED, DISSATISFIED = "satisfied", "dissatisfied"
OTHER = "other"


class SatisfactionReport(Sections):
    """Satisfaction predicted from words; see `measure_satisfaction`."""

    split: str
    reads: str
    turns: int
    users: int
    tested: int
    """Turns that are tested as five-way satisfaction."""
    shared: int
    """Those of a conversation of which other turns are in training."""
    scores: ValueRows


def measure_satisfaction(
    turns: Sequence[ToldTurn],
    models: Sequence[str] = MODELS,
    *,
    tasks: Sequence[SatisfactionTask] = TASKS,
    split: SplitName = "users",
    reads: str = "talk",
    trees: int = TREES,
    seeds: int = 1,
    trust: str = UNTOLD,
    watch: ModelWatch = unwatched,
) -> SatisfactionReport:
    """Each task by the prior and each model of words.

    - `five`: 1 to 5;
    - `points`: the same by regression;
    - `binary`: 3 or less against more, of users who have both;
    - `reasons`: why not satisfied, "other" left out;
    - `six`: the reasons, other ones, and satisfied;
    - `pairs`: which of two replies of a conversation its user is more satisfied with.

    `split`: `users` holds out whole users in five folds, `published` a fifth of the turns at random. `reads`: what the
    turns' texts are, for the rows. `trust`: the reliability of the
    satisfaction, as from `analysis.labels.reliability.Trusts.note`. `watch`: called with a line on progress. DataError
    without turns, or with fewer than two users. Needs the extra `stats`, and `zh` for Chinese.
    """
    if seeds < 1:
        raise SettingError(f"seeds {seeds}: give 1 or more")
    if not turns:
        raise DataError("no reply has a satisfaction of 1 to 5: give people's second study of RecLLMSim, or its like")
    folds = parts([turn.judged.user for turn in turns], split)

    def rows_of(name: SatisfactionTask) -> list[ValueRow]:
        if name == "pairs":
            watch(f"{name}, {reads}")
            return measure_pairs(turns, split, reads)
        taken = {"binary": with_a_negative, "reasons": _with_reason}.get(name, tuple)(turns)
        values = [_value(turn, name) for turn in taken]
        users = [turn.judged.user for turn in taken]
        if len(set(users)) < 2 or len(users) < 5 or len(set(values)) < 2:
            return []
        task = Task(name, reads, [turn.text for turn in taken], values, users, parts(users, split), split)
        if name == "points":
            return measure_points(task, {model: regressor(model, trees) for model in models}, seeds=seeds, watch=watch)
        learners = {model: learner(model, trees, balanced=True) for model in models}
        return measure_values(task, learners, seeds=seeds, auc_of=DISSATISFIED if name == "binary" else "", watch=watch)

    by_task = {name: rows_of(name) for name in dict.fromkeys(tasks)}
    tested, learnt_too = shared([turn.judged.conversation for turn in turns], folds)
    how = "whole users are held out" if split == "users" else "turns at random are held out, as published"
    notes = [
        f"{split}: {how}; {learnt_too} of {tested} test turns ({learnt_too / tested:.1%}) are of conversations of which "
        "longer or shorter beginnings are trained on.",
        *(f"{name}: too few turns, or users, to part." for name, rows in by_task.items() if not rows),
        trust,
    ]
    return SatisfactionReport(
        split=split,
        reads=reads,
        turns=len(turns),
        users=len({turn.judged.user for turn in turns}),
        tested=tested,
        shared=learnt_too,
        scores=ValueRows(rows=tuple(row for rows in by_task.values() for row in rows), notes=tuple(notes)),
    )


def _with_reason(turns: Sequence[ToldTurn]) -> tuple[ToldTurn, ...]:
    return tuple(turn for turn in turns if turn.negative and turn.judged.reason)


def _value(turn: ToldTurn, name: SatisfactionTask) -> str:
    if name == "reasons":
        return turn.judged.reason
    if name == "binary":
        return DISSATISFIED if turn.negative else SATISFIED
    if name == "six":
        return (turn.judged.reason or OTHER) if turn.negative else SATISFIED
    return str(turn.judged.satisfaction)
