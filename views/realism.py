"""The realism report as a page and files.

`views` does not import it: it needs the extra `stats`.
"""

from pathlib import Path

from ..analysis.realism import RealismReport
from ..data.files.json import write_json, write_text
from .figures import SvgFigure, forest_plot
from .pages import page, render

FILES = ("report.html", "report.json")
SIDES = ("simulated", "people")
"""Names of the sides, by default."""


def write(report: RealismReport, folder: str | Path, *, name: str = SIDES[0], against: str = SIDES[1]) -> list[Path]:
    """Write `report.html` and `report.json`, and return their paths.

    DataError if it cannot.
    """
    paths = [Path(folder) / file for file in FILES]
    write_text(paths[0], page(f"{name} against {against}", report_html(report, name, against)))
    write_json(paths[1], report.model_dump(mode="json"), end="\n")
    return paths


def report_html(report: RealismReport, name: str = SIDES[0], against: str = SIDES[1]) -> str:
    """The report without the page around it."""
    return render("realism.html", report=report, name=name, against=against, figure=effects(report).svg)


def effects(report: RealismReport) -> SvgFigure:
    """The effect of each measure with its interval."""
    estimates = {row.name: row.effect for row in report.rows}
    return forest_plot(estimates, label="effect, with 95 % intervals; 0 is no difference", scale=(-1, 1), reference=0)


def example_lines(report: RealismReport) -> list[str]:
    """The messages that show each measure, for a terminal."""
    return [
        f"{row.name}, {side}: {example.text}"
        for row in report.rows
        for side, examples in zip(SIDES, (row.examples_simulated, row.examples_people), strict=True)
        for example in examples
    ]
