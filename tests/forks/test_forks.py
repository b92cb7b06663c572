"""The forks that other tests rely on: they are processes of their own, and their bounds hold."""

from pathlib import Path
from typing import Any

import pytest


def test_a_command_runs_in_its_folder_and_gives_its_code_and_output(forks: Any, tmp_path: Path) -> None:
    (cwd := tmp_path / "cwd").mkdir()
    good, bad = forks(["--version"], cwd), forks(["check", "nothing.json"], cwd)
    assert (good.wait(), bad.wait()) == (0, 2)
    assert good.stdout.startswith("duologue ")
    assert bad.stderr.startswith("duologue: nothing.json")


def test_a_command_can_be_killed(forks: Any, faulty: Any, tmp_path: Path) -> None:
    (cwd := tmp_path / "cwd").mkdir()
    endpoint = faulty(faults={"never": 1.0})
    fork = forks(["simulate", "simquac", "--user", "openai:m", "--out", "run"], cwd, endpoint.environment)
    endpoint.until(lambda counts: counts["in_flight"])
    fork.kill()
    assert fork.wait() == -9


def test_what_a_command_changes_elsewhere_is_told(forks: Any, tmp_path: Path) -> None:
    (cwd := tmp_path / "cwd").mkdir()
    (cwd / "mine.py").write_text("open('../elsewhere', 'w')\n")
    outside = tmp_path / "outside"
    for arguments in (["simulate", "mine:cast"], ["simulate", "nobody"]):
        forks(arguments, cwd, within=cwd, outside=outside).wait()
        assert ("elsewhere" in outside.read_text()) == ("mine:cast" in arguments)


@pytest.mark.heavy
def test_memory_and_time_are_bounded(forks: Any, tmp_path: Path) -> None:
    (cwd := tmp_path / "cwd").mkdir()
    (cwd / "large.py").write_text("bytearray(200_000_000)\n")
    (cwd / "slow.py").write_text("import time\ntime.sleep(60)\n")
    (cwd / "busy.py").write_text("while True:\n    pass\n")
    outcome = forks(["simulate", "large:cast"], cwd, memory=100_000_000)
    assert outcome.wait() not in (0, 99)
    assert "MemoryError" in outcome.stderr
    assert forks(["simulate", "slow:cast"], cwd, seconds=0.2).wait() == -14
    assert forks(["simulate", "busy:cast"], cwd, seconds=1).wait() in (
        -24,
        -14,
    )  # of its own time, or beside busy neighbours of the clock


@pytest.mark.heavy
def test_code_and_tests_run_as_programs_of_their_own(forks: Any, tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_it():\n    assert __name__ == 'test_own'\n")
    done = forks.run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
    code = "import sys; print(__name__, sys.argv); sys.exit(3)"
    done = forks.run("-c", code, "more", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "__main__ ['-c', 'more']\n", "")
    assert forks.run("-c", "1 / 0", cwd=tmp_path).returncode == 99
