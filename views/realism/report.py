"""The realism report as a page and files.

`views` does not import it: it needs the extra `stats`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...analysis.realism.records import RealismRow
from ...analysis.realism.report import RealismReport
from ...analysis.realism.statistics.correlations import CORRELATED
from ...data.files.json import write_json, write_text
from ..figures import standalone
from ..pages import in_notebook, page, render
from . import charts

FILES = ("report.html", "report.json")
SIDES = ("simulated", "people")
"""Names of the sides, by default."""
NEVER_ONE_NUMBER = (
    "There is no overall score. How real simulated users are and how useful they are for testing an assistant are "
    "different things, and neither is one number: read the measures that matter for the use at hand."
)
SMALLEST_WEIGHT = 0.005
"""Coefficients below it are shown as 0, so they are not shown."""


def write(report: RealismReport, folder: str | Path, *, name: str = SIDES[0], against: str = SIDES[1]) -> list[Path]:
    """Write `report.html` and `report.json`, and return their paths.

    DataError if it cannot.
    """
    root = Path(folder)
    write_text(root / "report.html", report_page(report, name, against))
    write_json(root / "report.json", report.model_dump(mode="json") | {"name": name, "against": against}, end="\n")
    return [root / file for file in FILES]


def report_page(report: RealismReport, name: str = SIDES[0], against: str = SIDES[1]) -> str:
    """The report as a self-contained page: no script, no network, every text escaped, light and dark."""
    return page(f"{name} against {against}", report_html(report, name, against))


def notebook_html(report: RealismReport) -> str:
    """A report with its own style, for a cell's output."""
    return in_notebook(report_html(report))


@dataclass(frozen=True, repr=False)
class ReportFigures:
    """Only a report's two figures, which a notebook shows as the last line of a cell."""

    report: RealismReport
    most: int = 15
    """How many measures they have, those first that differ most."""

    def _repr_svg_(self) -> str:
        wide = {name: figures[:1] for name, figures in _figures(self.report.measures[: self.most]).items()}
        return standalone([render("realism/figures.html", **wide)], "chart", repr(self)).svg

    def __repr__(self) -> str:
        return f"<Figures of {len(self.report.measures[: self.most])} measures>"


def report_html(report: RealismReport, name: str = SIDES[0], against: str = SIDES[1]) -> str:
    """The report without the page around it."""
    return render(
        "realism/report.html",
        report=report,
        name=name,
        against=against,
        never_one_number=NEVER_ONE_NUMBER,
        correlated_from=CORRELATED,
        **_figures(report.measures),
        ranked=[row for row in report.measures if row.is_ranked],
        unranked=[row for row in report.measures if row.excess is not None and row.apart],
        not_compared=[row for row in report.measures if row.excess is None],
        leans_on=[
            coefficient for coefficient in report.discriminator.leans_on if abs(coefficient.weight) >= SMALLEST_WEIGHT
        ],
    )


def _figures(rows: Sequence[RealismRow]) -> dict[str, Any]:
    return {
        "effects": [charts.effects(rows, drawing) for drawing in charts.DRAWINGS],
        "distances": [charts.distances(rows, drawing) for drawing in charts.DRAWINGS],
    }
