"""The rows of a report on profile identification."""

from collections.abc import Sequence
from typing import ClassVar, Self

from ...data.records import Record
from ..tables import Rows
from .metrics import Measured, Metric


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
    """By how much `hit_1` is above that of the label prior in the same split."""


class SideBySide(Rows[ModelRow]):
    """What each model tells of profiles, and what is left of it beside the label prior."""

    title: ClassVar[str] = "Profile identification"


def side_by_side(rows: Sequence[MetricRow]) -> tuple[ModelRow, ...]:
    """The metrics of each aspect, split and model in one row; the mean of the aspects first."""
    found: dict[tuple[str, str, str], dict[str, MetricRow]] = {}
    for row in rows:
        found.setdefault((row.aspect, row.split, row.model), {})[row.metric] = row
    first = {
        (aspect, split): own["hit_1"].value for (aspect, split, model), own in found.items() if model == "label prior"
    }
    made = []
    for (aspect, split, model), own in found.items():
        values = {name: row.value for name, row in own.items()}
        prior, hit = first[aspect, split], values["hit_1"]
        gain = None if hit is None or prior is None else hit - prior
        made.append(ModelRow(aspect=aspect, model=model, split=split, n=own["hit_1"].n, gain=gain, **values))
    aspects = list(dict.fromkeys(row.aspect for row in made))
    models = list(dict.fromkeys(row.model for row in made))
    order = {aspect: place for place, aspect in enumerate(aspects)} | {"mean": -1}
    return tuple(sorted(made, key=lambda row: (order[row.aspect], models.index(row.model))))
