"""The tables of the docs have the measures and the rules of the package."""

from pathlib import Path

import pytest

from duologue.analysis.realism.measures import MEASURES
from duologue.data import domains

DOCS = Path(__file__).parents[3] / "docs"
MEASURE_COLUMNS = ["measure", "unit", "definition", "translated"]
RULE_COLUMNS = ["rule", "level", "finds"]


def tables(page, heading):
    """The rows of each of a page's tables with this heading."""
    found: list[list[list[str]]] = []
    rows: list[list[str]] | None = None
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells == heading:
            rows = []
            found.append(rows)
        elif not cells:
            rows = None
        elif rows is not None and set(cells[0]) != {"-"}:
            rows.append(cells)
    return found


def test_the_page_has_every_shipped_measure_with_its_unit_and_whether_it_survives_a_translation():
    rows = [row for table in tables("reference/measures.md", MEASURE_COLUMNS) for row in table]
    assert {row[0].strip("`"): (row[1], row[3]) for row in rows} == {
        measure.name: (measure.unit, "yes" if measure.survives_translation else "no") for measure in MEASURES
    }
    assert len(rows) == len(MEASURES)


@pytest.mark.parametrize(
    ("kind", "page"), [("", "data/logs.md"), ("simquac", "papers/deviations.md"), ("recllmsim", "papers/recllmsim.md")]
)
def test_a_page_has_every_rule_of_a_domain_with_its_level(kind, page):
    (own,) = [domain for domain in (*domains.registered(), domains.PLAIN) if domain.kind == kind]
    (table,) = tables(page, RULE_COLUMNS)
    shown = [(row[0].strip("`"), row[1]) for row in table]
    assert shown == [(name, rule.level) for name, rule in own.rules.items()]
