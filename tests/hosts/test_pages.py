"""The page of each harness alone is enough: its Python runs from top to bottom, and prints what the page shows."""

import ast
import re
from pathlib import Path

import pytest

from tests.shown.pages import steps
from tests.tree import ROOT

EXAMPLES = sorted(path.stem.removeprefix("in_") for path in (ROOT / "examples/hosts").glob("in_*.py"))

PACKAGES = {"inspect": "inspect_ai"}
"""The package of a harness, where it has another name."""


def page_of(host: str) -> Path:
    return ROOT / f"docs/hosts/{host}.md"


@pytest.mark.heavy
@pytest.mark.parametrize("host", EXAMPLES)
def test_the_python_of_a_page_runs_and_prints_what_it_shows(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(PACKAGES.get(host, host))
    names: dict[str, object] = {"__name__": "__main__"}
    for step in steps(page_of(host)):
        if step.is_python:
            exec(compile(step.text, f"{page_of(host)}:{step.line}", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    shown = re.findall(r"```text\n(.*?)```", page_of(host).read_text(), re.DOTALL)
    assert shown
    lines = [line for text in shown for line in text.splitlines()]
    assert [line for line in lines if not any(one.endswith(line) for one in printed)] == []


@pytest.mark.parametrize("host", EXAMPLES)
def test_the_example_is_on_the_page(host: str) -> None:
    texts = [step.text for step in steps(page_of(host)) if step.is_python]
    assert (ROOT / f"examples/hosts/in_{host}.py").read_text() in texts


@pytest.mark.parametrize("host", EXAMPLES)
def test_at_most_five_lines_of_an_example_are_ours(host: str) -> None:
    tree = ast.parse((ROOT / f"examples/hosts/in_{host}.py").read_text())
    imports = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and (getattr(node, "module", None) or node.names[0].name).startswith("duologue")
    ]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names]
    assert 1 <= len({node.lineno for node in [*imports, *uses]}) <= 5
