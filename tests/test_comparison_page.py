"""The comparison with other tools: eleven rows, seven tools, and the version of each that was read."""

import re

import pytest

from tests.tree import ROOT

TOOLS = ("Duologue", "openevals", "tau2-bench", "NeMo User Sim", "sdialog", "scenario", "inspect_ai")
NAMES = {"NeMo User Sim": "usersim", "scenario": "langwatch-scenario"}
PAGE = (ROOT / "docs/reference/comparison.md").read_text(encoding="utf-8")
HEAD, _, *ROWS = (
    [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)
)


def test_the_table_has_eleven_rows_and_seven_tools() -> None:
    assert tuple(HEAD[1:]) == TOOLS
    assert [row[0].split(".")[0] for row in ROWS] == [str(number) for number in range(1, 12)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:2])
def test_a_cell_is_yes_partly_no_or_not_found_in_a_version(row: list[str]) -> None:
    assert len(row) == 1 + len(TOOLS)
    for cell in row[1:]:
        assert re.match(r"\**(yes|partly|no)\b|not found in \d", cell), cell


@pytest.mark.parametrize("tool", TOOLS[1:])
def test_a_tool_has_the_version_that_was_read(tool: str) -> None:
    read = PAGE.partition("\n## What was read\n")[2]
    told = read.partition(NAMES.get(tool, tool))[2]
    assert re.search(r"\d+\.\d+\.\d+", told)
    for version in re.findall(r"not found in ([\d.]+\d)", " ".join(row[HEAD.index(tool)] for row in ROWS)):
        assert version in read
