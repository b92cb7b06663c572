"""The rows of a report on profile identification."""

from collections.abc import Sequence
from typing import ClassVar, Self

from ...data.records import Record
from ..tables import Cell, Column, Rows, Table
from .metrics import Measured, Metric

GUESSES = "people's guesses"
PRIOR_OF_SIDE = "label prior, own side"
"""Where the other side is learnt from too, or alone: the prior of those of the tested side alone."""
PRIOR_OF_GUESSED = "label prior, guessed"
"""The label prior of the conversations and aspects that people guessed, which their row is compared with."""


class MetricOf(Record):
    """What a metric is of."""

    split: str
    model: str
    aspect: str
    """`mean` for the mean of the aspects."""
    metric: str


class MetricRow(Measured, MetricOf):
    """One metric of one model for one aspect, over conversations."""

    @classmethod
    def of(cls, split: str, model: str, aspect: str, metric: str, found: Measured) -> Self:
        """A measured metric as a row."""
        return cls(split=split, model=model, aspect=aspect, metric=metric, **found.model_dump())

    @classmethod
    def none(cls, split: str, model: str, aspect: str, metric: Metric) -> Self:
        """The row of a model that says nothing."""
        return cls(split=split, model=model, aspect=aspect, metric=metric, value=None, reason="undefined: says nothing")


class Metrics(Rows[MetricRow]):
    """Every metric of every model, with its interval over users and its deviation over seeds."""

    title: ClassVar[str] = "Metrics with 95 % intervals over users"


class ModelRow(Record):
    """The metrics of a model for one aspect side by side."""

    aspect: str
    model: str
    split: str
    n: int
    f1_micro: float | None
    f1_macro: float | None
    f1_weighted: float | None
    exact: float | None
    hit_1: float | None
    hit_3: float | None
    recall_1: float | None
    recall_3: float | None
    gain: float | None
    """By how much `hit_1` is above that of the label prior in the same split, of the same conversations."""


MORE = "Every metric of each aspect, with intervals: --format markdown, csv or latex, or --json."


class SideBySide(Rows[ModelRow]):
    """What each model tells of profiles, and what is left of it beside the label prior."""

    title: ClassVar[str] = "Profile identification"

    def brief(self) -> list[Table]:
        """The mean of the aspects, and the first hits by aspect, as narrow as a terminal."""
        names = ("model", "split", "n", "f1_micro", "f1_macro", "exact", "hit_1", "hit_3", "recall_3", "gain")
        columns = [
            Column(name=name.replace("_", " "), kind="text" if name in names[:2] else "number") for name in names
        ]
        columns[2] = Column(name="n", kind="count")
        mean = [row for row in self.rows if row.aspect == "mean"]
        of_models: dict[tuple[str, str], dict[str, Cell]] = {}
        for row in self.rows:
            told = of_models.setdefault((row.model, row.split), {"model": row.model, "split": row.split})
            if row.aspect != "mean":
                told[row.aspect] = row.hit_1
        aspects = list(dict.fromkeys(row.aspect for row in self.rows if row.aspect != "mean"))
        by_aspect = [Column(name=name.replace("_", " "), kind="number") for name in aspects]
        return [
            Table.of(f"{self.title}: the mean of {len(aspects)} aspects", columns, mean, self.notes),
            Table.of("Hit at 1 of each aspect", [*columns[:2], *by_aspect], of_models.values(), [MORE]),
        ]


def side_by_side(rows: Sequence[MetricRow]) -> tuple[ModelRow, ...]:
    """The metrics of each aspect, split and model in one row; the mean of the aspects first."""
    found: dict[tuple[str, str, str], dict[str, MetricRow]] = {}
    for row in rows:
        found.setdefault((row.aspect, row.split, row.model), {})[row.metric] = row
    first = {(aspect, split, model): own["hit_1"].value for (aspect, split, model), own in found.items()}
    made = []
    for (aspect, split, model), own in found.items():
        values = {name: row.value for name, row in own.items()}
        of = PRIOR_OF_GUESSED if model in (GUESSES, PRIOR_OF_GUESSED) else "label prior"
        prior, hit = first[aspect, split, of], values["hit_1"]
        gain = None if hit is None or prior is None else hit - prior
        made.append(ModelRow(aspect=aspect, model=model, split=split, n=own["hit_1"].n, gain=gain, **values))
    aspects = list(dict.fromkeys(row.aspect for row in made))
    models = list(dict.fromkeys(row.model for row in made))
    order = {aspect: place for place, aspect in enumerate(aspects)} | {"mean": -1}
    return tuple(sorted(made, key=lambda row: (order[row.aspect], models.index(row.model))))
