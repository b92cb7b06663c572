"""Figures as SVG documents of their own, which GitHub and notebooks show as pictures; among them the forest plot."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

from ..errors import SettingError
from .pages import render, short, source

NAME_LENGTH = 26
"""Characters of a name that the room beside a plot holds."""

_SVG = re.compile(r'<svg([^>]*?) viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"([^>]*)>(.*?)</svg>', re.DOTALL)
_SIZE = re.compile(r' (?:width|height)="[\d.]+"')


@dataclass(frozen=True)
class Drawing:
    """The layout of a figure; lengths are in its own units, at most 1.3 of which are a pixel."""

    kind: str
    """Its class: the style shows the drawing that fits the screen and hides the other."""
    width: int
    """Of the plot."""
    row: int
    """Height of a measure's row."""
    left: int
    right: int
    """Room beside the plot."""
    names_above: bool
    """Whether a measure's name stands above its marks; else to the left of them."""

    def y(self, number: int) -> int:
        """Height of the marks of so many rows below the first."""
        return number * self.row + (self.row - 13 if self.names_above else self.row // 2)

    def name_y(self, y: int) -> int:
        """Height of the line on which a measure's name is written."""
        return y - 13 if self.names_above else y + 4

    def effect_x(self, effect: float) -> float:
        """Place of an effect, -1 to 1."""
        return (effect + 1) / 2 * self.width

    def distance_x(self, distance: float) -> float:
        """Place of a distance, on a scale from 0 to infinity with a distance of 1 in the middle."""
        return distance / (1 + distance) * self.width


BESIDE = Drawing("beside", width=640, row=22, left=180, right=20, names_above=False)
STACKED = Drawing("stacked", width=344, row=42, left=12, right=12, names_above=True)


@dataclass(frozen=True)
class Tick:
    """A line across a figure, with its number."""

    x: float
    label: str


@dataclass(frozen=True)
class EstimateMark:
    """An estimate in a forest plot."""

    name: str
    y: int
    value: float | None
    low: float | None
    high: float | None
    """Places on the scale; None without one."""
    description: str
    """The numbers in words."""


Mark = TypeVar("Mark")


@dataclass(frozen=True)
class Figure(Generic[Mark]):
    """A figure in one drawing."""

    drawing: Drawing
    ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]

    @property
    def height(self) -> int:
        """Of all rows."""
        return len(self.marks) * self.drawing.row


@dataclass(frozen=True, repr=False)
class SvgFigure:
    """A figure as one SVG document, which a notebook shows as the last line of a cell."""

    svg: str
    text: str
    """The same in words, where no picture is shown."""

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


class Estimated(Protocol):
    """A number with its interval, such as a rate of successes."""

    @property
    def value(self) -> float | None:
        """The estimate."""
        ...

    @property
    def low(self) -> float | None:
        """The lower end of its interval."""
        ...

    @property
    def high(self) -> float | None:
        """The upper end."""
        ...


def forest_plot(
    estimates: Mapping[str, Estimated],
    *,
    label: str = "",
    scale: tuple[float, float] = (0.0, 1.0),
    reference: float | None = None,
) -> SvgFigure:
    """A row for each estimate: a point, its 95 % interval as a line, and both in numbers.

    Args:
        estimates: The estimates with their intervals, by name.
        label: The text below the scale.
        scale: The ends of the scale; intervals are cut there.
        reference: A value that is marked by a line, such as that of chance.

    Returns:
        The figure.

    Raises:
        SettingError: The scale has no length.
    """
    low, high = scale
    if not low < high:
        raise SettingError(f"scale: {low:g} to {high:g} has no length: give the lower end first")

    def x(value: float | None) -> float | None:
        return None if value is None else (min(max(value, low), high) - low) / (high - low) * BESIDE.width

    rows = {name: (estimate.value, estimate.low, estimate.high) for name, estimate in estimates.items()}
    texts = {name: _in_words(*row) for name, row in rows.items()}
    marks = tuple(
        EstimateMark(
            short(name, NAME_LENGTH), BESIDE.y(number), x(row[0]), x(row[1]), x(row[2]), f"{name}: {texts[name]}"
        )
        for number, (name, row) in enumerate(rows.items())
    )
    steps = [low + (high - low) * part / 4 for part in range(5)]
    figure = Figure(BESIDE, tuple(Tick(x(step) or 0.0, f"{step:.4g}") for step in steps), marks)
    html = render("forest.html", figure=figure, label=label, reference=x(reference))
    return standalone([html], "chart", "\n".join(mark.description for mark in marks))


def _in_words(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "no value"
    interval = "no interval" if low is None or high is None else f"95 % interval {low:.2f} to {high:.2f}"
    return f"{value:.2f} ({interval})"


def standalone(drawings: Sequence[str], kind: str, text: str) -> SvgFigure:
    """The SVG elements of our HTML, one below the other, as one document with its own style.

    `kind` is the class of the element that they stand in. The colours are those of the light theme, on white: a picture
    does not know the theme around it. It is scaled down where the page is narrower.
    """
    parts, top, broad = [], 0.0, 0.0
    for before, x, y, width, height, after, content in _SVG.findall("".join(drawings)):
        size = f'x="0" y="{top:g}" width="{width}" height="{height}" viewBox="{x} {y} {width} {height}"'
        parts.append(f"<svg {size}{_SIZE.sub('', before + after)}>{content}</svg>")
        top, broad = top + float(height), max(broad, float(width))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{broad:g}" height="{top:g}" viewBox="0 0 {broad:g} {top:g}"'
        ' style="max-width:100%;height:auto">'
        f'<style>{drawing_style()}</style><rect width="100%" height="100%" fill="#fff"/>'
        f'<g class="duologue"><g class="{kind}">{"".join(parts)}</g></g></svg>'
    )
    return SvgFigure(svg, text)


@lru_cache(maxsize=1)
def drawing_style() -> str:
    """The style of drawings with its colours written out: not every program reads variables."""
    colours, rules = source("drawing.css").split("\n", 1)
    values = dict(re.findall(r"--([a-z]+):([^;}]+)", colours))
    return re.sub(r"var\(--([a-z]+)\)", lambda match: values[match[1]], rules).strip()
