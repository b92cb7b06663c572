"""The README is short, and what it shows is what happens."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.tree import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "agent"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def rows(text: str) -> dict[str, list[str]]:
    """The cells of a comparison's rows by their names, without numbers and marks."""
    cells = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {re.sub(r"^\d+\. ", "", first): others for first, *others in cells}


def test_it_is_short_and_its_code_is_narrow() -> None:
    assert README.count("\n") <= 130
    shown = [line for _, block in BLOCKS for line in block.splitlines()]
    shown += [line for line in README.splitlines() if line.startswith("    ")]
    assert [line for line in shown if len(line) > 88] == []


def test_its_program_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = [block for kind, block in BLOCKS if kind == "python" and "import duologue" in block]
    names: dict[str, Any] = {}
    exec(program, names)
    assert names["conversations"][0].messages[1].role == "assistant"
    assert (tmp_path / "page.html").is_file()


def test_the_agent_and_its_result_are_those_of_the_example() -> None:
    (agent,) = [block for kind, block in BLOCKS if kind == "python" and "AIMessage" in block]
    assert agent in (EXAMPLE / "my_agent.py").read_text(encoding="utf-8")
    (result,) = [block for kind, block in BLOCKS if kind == "text" and "succeeded" in block]
    printed = (EXAMPLE / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in result.splitlines() if line not in printed] == []


def test_the_comparison_is_that_of_its_page() -> None:
    page = rows((ROOT / "docs/reference/comparison.md").read_text(encoding="utf-8"))
    table = README.partition("## Comparison")[2].partition("\n## ")[0]
    short = {name: cells for name, cells in rows(table).items() if not name.startswith("-")}
    assert len(short) >= 9
    for name, cells in short.items():
        for cell, whole in zip(cells, page[name], strict=True):
            assert whole.startswith("not found" if cell == "?" else cell), (name, cell, whole)
