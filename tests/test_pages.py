"""What pages of the docs say is what the code has: keys, figures, measures, rules, and what other tools were read for."""

import re
from typing import Any

import pytest

from duologue import nodes
from duologue.analysis import estimates
from duologue.analysis.realism.measures import MEASURES
from duologue.data import domains
from duologue.runs import next_turn
from tests.tree import ROOT

DOCS = ROOT / "docs"


def rows_of(page: str) -> list[list[str]]:
    """The cells of each line of a page's tables."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


# docs/graph/state.md


@pytest.mark.parametrize("shape", [nodes.State, nodes.Draft, nodes.Verdict])
def test_the_table_of_a_shape_has_every_key_in_order_with_a_writer_and_a_meaning(shape: Any) -> None:
    page = (DOCS / "graph/state.md").read_text(encoding="utf-8")
    table = re.search(rf"^### `{shape.__name__}`\n(.*?)(?=^##)", page, re.DOTALL | re.MULTILINE)
    assert table is not None
    rows = re.findall(r"^\| `(\w+)` \| `.+?` \| (.+?) \| (.+?) \|$", table[1], re.MULTILINE)
    assert [key for key, *_ in rows] == [*shape.__annotations__]
    assert all(writer.strip() and meaning.strip() for _, writer, meaning in rows)


# docs/reference/comparison.md

TOOLS = ("Duologue", "openevals", "tau2-bench", "NeMo User Sim", "sdialog", "scenario", "inspect_ai")
NAMES = {"NeMo User Sim": "usersim", "scenario": "langwatch-scenario"}
HEAD, _, *ROWS = rows_of("reference/comparison.md")


def test_the_comparison_has_eleven_rows_and_seven_tools() -> None:
    assert tuple(HEAD[1:]) == TOOLS
    assert [row[0].split(".")[0] for row in ROWS] == [str(number) for number in range(1, 12)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:2])
def test_a_cell_is_yes_partly_no_or_not_found_in_a_version(row: list[str]) -> None:
    assert len(row) == 1 + len(TOOLS)
    for cell in row[1:]:
        assert re.match(r"\**(yes|partly|no)\b|not found in \d", cell), cell


@pytest.mark.parametrize("tool", TOOLS[1:])
def test_a_tool_has_the_version_that_was_read(tool: str) -> None:
    read = (DOCS / "reference/comparison.md").read_text(encoding="utf-8").partition("\n## What was read\n")[2]
    told = read.partition(NAMES.get(tool, tool))[2]
    assert re.search(r"\d+\.\d+\.\d+", told)
    for version in re.findall(r"not found in ([\d.]+\d)", " ".join(row[HEAD.index(tool)] for row in ROWS)):
        assert version in read


# docs/reference/limits.md

LEAST = {
    "95 % interval of a success rate": estimates.FEWEST,
    "95 % interval of a difference between two groups": estimates.FEWEST,
    "95 % interval over users, scenarios or sections": estimates.FEWEST,
    "retrieval-based users": next_turn.FEWEST_USERS,
    "interval of kappa, F1 or mean error": estimates.FEWEST_RARE,
}


def limits() -> dict[str, list[str]]:
    return {first: others for first, *others in rows_of("reference/limits.md")}


@pytest.mark.parametrize("figure", LEAST)
def test_a_figure_needs_what_the_code_asks_for(figure: str) -> None:
    assert re.match(r"\d+", limits()[figure][0]).group() == str(LEAST[figure])


@pytest.mark.parametrize(
    ("row", "counts"),
    [
        ("one conversation each", [(0, 1), (1, 1)]),
        ("four each, two of which succeed", [(2, 4), (2, 4)]),
        ("four each, which all end alike", [(0, 4), (4, 4)]),
    ],
)
def test_the_widths_are_those_of_the_intervals(row: str, counts: list[tuple[int, int]]) -> None:
    for scenarios, width in zip(map(int, limits()["scenarios"]), limits()[row], strict=True):
        rate = estimates.share(counts * (scenarios // 2))
        assert float(width) == pytest.approx((rate.high - rate.low) / 2, abs=0.0051)


# docs/reference/measures.md, and the rules of `check`

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
