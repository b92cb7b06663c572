"""The rows of a report on profile identification."""

from collections.abc import Collection, Sequence

from typing_extensions import override

from ....data.records import Record
from ...tables import Cell, Column, Table, TypedRows
from .metrics import MeasuredOptions

GUESSES = "people's guesses"
PRIOR_OF_SIDE = "label prior, own side"
"""Where the other side is in training, with the tested side or without it: the prior of only the tested side."""
PRIOR_OF_GUESSED = "label prior, guessed"
"""The label prior of the conversations and aspects that people guessed, which their row is compared with."""


class MetricOf(Record):
    """The split, model and aspect of a metric."""

    split: str
    model: str
    aspect: str
    """`mean` for the mean of the aspects."""
    metric: str


class MetricRow(MeasuredOptions, MetricOf):
    """One metric of one model for one aspect, over conversations."""


class Metrics(TypedRows[MetricRow], title="Metrics with 95 % intervals over users"):
    """Every metric of every model, with its interval over users and its deviation over seeds."""


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


MORE = "Every metric of each aspect, with intervals: --format md, csv or latex, or --json."


class SideBySide(TypedRows[ModelRow], title="Profile identification"):
    """The metrics of each model, beside the label prior."""

    @override
    def wide_fields(self) -> Collection[str]:
        return "aspect", "f1_weighted", "recall_1"

    @override
    def brief(self) -> Table:
        mean = SideBySide(rows=tuple(row for row in self.rows if row.aspect == "mean"), notes=self.notes)
        aspects = {row.aspect for row in self.rows} - {"mean"}
        return mean.table().model_copy(update={"title": f"{self.title}: the mean of {len(aspects)} aspects"})

    def hits(self) -> Table:
        """The first hits by aspect."""
        of_models: dict[tuple[str, str], dict[str, Cell]] = {}
        aspects: dict[str, None] = {}
        for row in self.rows:
            cells = of_models.setdefault((row.model, row.split), {"model": row.model, "split": row.split})
            if row.aspect != "mean":
                aspects[row.aspect] = None
                cells[row.aspect] = row.hit_1
        by_aspect = [Column(name=name.replace("_", " "), kind="number") for name in aspects]
        columns = [Column(name="model"), Column(name="split"), *by_aspect]
        return Table.of("Hit at 1 of each aspect", columns, of_models.values(), [MORE])


def side_by_side(rows: Sequence[MetricRow]) -> tuple[ModelRow, ...]:
    """The metrics of each aspect, split and model in one row; the mean of the aspects first."""
    metrics: dict[tuple[str, str, str], dict[str, MetricRow]] = {}
    for row in rows:
        metrics.setdefault((row.aspect, row.split, row.model), {})[row.metric] = row
    model_rows = []
    for (aspect, split, model), own in metrics.items():
        values = {name: row.value for name, row in own.items()}
        model_rows.append(ModelRow(aspect=aspect, model=model, split=split, n=own["hit_1"].n, **values))
    aspects = list(dict.fromkeys(row.aspect for row in model_rows))
    models = list(dict.fromkeys(row.model for row in model_rows))
    order = {aspect: place for place, aspect in enumerate(aspects)} | {"mean": -1}
    return tuple(sorted(model_rows, key=lambda row: (order[row.aspect], models.index(row.model))))
