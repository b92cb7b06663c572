"""Forks and replays that are killed under way: resumed, they end as undisturbed ones."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load
from duologue.data.formats import record_lines

MINE = '''
import os
import signal
from pathlib import Path


def asks(messages):
    return f"For when? ({len(messages)})"


def books(messages):
    """Another answer from the second on, counted; it kills the process at the answer that the file names."""
    calls = Path("calls")
    with calls.open("a") as file:
        file.write("x")
    if Path("kill").exists() and len(calls.read_text()) >= int(Path("kill").read_text()):  # two threads may pass a number
        os.kill(os.getpid(), signal.SIGKILL)
    return asks(messages) if len(messages) < 3 else f"It is booked. ({len(messages)})"
'''


def records(folder: Path) -> list[str]:
    return [record_lines.line(conversation.without_timing()) for conversation in load(folder)]


@pytest.mark.heavy
@pytest.mark.parametrize("command", ["fork run --at 1 --repeats 8 --id ", "replay run"])
def test_a_killed_run_of_stored_conversations_ends_as_an_undisturbed_one(
    forks: Any, tmp_path: Path, command: str
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    goals = [{"goal": f"table {number}"} for number in range(6)]
    (tmp_path / "goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals))
    options = "test --assistant mine:asks --scenarios goals.jsonl --max-turns 4 --out run --no-page"
    forks.run(*options.split(), cwd=tmp_path)
    words = f"{command}{load(tmp_path / 'run')[0].id if command.startswith('fork') else ''} --assistant mine:books"
    line = [*words.split(), "--concurrency", "2"]
    whole = forks.run(*line, "--out", "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    calls = len((tmp_path / "calls").read_text())
    (tmp_path / "calls").unlink()
    resume: list[str] = []
    for at in (calls // 4, calls // 2, 3 * calls // 4):
        (tmp_path / "kill").write_text(str(at))
        killed = forks.run(*line, "--out", "killed", *resume, cwd=tmp_path)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        resume = ["--resume"]
    (tmp_path / "kill").unlink()
    resumed = forks.run(*line, "--out", "killed", *resume, cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert records(tmp_path / "killed") == records(tmp_path / "whole")
    datasets = [(tmp_path / name / "dataset" / "messages.jsonl").read_bytes() for name in ("killed", "whole")]
    assert datasets[0] == datasets[1]
    assert len((tmp_path / "calls").read_text()) <= calls + 3 * 2  # at most those in flight again
