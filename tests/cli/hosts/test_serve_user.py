"""`duologue serve-user`: its address, its models, its token file, and what it refuses."""

import json
import stat
import urllib.request

import pytest

pytest.importorskip("uvicorn")

GOAL = ("--goal", "move my flight", "--fact", "The code is QX4821.")


def models(address, token=""):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(f"{address}/models", headers=headers), timeout=900) as response:
        return [model["id"] for model in json.load(response)["data"]]


@pytest.mark.heavy
def test_a_goal_is_one_model_behind_a_token_that_only_its_owner_reads(serving, tmp_path):
    import os
    import signal

    address, fork = serving(*GOAL, "--token", "token")
    token = (tmp_path / "token").read_text().strip()
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert models(address, token) == ["agent_test"]
    assert token not in fork.stdout + fork.stderr
    assert "model agent_test: move my flight" in fork.stderr
    os.kill(fork.pid, signal.SIGINT)
    assert fork.wait() == 0
    assert "interrupted" not in fork.stderr


@pytest.mark.heavy
def test_each_scenario_of_a_file_is_a_model_and_a_second_server_takes_the_next_port(serving, tmp_path):
    lines = [{"goal": f"book room {n}"} for n in range(3)]
    (tmp_path / "scenarios.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, _ = serving("--scenarios", "scenarios.jsonl", "--limit", 2)
    second, fork = serving("--cast", "simquac", "--limit", 1)
    assert models(first) == ["agent_test-1", "agent_test-2"]
    assert models(second) == ["simquac"]
    assert first != second
    assert "model simquac: " in fork.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "--scenarios: give a file of JSON lines"),
        (("--fact", "a"), "--goal: give it with its facts"),
        ((*GOAL, "--scenarios", "s.jsonl"), "--goal: give it with its facts, or --scenarios in their place"),
        ((*GOAL, "--set", "colour=red"), "colour: agent_test has no such setting"),
        ((*GOAL, "--behaviour", "rude"), "behaviour: there is no behaviour 'rude'"),
        ((*GOAL, "--user", "nobody"), "model 'nobody' is unknown"),
        (("--cast", "nothing", *GOAL), "there is no cast 'nothing'"),
        ((*GOAL, "--token", "empty"), "--token empty: holds no token"),
    ],
)
def test_what_it_cannot_serve_is_one_line(duologue, tmp_path, arguments, line):
    (tmp_path / "empty").touch()
    code, out, err = duologue("serve-user", *arguments)
    assert (code, out) == (2, "")
    assert line in err
    assert len(err.splitlines()) == 1


def test_a_port_that_is_taken_is_one_line(duologue, serving):
    address, _ = serving(*GOAL)
    port = address.removesuffix("/v1").rpartition(":")[2]
    code, _, err = duologue("serve-user", *GOAL, "--port", port)
    assert (code, err) == (2, f"duologue: --port {port}: is taken: give another\n")
