"""The realism report as a page."""

from .report import (
    FILES,
    SIDES,
    SMALLEST_WEIGHT,
    ReportFigures,
    notebook_html,
    report_html,
    report_page,
    write,
)

__all__ = [
    "FILES",
    "SIDES",
    "SMALLEST_WEIGHT",
    "ReportFigures",
    "notebook_html",
    "report_html",
    "report_page",
    "write",
]
