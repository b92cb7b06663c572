"""What the pages on tests of agents show is what their commands and tests do."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from duologue.analysis.faults import USER_RULES
from duologue.nodes.success import NAMES

DOCS = Path(__file__).parents[2] / "docs"
NAMES_OF_PAGES = ("start/agent.md", "test/ci.md", "test/result.md", "test/scenarios.md")
PAGE, CI, RESULT, SCENARIOS = ((DOCS / name).read_text(encoding="utf-8") for name in NAMES_OF_PAGES)
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


def block(language: str, number: int = 0) -> str:
    return [text for kind, text in BLOCKS if kind == language][number]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text(block("python"))
    (tmp_path / "scenarios.jsonl").write_text(block("json"))


@pytest.mark.heavy
def test_the_command_prints_the_figures_of_the_page(forks: Any, tmp_path: Path) -> None:
    command = re.search(r"^    duologue (test --assistant my_agent:agent .*)$", PAGE, re.MULTILINE)
    assert command is not None
    done = forks.run(*command[1].split(), "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert f"\n{result['successes']} of {result['scored']} scored conversations succeeded: 0.67 (no interval" in PAGE
    assert sum(result["faults"].values()) == 4
    for row in result["scenarios"]:
        assert f"| {row['scenario']} | {row['conversations']} | {row['successes']} |" in PAGE


@pytest.mark.heavy
def test_the_tests_of_the_page_pass(forks: Any, tmp_path: Path) -> None:
    Path("test_page.py").write_text(
        next(text for text in re.findall(r"```python\n(.*?)```", CI, re.DOTALL) if "simulated_user" in text)
    )
    options = ("-q", "-p", "duologue.testing", "-p", "no:cacheprovider", "--basetemp", tmp_path / "temporary")
    done = forks.run("-m", "pytest", *options, "test_page.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_every_scorer_and_rule_stands_on_the_page() -> None:
    assert [name for name in NAMES if f'`"{name}"' not in SCENARIOS and f'"{name}":' not in SCENARIOS] == []
    assert [name for name in re.findall(r"`(user-[\w-]+)`", RESULT) if name not in USER_RULES] == []
