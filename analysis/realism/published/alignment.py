"""Alignment of simulated users with people by the features of "Mind the Sim2Real Gap", with calibration and agreement.

Alignment of a feature is the Dice coefficient of both sides' means, of a dimension the mean over its features. The
calibration error is of outcomes by difficulty, the absolute error of ratings. There is no index of all.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from ....data import domains
from ....data.records import Conversation
from ....data.text.languages import Language
from ...outcomes import score_of
from ...over_users.estimate import FEWEST_USERS, FloatArray, of_users
from ...over_users.rates import IntervalEstimate
from ...tables import Column, Table, TabledReport
from ..matching import matched
from ..measures.labels import labels_of
from ..measures.transcripts import UserTranscript
from ..report import UserPartName
from .features import DIMENSIONS, FEATURES

CUTOFFS = (0.2, 0.4, 0.6, 0.8)
"""Bounds of the five bins of difficulty."""
DIFFICULTY = "difficulty"
"""Key of a scenario for its difficulty, 0 to 1."""
MEAN = "mean of the dimension"


class AlignmentRow(IntervalEstimate):
    """A feature, or the mean of a dimension: its Dice coefficient of both sides' means, 0 to 1."""

    feature: str
    dimension: str
    sim: float | None = None
    human: float | None = None
    people: float | None = None
    """The same between random halves of the people: median over halvings."""


class RatingError(IntervalEstimate):
    """The error of an outcome or a rating, over tasks that both sides have."""

    of: str
    tasks: int = 0
    sim: float | None = None
    human: float | None = None
    reason: str = ""


class AlignmentReport(TabledReport):
    """The features, the calibration of outcomes, and the agreement of ratings; never one number."""

    rows: tuple[AlignmentRow, ...]
    errors: tuple[RatingError, ...]
    sim_conversations: int
    human_conversations: int
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        return [self.table(), self.error_table()]

    def table(self) -> Table:
        """A row for each feature and dimension."""
        columns = [Column(name="dimension"), Column(name="feature")]
        columns += [Column(name=name, kind="number") for name in ("sim", "human")]
        columns += [Column(name=name, kind="number", places=2) for name in ("dice", "low", "high", "people")]
        rows = [vars(row) | {"dice": row.value} for row in self.rows]
        notes = (
            "dice: 2 min(a, b) / (a + b) of both sides' means, 1 if both are 0. low, high: 95 % interval over the users of "
            "both sides. people: the same between halves of the people.",
            *self.notes,
        )
        return Table.of("Features of 2603.11245 by dimension", columns, rows, notes)

    def error_table(self) -> Table:
        """The calibration error of success, and the absolute error of each rating that both sides have."""
        columns = [Column(name="of"), Column(name="tasks", kind="count")]
        columns += [Column(name=name, kind="number", places=2) for name in ("sim", "human", "error", "low", "high")]
        columns.append(Column(name="reason"))
        rows = [vars(row) | {"error": row.value} for row in self.errors]
        notes = ["ECE: over five bins of difficulty. MAE: mean over tasks, in the rating's unit. Intervals over tasks."]
        return Table.of("Outcomes and ratings", columns, rows, notes)


def dice(one: float, two: float) -> float:
    """The Dice coefficient of two means of 0 or more; 1 if both are 0."""
    total = one + two
    return 2 * min(one, two) / total if total > 0 else 1.0


@dataclass(frozen=True)
class _Side:
    """The features of a side's conversations, and the place of the user of each."""

    values: FloatArray
    user: np.ndarray
    users: int

    @classmethod
    def of(cls, transcripts: Sequence[UserTranscript]) -> "_Side":
        users, place = of_users([one.cluster for one in transcripts])
        columns = [measure.values(transcripts) for measure in FEATURES]
        return cls(np.array(columns, dtype=float).T.reshape(len(transcripts), len(FEATURES)), place, len(users))

    def means(self, counts: np.ndarray | None = None) -> FloatArray:
        """The means over conversations. `counts`: how often each user counts."""
        weights = np.ones(len(self.values)) if counts is None else counts[self.user].astype(float)
        total = (~np.isnan(self.values) * weights[:, None]).sum(axis=0)
        sums = (np.nan_to_num(self.values) * weights[:, None]).sum(axis=0)
        means: FloatArray = np.divide(sums, total, out=np.full(len(FEATURES), np.nan), where=total > 0)
        return means


def _dices(one: FloatArray, two: FloatArray) -> FloatArray:
    """The coefficients of the features, then the means of the dimensions."""
    coefficients = np.array([dice(a, b) if not np.isnan(a + b) else np.nan for a, b in zip(one, two, strict=True)])
    family = np.array([measure.family for measure in FEATURES])
    defined = [coefficients[(family == dimension) & ~np.isnan(coefficients)] for dimension in DIMENSIONS]
    return np.concatenate([coefficients, [values.mean() if values.size else np.nan for values in defined]])


def aligned(
    sim: Sequence[Conversation],
    human: Sequence[Conversation],
    *,
    language: Language | None = None,
    part: UserPartName = "all",
    seed: int = 0,
    draws: int = 1000,
    halvings: int = 200,
) -> AlignmentReport:
    """The alignment of simulated users with people.

    Args:
        sim: Simulated conversations.
        human: People's conversations.
        language: Language in which both are compared; default: one that both have.
        part: Take only users of this split of the people.
        seed: Seed of all draws.
        draws: Bootstrap draws of users, and of tasks.
        halvings: Random halvings of the people.

    Returns:
        The report; a note or a reason stands where a number is missing.
    """
    sources = matched(sim, human, None, language, part)
    errors = rating_errors(sources.sim, sources.human, seed=seed, draws=draws)
    sizes = {"sim_conversations": len(sources.sim), "human_conversations": len(sources.human)}
    if not sources.sim or not sources.human or sources.language is None:
        return AlignmentReport(rows=(), errors=errors, notes=sources.notes, **sizes)
    of_sim, of_human = _Side.of(sources.sim), _Side.of(sources.human)
    sim_means, human_means = of_sim.means(), of_human.means()
    estimate = _dices(sim_means, human_means)
    low, high = _interval(of_sim, of_human, draws, np.random.default_rng([seed, 1]))
    people = _between_halves(of_human, halvings, np.random.default_rng([seed, 2]))
    names = [(measure.name, measure.family) for measure in FEATURES]
    rows = [
        AlignmentRow(
            feature=name,
            dimension=dimension,
            sim=_number(sim_means[place]) if place < len(FEATURES) else None,
            human=_number(human_means[place]) if place < len(FEATURES) else None,
            value=_number(estimate[place]),
            low=_number(low[place]),
            high=_number(high[place]),
            people=_number(people[place]),
        )
        for place, (name, dimension) in enumerate([*names, *((MEAN, dimension) for dimension in DIMENSIONS)])
    ]
    return AlignmentReport(rows=tuple(rows), errors=errors, notes=sources.notes, **sizes)


def _interval(sim: _Side, human: _Side, draws: int, draw: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The 95 % percentile interval over users of both sides; NaN with too few on a side."""
    count = len(FEATURES) + len(DIMENSIONS)
    if min(sim.users, human.users) < FEWEST_USERS:
        return np.full(count, np.nan), np.full(count, np.nan)
    drawn = np.array([_dices(*(side.means(_drawn(side.users, draw)) for side in (sim, human))) for _ in range(draws)])
    return _quantile(drawn, 0.025), _quantile(drawn, 0.975)


def _between_halves(human: _Side, halvings: int, draw: np.random.Generator) -> FloatArray:
    """The median coefficients between random halves of the people."""
    if human.users < 2 * FEWEST_USERS:
        return np.full(len(FEATURES) + len(DIMENSIONS), np.nan)
    halves = []
    for _ in range(halvings):
        first = np.zeros(human.users)
        first[draw.permutation(human.users)[: human.users // 2]] = 1
        halves.append(_dices(human.means(first), human.means(1 - first)))
    return _quantile(np.array(halves), 0.5)


def _quantile(draws: FloatArray, share: float) -> FloatArray:
    """The quantile of each column; NaN where no draw has a value."""
    columns = [column[~np.isnan(column)] for column in draws.T]
    return np.array([np.quantile(column, share) if column.size else np.nan for column in columns])


def _drawn(users: int, draw: np.random.Generator) -> np.ndarray:
    return np.bincount(draw.integers(users, size=users), minlength=users)


def rating_errors(
    sim: Sequence[UserTranscript], human: Sequence[UserTranscript], *, seed: int = 0, draws: int = 1000
) -> tuple[RatingError, ...]:
    """The calibration error of success, then the absolute error of each numeric label of both sides."""
    errors = [_error("success (ECE)", _tasks(sim, _success), _tasks(human, _success), _calibration(human), seed, draws)]
    for label in labels_of(sim, human):
        if label.numeric and not label.refused:
            of_sim, of_human = (_tasks(side, label.mean) for side in (sim, human))
            errors.append(_error(f"{label.name} (MAE)", of_sim, of_human, lambda tasks: list(tasks), seed, draws))
    return tuple(errors)


def _error(
    name: str,
    sim: Mapping[str, float],
    human: Mapping[str, float],
    bins: Callable[[Sequence[str]], Sequence[object]],
    seed: int,
    draws: int,
) -> RatingError:
    """The error over the tasks of both: of each bin the difference of the means, weighted by its tasks."""
    tasks = sorted(sim.keys() & human.keys())
    if not tasks:
        return RatingError(of=name, value=None, reason="no task has it on both sides")
    of_bin = list(bins(tasks))
    pairs = np.array([(sim[task], human[task]) for task in tasks])

    def error(places: np.ndarray) -> float:
        groups: dict[object, list[int]] = defaultdict(list)
        for number, place in enumerate(places):
            # Each draw of a task is a task of its own, where every task is a bin.
            groups[of_bin[place] if of_bin != tasks else number].append(int(place))
        means = [(len(group), pairs[group].mean(axis=0)) for group in groups.values()]
        return float(sum(count * abs(one - two) for count, (one, two) in means) / len(places))

    draw = np.random.default_rng([seed, 3])
    low = high = None
    if len(tasks) >= FEWEST_USERS:
        drawn = [error(draw.integers(len(tasks), size=len(tasks))) for _ in range(draws)]
        low, high = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
    of_sim, of_human = pairs.mean(axis=0)
    return RatingError(
        of=name,
        value=error(np.arange(len(tasks))),
        low=low,
        high=high,
        tasks=len(tasks),
        sim=float(of_sim),
        human=float(of_human),
        reason="" if low is not None else f"no interval of fewer than {FEWEST_USERS} tasks",
    )


def _calibration(human: Sequence[UserTranscript]) -> Callable[[Sequence[str]], Sequence[object]]:
    """The bin of each task by its difficulty; one bin for all if a task states none."""
    stated = {task_key(one): one.conversation.scenario.get(DIFFICULTY) for one in human}

    def bins(tasks: Sequence[str]) -> Sequence[object]:
        values = [stated.get(task) for task in tasks]
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
            return ["all" for _ in tasks]
        return [int(np.searchsorted(CUTOFFS, float(str(value)), side="right")) for value in values]

    return bins


def _tasks(side: Sequence[UserTranscript], value: Callable[[UserTranscript], float | None]) -> dict[str, float]:
    """The mean value of each task."""
    values: dict[str, list[float]] = defaultdict(list)
    for one in side:
        if (number := value(one)) is not None:
            values[task_key(one)].append(number)
    return {task: sum(numbers) / len(numbers) for task, numbers in values.items()}


def task_key(transcript: UserTranscript) -> str:
    """What the conversation is about: the topic's key of its domain, else the task's name."""
    scenario = transcript.conversation.scenario
    return domains.of(scenario).topic_key(scenario) or transcript.task


def _success(transcript: UserTranscript) -> float | None:
    score = score_of(transcript.conversation)
    return None if isinstance(score, str) else float(score[0])


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
