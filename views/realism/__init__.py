"""The realism report and its card, as pages."""

from .report import (
    CARD_ROWS,
    FILES,
    SIDES,
    SMALLEST_WEIGHT,
    ReportFigures,
    card_html,
    card_page,
    notebook_html,
    report_html,
    report_page,
    write,
)

__all__ = [
    "CARD_ROWS",
    "FILES",
    "SIDES",
    "SMALLEST_WEIGHT",
    "ReportFigures",
    "card_html",
    "card_page",
    "notebook_html",
    "report_html",
    "report_page",
    "write",
]
