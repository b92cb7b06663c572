"""A process that could print nothing any more is followed by a line on what it leaves, and by how to resume."""

import asyncio
import subprocess
import sys

import pytest

from duologue.runs.engine.control import Control
from duologue.runs.engine.conversing import do_all

PROCESS = """
import os, signal, sys
from duologue.cli.running.sudden_end import SuddenEnd, ended_by_force

left = 4
sudden = SuddenEnd()
with sudden.watched(lambda: ended_by_force(left, f"{left} left, and no more")) as store:
    left = 1
    store()
    EDIT
print("whole", file=sys.stderr)
"""
LINE = "the process ended in the middle (by os._exit, a crash of a library, kill -9 or for lack of memory)"
AGENT = """
import os

def leaves(messages):
    os._exit(7)
"""


def ended(text):
    """Exit code and stderr of a process that does this."""
    done = subprocess.run([sys.executable, "-c", PROCESS.replace("EDIT", text)], capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("text", "code"), [("os._exit(7)", 7), ("os.kill(os.getpid(), signal.SIGKILL)", -9)])
def test_what_was_under_way_is_printed_after_a_process_that_was_ended_by_force(text, code):
    assert ended(text) == (code, f"{LINE} while 1 conversation was under way: 1 left, and no more\n")


@pytest.mark.parametrize("text", ["pass", "sudden.disarm(); os._exit(0)"])
def test_nothing_is_printed_after_a_process_that_ends_in_order(text):
    code, printed = ended(text)
    assert code == 0
    assert printed in ("whole\n", "")


def test_the_line_is_stored_before_work_begins_and_when_it_is_over():
    control, counts = Control(), list[int]()
    control.changed = lambda: counts.append(control.under_way)

    async def work(number):
        counts.append(10)

    asyncio.run(do_all(range(2), work, control.call_service(), control, 1))
    assert counts == [1, 10, 0, 1, 10, 0]


@pytest.mark.heavy
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_test_whose_agent_ends_the_process_says_how_to_resume_it(tmp_path, options):
    (tmp_path / "leaving.py").write_text(AGENT)
    (tmp_path / "scenarios.jsonl").write_text('{"goal": "fly"}\n{"goal": "drive"}\n')
    command = ["test", "--assistant", "leaving:leaves", "--scenarios", "scenarios.jsonl", "--out", "run", *options]
    done = subprocess.run(
        [sys.executable, "-m", "duologue.cli", *command, "--concurrency", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    again = "2 of 2 conversations are not finished; continue: the same command with --out run --resume"
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr.splitlines()[-1] == f"{LINE} while 1 conversation was under way: {again}"


@pytest.mark.heavy
def test_a_module_that_ends_the_process_when_it_is_imported_is_named(tmp_path):
    (tmp_path / "leaving.py").write_text("import os\nos._exit(7)\n")
    (tmp_path / "ways.jsonl").write_text('{"goal": "fly"}\n')
    command = [
        sys.executable,
        "-m",
        "duologue.cli",
        "test",
        "--assistant",
        "leaving:agent",
        "--scenarios",
        "ways.jsonl",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (7, f"duologue: importing leaving: {LINE}\n")
