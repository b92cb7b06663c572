"""A claim: figures that pages print, and the measurement on the public subset that gives them again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from typing_extensions import override

from ...analysis.tables import Column, Table, TabledReport
from ...data.loading import Loaded, load
from ...data.records import Record
from ...errors import DataError, SettingError
from .printed import agree

AS_PRINTED = "as printed"
FigureValues: TypeAlias = Mapping[str, float | None]
"""Measured values by the name of the figure."""


@dataclass
class OpenData:
    """The published data in a folder, each source read once.

    DataError for a folder that lacks it.
    """

    folder: Path
    _loaded: dict[str, Loaded] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        """The path of a source such as `recllmsim/human_exp_V2`, in the folder or, by its last name, right in it."""
        paths = (self.folder / name, self.folder / Path(name).name)
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            raise DataError(
                f"{self.folder}: has no {name}: give the folder of the published data "
                "(docs/research/replication.md names the sources)"
            )
        return path

    def load(self, name: str) -> Loaded:
        """Its conversations."""
        if name not in self._loaded:
            self._loaded[name] = load(self.path(name))
        return self._loaded[name]


@dataclass(frozen=True)
class Measured:
    """What a measurement gives."""

    values: FigureValues
    n: str
    """The users and conversations that it is over, in words."""


@dataclass(frozen=True)
class Claim:
    """Figures on pages that one measurement on the public subset gives."""

    name: str
    what: str
    """What is measured, in one line."""
    pages: tuple[str, ...]
    minutes: int
    """About how long it takes on two cores."""
    sources: Mapping[str, int]
    """The sources by name, with the number of conversations in the public subset."""
    printed: Callable[[], Mapping[str, str]]
    """The printed figures by name."""
    measure: Callable[[OpenData, int], Measured]
    """The measurement with a seed; the pages print that of seed 0."""


class ReproducedFigure(Record):
    """A printed figure and its value here."""

    figure: str
    printed: str
    here: float | None
    """The value of the first seed; None if it has none."""
    result: str
    """`as printed`, or the difference from the printed figure."""
    low: float | None
    """The least value over the seeds."""
    high: float | None
    """The greatest."""


class Reproduction(TabledReport):
    """The figures of a claim, each with its value on the given data."""

    claim: str
    pages: tuple[str, ...]
    seeds: tuple[int, ...]
    n: str
    figures: tuple[ReproducedFigure, ...]
    notes: tuple[str, ...]

    @property
    def differing(self) -> int:
        """The number of figures that are not as printed."""
        return sum(figure.result != AS_PRINTED for figure in self.figures)

    @override
    def tables(self) -> list[Table]:
        columns = [
            Column(name="figure"),
            Column(name="printed"),
            Column(name="here", kind="number", places=4),
            Column(name="result"),
        ]
        if len(self.seeds) > 1:
            columns += [Column(name=name, kind="number", places=4) for name in ("low", "high")]
        seeds = ", ".join(map(str, self.seeds))
        title = f"{self.claim}: {', '.join(self.pages)}; n: {self.n}; seeds: {seeds}"
        over = [f"low, high: range over the seeds {seeds}; the pages print seed 0."] if len(self.seeds) > 1 else []
        rows = [figure.model_dump() for figure in self.figures]
        return [Table.of(title, columns, rows, (*over, *self.notes))]


def reproduced(claim: Claim, folder: str | Path, seeds: int = 1) -> Reproduction:
    """Measure a claim on the data of a folder, with the first seeds from 0.

    SettingError for fewer seeds than one; DataError for a folder without the data.
    """
    if seeds < 1:
        raise SettingError(f"seeds is {seeds}: give a number from 1")
    data, printed = OpenData(Path(folder)), claim.printed()
    notes = [
        f"{name} has {len(data.load(name))} conversations, and the public subset {count}: the figures are of other data."
        for name, count in claim.sources.items()
        if len(data.load(name)) != count
    ]
    measured = [claim.measure(data, seed) for seed in range(seeds)]
    return Reproduction(
        claim=claim.name,
        pages=claim.pages,
        seeds=tuple(range(seeds)),
        n=measured[0].n,
        figures=tuple(
            _figure(name, number, [one.values.get(name) for one in measured]) for name, number in printed.items()
        ),
        notes=tuple(notes),
    )


def _figure(name: str, printed: str, values: Sequence[float | None]) -> ReproducedFigure:
    here, numbers = values[0], [value for value in values if value is not None]
    if here is None:
        result = "no value here"
    elif agree([printed], here):
        result = AS_PRINTED
    else:
        result = f"{here - float(printed.replace(',', '')):+.4g}"
    return ReproducedFigure(
        figure=name,
        printed=printed,
        here=here,
        result=result,
        low=min(numbers, default=None),
        high=max(numbers, default=None),
    )
