"""The example of an agent: its README prints what its command does, and its tests pass."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "examples" / "agent" / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example."""
    ignored = shutil.ignore_patterns("__pycache__", "out")
    return Path(shutil.copytree(ROOT / "examples" / "agent", tmp_path / "agent", ignore=ignored))


@pytest.mark.heavy
def test_its_command_prints_the_lines_of_its_readme_and_finds_the_fault(forks: Any, folder: Path) -> None:
    command = re.search(r"^    duologue (test .*)$", README, re.MULTILINE)
    printed = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    assert command is not None
    assert printed is not None
    done = forks.run(*command[1].split(), cwd=folder)
    assert done.returncode == 1, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in printed[1].splitlines() if line.strip() not in lines] == []
    assert "change was called once" in done.stdout
    assert (folder / "out" / "mine" / "page.html").is_file()


def test_its_scenarios_are_enough_for_an_interval_and_each_has_a_success() -> None:
    lines = (ROOT / "examples" / "agent" / "scenarios.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 6
    assert all(json.loads(line)["success"] for line in lines)


@pytest.mark.heavy
def test_its_tests_pass(forks: Any, folder: Path) -> None:
    options = ("-q", "-p", "duologue.testing", "-p", "no:cacheprovider", "--basetemp", folder / "temporary")
    done = forks.run("-m", "pytest", *options, "test_my_agent.py", cwd=folder)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 xfailed" in done.stdout


def test_a_model_takes_the_place_of_its_rules_by_the_commented_line(folder: Path, monkeypatch: Any) -> None:
    source = (folder / "my_agent.py").read_text(encoding="utf-8")
    line = next(line for line in source.splitlines() if line.startswith("# model = "))
    fake = "from duologue.testing import scripted_model\nChatOpenAI = lambda model: scripted_model(f'I am {model}.')\n"
    namespace: dict[str, Any] = {"__name__": "my_agent"}
    exec(compile(source.replace(line, fake + line.removeprefix("# ")), "my_agent.py", "exec"), namespace)
    reply = namespace["graph"].invoke({"messages": [("user", "Who are you?")]})["messages"][-1]
    assert reply.text == "I am gpt-4.1-mini."
