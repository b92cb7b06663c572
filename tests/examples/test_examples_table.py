"""The table of `examples/README.md` lists every example, and each command of it runs."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \[`([^`]+)`\]\([^)]+\) \|.*\| `duologue ([^`]+)` \|$", README, re.MULTILINE)


def test_every_example_has_a_row() -> None:
    listed = {Path(name).parts[0] for name in re.findall(r"^\| \[`([^`]+)`\]", README, re.MULTILINE)}
    assert listed == {path.name for path in EXAMPLES.iterdir() if path.name not in ("README.md", "__pycache__")}


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "command"), ROWS, ids=[name for name, _ in ROWS])
def test_the_command_of_a_row_runs_in_its_folder(forks: Any, tmp_path: Path, name: str, command: str) -> None:
    copy = Path(shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__", "out")))
    folder = copy / name
    done = forks.run(*command.split(), cwd=folder if folder.is_dir() else folder.parent)
    assert done.returncode in ((0, 1) if command.startswith("test") else (command.startswith("check"),)), done.stderr
