"""The realism report and its card as pages and files. `views` does not import it: it needs the extra `stats`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..analysis.realism.card import NEVER_ONE_NUMBER, RealismCard, card_of
from ..analysis.realism.report import Report, Row
from ..data.formats.jsonfiles import write_json, write_text
from .pages import page, render, source

FILES = ("report.html", "report.json", "card.html", "card.json")
SIDES = ("simulated", "people")
"""Names of the sides, by default."""
WIDTH = 640
"""Width of a figure's plot in its own units."""
ROW = 22
"""Height of a figure's row."""
CARD_ROWS = 12
EFFECT_TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
DISTANCE_TICKS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)


@dataclass(frozen=True)
class Tick:
    """A line across a figure, with its number."""

    x: float
    label: str


@dataclass(frozen=True)
class EffectMark:
    """A row of the figure of effects; positions are in the figure's units."""

    name: str
    y: float
    effect: float
    low: float
    high: float
    chance: float
    """Half the width of the band of chance."""
    published: float | None
    description: str
    """The numbers in words, for readers who cannot see the figure."""


@dataclass(frozen=True)
class DistanceMark:
    """A row of the figure of distances from people: of the simulated users, of other people, of the published users."""

    name: str
    y: float
    distance: float
    floor: float
    floor_high: float
    published: float | None
    description: str


def write(report: Report, folder: str | Path, *, name: str = SIDES[0], against: str = SIDES[1]) -> list[Path]:
    """Write `report.html`, `report.json`, `card.html` and `card.json`; gives their paths. DataError if it cannot."""
    root = Path(folder)
    card = card_of(report, name, against)
    write_text(root / "report.html", report_page(report, name, against))
    write_json(root / "report.json", report.model_dump(mode="json") | {"name": name, "against": against}, end="\n")
    write_text(root / "card.html", card_page(card))
    write_json(root / "card.json", card.model_dump(mode="json"), end="\n")
    return [root / file for file in FILES]


def report_page(report: Report, name: str = SIDES[0], against: str = SIDES[1]) -> str:
    """The report as a self-contained page: no script, no network, every text escaped, light and dark."""
    return page(f"{name} against {against}", report_html(report, name, against))


def card_page(card: RealismCard) -> str:
    """The card as a self-contained page."""
    return page(f"Realism card: {card.name}", card_html(card))


def notebook_html(shown: Report | RealismCard) -> str:
    """A report or a card with its own style, for a cell's output."""
    html = report_html(shown) if isinstance(shown, Report) else card_html(shown)
    return f"<style>{source('style.css')}</style>{html}"


def report_html(report: Report, name: str = SIDES[0], against: str = SIDES[1]) -> str:
    """The report without the page around it."""
    return render(
        "realism/report.html",
        report=report,
        name=name,
        against=against,
        never_one_number=NEVER_ONE_NUMBER,
        effects=effect_marks(report.measures),
        effect_ticks=[Tick(_effect_x(effect), f"{effect:g}") for effect in EFFECT_TICKS],
        distances=distance_marks(report.measures),
        distance_ticks=[Tick(_distance_x(distance), f"{distance:g}") for distance in DISTANCE_TICKS],
        row_height=ROW,
        width=WIDTH,
        ranked=[row for row in report.measures if _is_ranked(row)],
        unranked=[row for row in report.measures if row.excess is not None and row.apart],
        not_compared=[row for row in report.measures if row.excess is None],
    )


def card_html(card: RealismCard) -> str:
    """The card without the page around it."""
    first = [measure for measure in card.measures if measure.ranked][:CARD_ROWS]
    return render("realism/card.html", card=card, measures=first)


def effect_marks(rows: Sequence[Row]) -> list[EffectMark]:
    """The figure of effects, from -1 to 1; a row for each ranked measure that has an effect."""
    marks: list[EffectMark] = []
    for row in rows:
        if not row.effect or not _is_ranked(row):
            continue
        low = row.effect if row.effect_low is None else row.effect_low
        high = row.effect if row.effect_high is None else row.effect_high
        chance = row.chance or 0.0
        marks.append(
            EffectMark(
                name=row.name,
                y=(len(marks) + 0.5) * ROW,
                effect=_effect_x(row.effect),
                low=_effect_x(low),
                high=_effect_x(high),
                chance=chance * WIDTH / 2,
                published=None if row.published_effect is None else _effect_x(row.published_effect),
                description=f"{row.name}: {row.effect:.2f}, 95 % interval {low:.2f} to {high:.2f}, chance {chance:.2f}",
            )
        )
    return marks


def distance_marks(rows: Sequence[Row]) -> list[DistanceMark]:
    """The figure of distances, on a scale from 0 to infinity with 1 in its middle."""
    marks: list[DistanceMark] = []
    for row in rows:
        if not row.distance or row.floor is None or not _is_ranked(row):
            continue
        high = row.floor if row.floor_high is None else row.floor_high
        published = "" if row.published is None else f"; published {row.published:.2f}"
        marks.append(
            DistanceMark(
                name=row.name,
                y=(len(marks) + 0.5) * ROW,
                distance=_distance_x(row.distance),
                floor=_distance_x(row.floor),
                floor_high=_distance_x(high),
                published=None if row.published is None else _distance_x(row.published),
                description=f"{row.name}: {row.distance:.2f}; people from people {row.floor:.2f}, up to {high:.2f}"
                f"{published}",
            )
        )
    return marks


def _is_ranked(row: Row) -> bool:
    return row.excess is not None and not row.apart


def _effect_x(effect: float) -> float:
    return (effect + 1) / 2 * WIDTH


def _distance_x(distance: float) -> float:
    """A scale from 0 to infinity, with a distance of 1 in the middle."""
    return distance / (1 + distance) * WIDTH
