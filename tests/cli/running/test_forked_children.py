"""A process that an agent forks, as a pool of `multiprocessing` does, acts on none of the command's signals."""

import json
import subprocess
import sys

import pytest

PROCESS = """
import os
from duologue.cli.running.forked_children import undone_in_forks

def fork():
    if os.fork() == 0:
        os._exit(0)
    os.wait()

with undone_in_forks(lambda: os.write(1, b"undone ")), undone_in_forks(lambda: 1 / 0):
    fork()
fork()
os.write(1, b"over")
"""
KILLED = """
import os
import signal

os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))

from duologue.cli.running.forked_children import undone_in_forks

signal.signal(signal.SIGTERM, print)
with undone_in_forks(lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)):
    if (child := os.fork()) == 0:
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
AGENT = """
import multiprocessing
import subprocess
import sys


def pooled(messages):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    child.terminate()
    child.wait()  # a process that ignores SIGTERM would wait for its input
    with multiprocessing.get_context("fork").Pool(2) as pool:  # which ends its workers by SIGTERM
        return f"It is booked for {pool.map(abs, [-2])[0]}."
"""


def test_what_is_undone_in_a_forked_process_is_not_in_its_parent():
    done = subprocess.run([sys.executable, "-c", PROCESS], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "undone over", "")


def test_a_process_that_is_ended_while_it_is_forked_ends():
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "-15\n", "")


@pytest.mark.heavy
@pytest.mark.parametrize("options", [[], ["--processes", "2"]])
def test_a_pool_of_processes_in_an_agent_does_not_end_the_run(tmp_path, options):
    (tmp_path / "pooling.py").write_text(AGENT)
    success = {"text_contains": "booked for 2"}
    (tmp_path / "ways.jsonl").write_text(json.dumps({"goal": "book", "success": success}) + "\n")
    command = ["test", "--assistant", "pooling:pooled", "--scenarios", "ways.jsonl", "--repeats", "4", "--no-page"]
    done = subprocess.run(
        [sys.executable, "-m", "duologue.cli", *command, *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,  # a pool that waits for ever is an error, not a suite without an end
    )
    assert (done.returncode, "4 of 4 scored conversations succeeded" in done.stdout) == (0, True), done.stderr
