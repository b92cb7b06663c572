"""Figures: histograms, bars and lines of named series, as SVG or PNG. Needs the extra `stats`.

Equal data give equal SVG, byte for byte: no date, no random names, the text as text. No figure is registered
with pyplot, so nothing pops up and nothing stays open.
"""

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import cycle
from textwrap import wrap
from typing import Any, Literal

from ..errors import of_extra

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that the colour-blind tell apart (Okabe and Ito)."""

CAPTION = 110
"""Characters of a line of the text below a figure."""

_FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Zen Hei", "SimHei",
          "Microsoft YaHei", "PingFang SC", "Hiragino Sans GB", "Arial Unicode MS")  # fmt: skip
_RC = {"svg.hashsalt": "duologue", "svg.fonttype": "none", "axes.spines.top": False, "axes.spines.right": False}


def histogram(
    series: Mapping[str, Sequence[float]], *, title: str, label: str, limits: tuple[float, float], bins: int = 20
) -> Any:
    """How the values of each series lie: share of them in each bin, the mean as a dashed line."""
    with _drawing():
        figure, axes = _axes(title, label, "share")
        low, high = limits
        edges = [low + (high - low) * n / bins for n in range(bins + 1)]
        for colour, (name, values) in zip(cycle(COLOURS), series.items(), strict=False):
            if values:
                mean = sum(values) / len(values)
                weights = [1 / len(values)] * len(values)
                shown = f"{_plain(name)} (n = {len(values)}, mean {mean:.3f})"
                axes.hist(values, bins=edges, weights=weights, color=colour, alpha=0.25)
                axes.hist(values, bins=edges, weights=weights, color=colour, histtype="step", label=shown)
                axes.axvline(mean, color=colour, linestyle="dashed")
            else:
                axes.plot([], [], color=colour, label=f"{_plain(name)} (no value)")
        axes.set_xlim(low, high)
        if series:
            axes.legend(frameon=False)
    return figure


def bars(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    *,
    title: str,
    label: str,
    stacked: bool = False,
    caption: str = "",
) -> Any:
    """A group of bars for each name, a bar for each series; a missing value has none. `caption`: text below."""
    with _drawing():
        figure, axes = _axes(title, "", label, caption)
        width = 0.8 if stacked else 0.8 / max(1, len(series))
        below = [0.0] * len(groups)
        for number, (colour, (name, values)) in enumerate(zip(cycle(COLOURS), series.items(), strict=False)):
            heights = [value or 0.0 for value in values]
            shift = 0.0 if stacked else (number - (len(series) - 1) / 2) * width
            places = [place + shift for place in range(len(groups))]
            axes.bar(places, heights, width, bottom=below, color=colour, label=_plain(name))
            if stacked:
                below = [base + height for base, height in zip(below, heights, strict=True)]
        crowded = sum(map(len, groups)) > 60
        axes.set_xticks(range(len(groups)), [_plain(name) for name in groups], rotation=30 if crowded else 0)
        if series:
            beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if len(series) > 4 else {}
            axes.legend(frameon=False, **beside)
    return figure


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str,
    across: str,
    label: str,
    whole: bool = False,
    caption: str = "",
) -> Any:
    """A line of points (across, value) for each series.

    `whole`: only whole numbers are marked. `caption`: text below.
    """
    with _drawing():
        figure, axes = _axes(title, across, label, caption)
        for colour, (name, points) in zip(cycle(COLOURS), series.items(), strict=False):
            axes.plot([x for x, _ in points], [y for _, y in points], color=colour, marker="o", label=_plain(name))
        if whole:
            axes.xaxis.get_major_locator().set_params(integer=True)
        if series:
            axes.legend(frameon=False)
    return figure


def rendered(figure: Any, form: Literal["svg", "png"] = "svg") -> bytes:
    """The figure as a file's content."""
    target = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with _drawing():
        figure.savefig(target, format=form, metadata=metadata, dpi=150)
    return target.getvalue()


def _axes(title: str, across: str, label: str, caption: str = "") -> tuple[Any, Any]:
    figure = of_extra("matplotlib.figure", "stats").Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(_plain(title))
    axes.set_xlabel(_plain(across))
    axes.set_ylabel(_plain(label))
    if caption:
        lines_of = [line for part in caption.splitlines() for line in wrap(part, CAPTION)]
        figure.supxlabel("\n".join(map(_plain, lines_of)), x=0.01, horizontalalignment="left", fontsize="x-small")
    return figure, axes


def _plain(text: str) -> str:
    """The text as it is: no formula between two dollars, no name that is hidden for its first `_`."""
    return (f" {text}" if text.startswith("_") else text).replace("$", r"\$")


@lru_cache(maxsize=1)
def _fonts() -> tuple[str, ...]:
    """Those of our fonts that are installed: asking for others would warn at each text."""
    manager = of_extra("matplotlib.font_manager", "stats")
    installed = {font.name for font in manager.fontManager.ttflist}
    return tuple(name for name in _FONTS if name in installed)


@contextmanager
def _drawing() -> Iterator[None]:
    """Draw with our settings of matplotlib, and without its warnings of characters that no font has.

    SVG leaves such characters to the reader's fonts, PNG shows a box.
    """
    settings = {**_RC, "font.family": list(_fonts()) or ["sans-serif"]}
    with of_extra("matplotlib", "stats").rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        yield
