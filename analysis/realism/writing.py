"""A report's files: pages for people, JSON for programs."""

from pathlib import Path

from ...data.formats.jsonfiles import write_json, write_text
from .card import card_of
from .pages import card_page, report_page
from .report import Report

FILES = ("report.html", "report.json", "card.html", "card.json")


def write(report: Report, folder: str | Path, *, name: str = "simulated", against: str = "people") -> list[Path]:
    """Write `report.html`, `report.json`, `card.html` and `card.json`; gives their paths. DataError where it cannot."""
    root = Path(folder)
    card = card_of(report, name, against)
    write_text(root / "report.html", report_page(report, name, against))
    write_json(root / "report.json", report.model_dump(mode="json") | {"name": name, "against": against}, end="\n")
    write_text(root / "card.html", card_page(card))
    write_json(root / "card.json", card.model_dump(mode="json"), end="\n")
    return [root / file for file in FILES]
