"""The report and the card as self-contained pages: no script, no network, every text escaped, light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined

from .card import NEVER_ONE_NUMBER, RealismCard
from .report import Report, Row

WIDTH = 640
"""Width of a figure's plot in its own units."""
ROW = 22
CARD_ROWS = 12


@dataclass(frozen=True)
class Mark:
    """A row of a figure: where the interval, the point and the band of chance lie, in the figure's units."""

    name: str
    y: float
    at: float
    low: float
    high: float
    band: float
    """Half the width of the band of chance."""
    published: float | None
    told: str
    """The numbers in words, for those who cannot see the figure."""


@dataclass(frozen=True)
class Bar:
    """A row of the figure of distances: this simulator's, people's own, the published one's."""

    name: str
    y: float
    distance: float
    floor: float
    floor_high: float
    published: float | None
    told: str


def report_page(report: Report, name: str, against: str) -> str:
    """The report as a page."""
    return _page(
        "report.html",
        title=f"{name} against {against}",
        report=report,
        name=name,
        against=against,
        effects=effects(report.measures),
        distances=distances(report.measures),
        height=ROW,
        width=WIDTH,
        never=NEVER_ONE_NUMBER,
        ranked=[row for row in report.measures if row.excess is not None and not row.apart],
        apart=[row for row in report.measures if row.excess is not None and row.apart],
        untold=[row for row in report.measures if row.excess is None],
    )


def card_page(card: RealismCard) -> str:
    """The card as one page."""
    shown = [measure for measure in card.measures if measure.ranked][:CARD_ROWS]
    return _page("card.html", title=f"Realism card: {card.name}", card=card, shown=shown)


def effects(rows: Sequence[Row]) -> list[Mark]:
    """The figure of effects: -1 at its left end, 1 at its right; a row for each measure that is ranked."""
    marks: list[Mark] = []
    for row in rows:
        if not row.effect or row.excess is None or row.apart:
            continue
        low = row.effect if row.effect_low is None else row.effect_low
        high = row.effect if row.effect_high is None else row.effect_high
        told = f"{row.name}: {row.effect:.2f}, 95 % interval {low:.2f} to {high:.2f}, chance {row.chance or 0:.2f}"
        marks.append(
            Mark(
                row.name, (len(marks) + 0.5) * ROW, _x(row.effect), _x(low), _x(high), (row.chance or 0) * WIDTH / 2,
                None if row.published_effect is None else _x(row.published_effect), told,
            )
        )  # fmt: skip
    return marks


def _x(effect: float) -> float:
    return (effect + 1) / 2 * WIDTH


def distances(rows: Sequence[Row]) -> list[Bar]:
    """The figure of distances, on a scale that reaches to infinity, with 1 in its middle."""
    bars: list[Bar] = []
    for row in rows:
        if not row.distance or row.excess is None or row.apart or row.floor is None:
            continue
        high = row.floor if row.floor_high is None else row.floor_high
        told = f"{row.name}: {row.distance:.2f}; people from people {row.floor:.2f}, up to {high:.2f}"
        told += "" if row.published is None else f"; published {row.published:.2f}"
        bars.append(
            Bar(
                row.name, (len(bars) + 0.5) * ROW, _far(row.distance), _far(row.floor), _far(high),
                None if row.published is None else _far(row.published), told,
            )
        )  # fmt: skip
    return bars


def _far(distance: float) -> float:
    """Place of a distance: the share of the way to infinity, half at 1."""
    return distance / (1 + distance) * WIDTH


def shown(value: float | None, places: int = 3) -> str:
    """A number as people read it."""
    if value is None:
        return "–"
    text = f"{value:.{places}f}"
    return text if float(text) else text.removeprefix("-")


def chance_of(value: float | None) -> str:
    """A p as people read it."""
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _page(template: str, **values: object) -> str:
    text = _environment().get_template(template).render(style=_read("style.css"), **values)
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair fits in no file


@lru_cache(maxsize=1)
def _environment() -> Environment:
    names = ("base.html", "report.html", "card.html")
    environment = Environment(
        loader=DictLoader({name: _read(name) for name in names}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": shown, "p": chance_of}
    return environment


@lru_cache(maxsize=8)
def _read(name: str) -> str:
    return files("duologue.analysis.realism").joinpath("templates", name).read_text(encoding="utf-8")
