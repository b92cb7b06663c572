"""Figures as SVG documents of their own, which GitHub and notebooks show as pictures; among them the forest plot."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..analysis.estimates import Estimate
from ..errors import SettingError
from .pages import render, short, source

WIDTH, ROW, LEFT = 640, 22, 180
"""Of a plot, in pixels: its scale, a row, the room for names beside it."""
NAME_LENGTH = 26
"""Characters of a name that fit beside a plot."""

_SVG = re.compile(r'<svg([^>]*?) viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"[^>]*>(.*?)</svg>', re.DOTALL)


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


def forest_plot(
    estimates: Mapping[str, Estimate],
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

    Raises:
        SettingError: The scale has no length.
    """
    low, high = scale
    if not low < high:
        raise SettingError(f"scale: {low:g} to {high:g} has no length: give the lower end first")

    def x(value: float | None) -> float | None:
        return None if value is None else (min(max(value, low), high) - low) / (high - low) * WIDTH

    texts = [f"{name}: {_in_words(one)}" for name, one in estimates.items()]
    marks = [
        (short(name, NAME_LENGTH), number * ROW + ROW // 2, x(one.value), x(one.low), x(one.high), texts[number])
        for number, (name, one) in enumerate(estimates.items())
    ]
    steps = [low + (high - low) * part / 4 for part in range(5)]
    html = render(
        "forest.html",
        marks=marks,
        ticks=[(x(step), f"{step:.4g}") for step in steps],
        left=LEFT,
        width=LEFT + WIDTH + 20,
        height=len(marks) * ROW,
        label=label,
        reference=x(reference),
    )
    return standalone(html, "chart", "\n".join(texts))


def _in_words(one: Estimate) -> str:
    if one.value is None:
        return "no value"
    interval = (
        "no interval" if one.low is None or one.high is None else f"95 % interval {one.low:.2f} to {one.high:.2f}"
    )
    return f"{one.value:.2f} ({interval})"


def standalone(html: str, kind: str, text: str) -> SvgFigure:
    """The SVG element of our HTML as a document with its own style; `kind` is the class of the element around it.

    The colours are those of the light theme, on white: a picture does not know the theme around it. It is scaled down where
    the page is narrower.
    """
    found = _SVG.search(html)
    assert found is not None
    _, x, y, width, height, content = found.groups()
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="{x} {y} {width} {height}"'
        f' style="max-width:100%;height:auto"><style>{drawing_style()}</style>'
        f'<rect x="{x}" y="{y}" width="100%" height="100%" fill="#fff"/>'
        f'<g class="duologue"><g class="{kind}">{content}</g></g></svg>'
    )
    return SvgFigure(svg, text)


@lru_cache(maxsize=1)
def drawing_style() -> str:
    """The style of drawings with its colours written out: not every program reads variables."""
    colours, rules = source("drawing.css").split("\n", 1)
    values = dict(re.findall(r"--([a-z]+):([^;}]+)", colours))
    return re.sub(r"var\(--([a-z]+)\)", lambda match: values[match[1]], rules).strip()
