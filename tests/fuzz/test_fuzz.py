"""Generated inputs over every command: none hangs, swells, crashes, or writes where or what it should not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = 200


@pytest.mark.heavy
def test_no_generated_input_breaks_a_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--cases", str(CASES)], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    *failed, last = map(json.loads, ended.stdout.splitlines())
    assert last["cases"] == CASES
    assert last["left_out"] == []
    lines = [
        f"python -m tests.fuzz --only {case['case']}  # {case['problems'][0]}: {case['command']}" for case in failed
    ]
    assert not lines, "\n".join([f"{len(lines)} of {CASES} cases:", *lines])
