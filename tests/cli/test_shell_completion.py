"""Completion in a shell: the names that it offers, and the script that a shell asks for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, str, str]]
SHELL = "import sys; sys.argv[0] = 'duologue'; from duologue.cli import main; main()"
"""What the installed script does."""


def completed(forks: Any, line: str, folder: Path) -> list[str]:
    """The words that bash offers at the end of a command line."""
    words = line.split(" ")
    variables = {"_DUOLOGUE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = forks.run("-c", SHELL, cwd=folder, environment=variables)
    assert done.returncode == 0, done.stderr
    return str(done.stdout).split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("duologue val", {"validity"}),
        ("duologue papers simquac rea", {"readers"}),
        ("duologue simulate rec", {"recllmsim"}),
        ("duologue test agent", {"agent_test"}),
        ("duologue annotate run --labels style,int", {"style,intent"}),
        ("duologue convert a b --to sq", {"squad_v2"}),
        ("duologue papers simquac stats a --format m", {"md"}),
        ("duologue check a --rule question-list,repea", {"question-list,repeated"}),
        ("duologue --domain hotel", {"hotel:DOMAIN"}),
        ("duologue --log-format h", {"hotel:TILL"}),
        ("duologue next-turn --sam", {"--sample"}),
    ],
)
def test_a_shell_completes_names(forks: Any, tmp_path: Path, line: str, offered: set[str]) -> None:
    (cwd := tmp_path / "cwd").mkdir()
    (cwd / "hotel.py").write_text('DOMAIN = None\nTILL = data.Format("till")\n')
    assert offered <= set(completed(forks, line, cwd))


def test_the_script_of_a_shell_is_printed(duologue: Command, forks: Any, tmp_path: Path) -> None:
    assert "--install-completion" in duologue("--help")[1]
    variables = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = forks.run("-c", SHELL, "--show-completion", "bash", cwd=tmp_path, environment=variables)
    assert "_DUOLOGUE_COMPLETE=complete_bash" in done.stdout, done.stderr
