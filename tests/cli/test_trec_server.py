"""The platform as a server of this machine: both tasks by the command, its token, and a kill in the middle of a run."""

import json
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.heavy  # starts processes

from duologue import load  # noqa: E402
from tests.hosts.trec.stand_in import SCENARIOS  # noqa: E402


@pytest.fixture
def served(tmp_path):
    """A function that starts the server in a folder, and gives its process and its address."""
    (tmp_path / "track.json").write_text(json.dumps(SCENARIOS), encoding="utf-8")
    said = [("user", "I want talks."), ("assistant", "Alpha."), ("user", "Others?"), ("assistant", "Beta.")]
    talk = {"messages": [{"role": role, "content": text} for role, text in said]}
    (tmp_path / "talks.jsonl").write_text(json.dumps(talk) + "\n", encoding="utf-8")
    (tmp_path / "my_agent.py").write_text("def reply(messages):\n    return 'Alpha suits you.'\n", encoding="utf-8")
    running = []

    def start(*more):
        words = ["trec", "serve", "--scenarios", "track.json", "--assistant", "ours=my_agent:reply", "--out", "track"]
        command = [sys.executable, "-P", "-m", "duologue.cli", *words, "--histories", "talks.jsonl", *more]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        running.append(process)
        return process, process.stdout.readline().decode().strip()

    yield start
    for process in running:
        process.kill()
        process.communicate()


def lines(folder, run):
    return (folder / "track" / "run" / f"{run}.jsonl").read_text().splitlines()[1:]


def test_both_tasks_by_the_command(served, duologue, tmp_path):
    _, address = served("--budget", "3")
    code, out, _ = duologue("trec", "task2", "--url", address, "--run-id", "b", "--json", "--out", tmp_path / "b")
    assert (code, json.loads(out)["messages"]) == (0, 6)
    code, out, _ = duologue("trec", "task1", "--url", address, "--run-id", "a", "--json", "--out", tmp_path / "a")
    assert (code, json.loads(out)["messages"]) == (0, 1)
    assert len(lines(tmp_path, "b")) == 6
    assert len(load(tmp_path / "b" / "conversations.jsonl").conversations) == 2


def test_without_the_token_nothing_is_answered(served, duologue, tmp_path, monkeypatch):
    _, address = served("--token", "token.txt")
    words = ("trec", "task2", "--url", address, "--run-id", "b", "--out", tmp_path / "b")
    monkeypatch.setenv("TREC_TOKEN", "wrong")
    code, _, err = duologue(*words)
    assert code == 1
    assert "401" in err
    monkeypatch.setenv("TREC_TOKEN", (tmp_path / "token.txt").read_text().strip())
    assert duologue(*words)[0] == 0


def test_a_server_that_is_killed_and_started_again_loses_no_message(served, duologue, tmp_path):
    process, address = served("--budget", "3")
    words = ("trec", "task2", "--run-id", "b", "--out", tmp_path / "b", "--json")
    player = [sys.executable, "-P", "-m", "duologue.cli", *map(str, words), "--url", address]
    playing = subprocess.Popen(player, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in playing.stderr:
        if line.startswith(b"assistant:"):
            os.kill(process.pid, signal.SIGKILL)
            break
    playing.kill()
    playing.communicate()
    _, again = served("--budget", "3", "--port", address.rpartition(":")[2])
    assert again == address
    code, out, _ = duologue(*words, "--url", address)
    assert code == 0
    report = json.loads(out)
    assert (report["messages"], report["problems"]) == (6, [])
    assert len(lines(tmp_path, "b")) == 6
