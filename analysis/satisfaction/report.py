"""Satisfaction, its binary form, reasons and preferences, told from words, as one report."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

from ...data.records import Record
from ...errors import DataError, SettingError
from ..identification.classifiers import TREES
from ..identification.settings import SplitName, parts
from ..identification.values import Task, ValueRow, ValueRows, Watch, learner, measure_values, unwatched
from ..tables import Table
from ..trust import UNTOLD
from .pairs import measure_pairs
from .points import measure_points, regressor
from .turns import ToldTurn, with_a_negative

TaskName: TypeAlias = Literal["five", "points", "binary", "reasons", "six", "pairs"]
TASKS: tuple[TaskName, ...] = get_args(TaskName)
MODELS = ("forest", "logistic")
SATISFIED, DISSATISFIED = "satisfied", "dissatisfied"
OTHER = "other"


class SatisfactionReport(Record):
    """Satisfaction told from words. See `measure_satisfaction`."""

    split: str
    reads: str
    turns: int
    users: int
    tested: int
    """Turns that are tested as five-way satisfaction."""
    shared: int
    """Those of a conversation of which other turns are learnt from."""
    scores: ValueRows

    def tables(self) -> list[Table]:
        """The one table."""
        return [self.scores.table()]

    def to_json(self) -> dict[str, Any]:
        """What is counted, the rows and the notes."""
        head = self.model_dump(mode="json", exclude={"scores"})
        return head | {"scores": self.scores.to_json(), "notes": list(self.scores.notes)}


def measure_satisfaction(
    turns: Sequence[ToldTurn],
    models: Sequence[str] = MODELS,
    *,
    tasks: Sequence[TaskName] = TASKS,
    split: SplitName = "users",
    reads: str = "talk",
    trees: int = TREES,
    seeds: int = 1,
    seed: int = 0,
    trust: str = UNTOLD,
    watch: Watch = unwatched,
) -> SatisfactionReport:
    """Each task by the prior and each model of words.

    `five`: 1 to 5; `points`: the same by regression; `binary`: 3 or less against more, of users who have both; `reasons`:
    why not satisfied, "other" left out; `six`: the reasons, other ones, and satisfied; `pairs`: which of two replies of a
    conversation its user is more satisfied with. `split`: `users` holds out whole users in five folds, `published` a fifth
    of the turns at random. `reads`: what the turns' texts are, for the rows. `seed`: of the users drawn for intervals.
    `trust`: how far the satisfaction can be trusted, as `analysis.trust.Trusts.note` tells. `watch`: is told what is under
    way. DataError without turns, or with fewer than two users. Needs the extras `ml`, and `zh` for Chinese.
    """
    if seeds < 1:
        raise SettingError(f"seeds {seeds}: give 1 or more")
    if not turns:
        raise DataError("no reply has a satisfaction of 1 to 5: give people's second study of RecLLMSim, or its like")
    folds = parts([turn.judged.user for turn in turns], split)
    rows: list[ValueRow] = []
    left_out = []
    for name in dict.fromkeys(tasks):
        found = _measured(turns, name, models, split, reads, trees, seeds, seed, watch)
        if not found:
            left_out.append(name)
        rows += found
    tested = [place for _, test in folds for place in test]
    shared = sum(
        turns[place].judged.conversation in known
        for train, test in folds
        for known in [{turns[each].judged.conversation for each in train}]
        for place in test
    )
    how = "whole users are held out" if split == "users" else "turns at random are held out, as published"
    notes = [
        f"{split}: {how}; {shared} of {len(tested)} test turns ({shared / len(tested):.1%}) are of conversations of which "
        "longer or shorter beginnings are learnt from.",
        *(f"{name}: too few turns, or users, to part." for name in left_out),
        trust,
    ]
    return SatisfactionReport(
        split=split,
        reads=reads,
        turns=len(turns),
        users=len({turn.judged.user for turn in turns}),
        tested=len(tested),
        shared=shared,
        scores=ValueRows(rows=tuple(rows), notes=tuple(notes)),
    )


def _measured(
    turns: Sequence[ToldTurn],
    name: TaskName,
    models: Sequence[str],
    split: SplitName,
    reads: str,
    trees: int,
    seeds: int,
    seed: int,
    watch: Watch,
) -> list[ValueRow]:
    if name == "pairs":
        watch(f"{name}, {reads}")
        return measure_pairs(turns, split, reads, seed=seed)
    taken = {"binary": with_a_negative, "reasons": _with_reason}.get(name, tuple)(turns)
    values = [_value(turn, name) for turn in taken]
    users = [turn.judged.user for turn in taken]
    if len(set(users)) < 2 or len(users) < 5 or len(set(values)) < 2:
        return []
    task = Task(name, reads, [turn.text for turn in taken], values, users, parts(users, split), split)
    if name == "points":
        return measure_points(
            task, {each: regressor(each, trees) for each in models}, seeds=seeds, seed=seed, watch=watch
        )
    learners = {each: learner(each, trees, balanced=True) for each in models}
    auc_of = DISSATISFIED if name == "binary" else ""
    return measure_values(task, learners, seeds=seeds, seed=seed, auc_of=auc_of, watch=watch)


def _with_reason(turns: Sequence[ToldTurn]) -> tuple[ToldTurn, ...]:
    return tuple(turn for turn in turns if turn.negative and turn.judged.reason)


def _value(turn: ToldTurn, name: TaskName) -> str:
    if name == "reasons":
        return turn.judged.reason
    if name == "binary":
        return DISSATISFIED if turn.negative else SATISFIED
    if name == "six":
        return (turn.judged.reason or OTHER) if turn.negative else SATISFIED
    return str(turn.judged.satisfaction)
