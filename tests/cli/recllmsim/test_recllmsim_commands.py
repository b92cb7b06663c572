"""Commands on task-oriented conversations."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue.data import recllmsim


@pytest.fixture
def some(open_data: Path) -> Path:
    """A few open files, simulated ones."""
    return open_data / "recllmsim" / "LLM_agent_user" / "recipe planning"


def test_the_shipped_tasks_are_printed_in_both_languages(duologue: Any) -> None:
    code, out, _ = duologue("papers", "recllmsim", "tasks", "--json")
    assert (code, json.loads(out)) == (0, recllmsim.shipped_tasks())
    code, out, _ = duologue("papers", "recllmsim", "tasks", "--language", "zh")
    assert code == 0
    assert "菜谱规划 (6)\n  0: " in out


def test_a_workbook_gives_an_object_of_its_tasks(duologue: Any, open_data: Path) -> None:
    code, out, _ = duologue("papers", "recllmsim", "tasks", open_data / "recllmsim/task_context_new.xlsx", "--json")
    assert code == 0
    assert len(json.loads(out)["new travel planning"]) == 12


@pytest.mark.heavy
def test_chinese_is_shown_on_a_plain_terminal() -> None:
    """The terminal's encoding is the process's own."""
    plain = os.environ | {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "duologue.cli", "papers", "recllmsim", "tasks", "--language", "zh"]
    shown = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\\u83dc\\u8c31\\u89c4\\u5212 (6)\n" in shown.stdout


def test_a_broken_file_is_named_and_gives_exit_code_one(duologue: Any, some: Path) -> None:
    good = next(iter(some.glob("*.json"))).read_text()
    for name, text in (("a.json", good), ("b.json", good[: len(good) // 2])):
        Path("all").mkdir(exist_ok=True)
        Path("all", name).write_text(text)
    code, out, err = duologue("convert", "all", "out", "--to", "recllmsim")
    assert (code, out) == (1, "1 conversations written to out\n")
    assert "all/b.json: line " in err
    code, out, err = duologue("check", "all", "--rule", "user-last", "--json")
    assert code == 1
    assert json.loads(out)["broken"][0].startswith("all/b.json: line ")
    assert "all/b.json: line " in err


@pytest.mark.heavy
def test_check_reads_the_open_files_of_simulated_users_and_names_the_leaks(duologue: Any, open_data: Path) -> None:
    code, out, _ = duologue("check", open_data / "recllmsim/LLM_agent_user", "--json")
    document = json.loads(out)
    assert (code, document["conversations"], document["broken"]) == (1, 233, [])
    assert document["rules"]["user-role-leak"] == {"level": "error", "findings": 31}
    assert not [name for name in document["rules"] if name.startswith("span")]
    code, out, _ = duologue("check", open_data / "recllmsim/real_human_user", "--limit", "1")
    assert code == 0
    assert out.startswith("User_")
