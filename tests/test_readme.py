"""The README is short, and what it shows is what happens."""

import ast
import json
import re
from pathlib import Path

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
    assert README.count("\n") <= 110
    shown = [line for _, block in BLOCKS for line in block.splitlines()]
    shown += [line for line in README.splitlines() if line.startswith("    ")]
    assert [line for line in shown if len(line) > 88] == []


@pytest.mark.parametrize("block", [block for kind, block in BLOCKS if kind == "python"])
async def test_a_program_prints_what_stands_beside_it(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = compile(block, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    work = eval(program, {})  # a coroutine only if it awaits
    if work is not None:
        await work
    printed = capsys.readouterr().out.splitlines()
    told = [line.partition("# ")[2] for line in block.splitlines() if re.search(r"print\(.*#|^#", line)]
    assert len(told) == len(printed) > 0
    for line, whole in zip(told, printed, strict=True):
        assert whole.startswith(line.removesuffix(" ..."))


def test_the_scenario_and_the_result_are_those_of_the_example() -> None:
    (scenario,) = [block for kind, block in BLOCKS if kind == "json"]
    lines = (EXAMPLE / "scenarios.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(scenario) in [json.loads(line) for line in lines]
    (result,) = [block for kind, block in BLOCKS if kind == "text"]
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


def test_a_finding_has_the_figures_of_its_page() -> None:
    page = (ROOT / "docs/papers/findings.md").read_text(encoding="utf-8")
    told = README.partition("## What is measured")[2].partition("\n[Findings]")[0]
    figures = re.findall(r"-?\d\.\d+", told)
    assert len(figures) > 15
    assert [figure for figure in figures if figure not in page] == []
