"""`duologue recllmsim judges --model`: its calls, its plan, its bounds, and how it continues."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.recllmsim.rated import Command


def test_a_model_is_asked_about_each_turn_and_its_file_answers_the_next_time(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    command = ("recllmsim", "judges", people, "--model", "openai:m", "--journal", "kept.jsonl", "--json")
    code, out, err = duologue(*command)
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"] == "openai:m"]
    assert (row["n"], row["qwk"]) == (40, 0)
    assert endpoint.counts()["requests"] == len(Path("kept.jsonl").read_text().splitlines()) == 40
    assert duologue(*command)[1] == out
    assert endpoint.counts()["requests"] == 40


def test_a_plan_tells_calls_tokens_and_cost_without_a_call_or_a_key_and_leaves_out_what_is_kept(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("recllmsim", "judges", people, "--model", "openai:gpt-4o-mini", "--journal", "kept.jsonl", "--json")
    code, out, err = duologue(*command, "--plan")
    assert code == 0, err
    document = json.loads(out)
    assert (document["turns"], document["calls"]) == (40, {"usual": 40, "most": 120})
    assert document["tokens"]["input"] > 40 * 100
    assert document["cost"] is None or document["cost"] > 0
    assert "openai.com" not in err
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    assert duologue(*command)[0] == 0
    code, out, _ = duologue(*command[:-1], "--plan")
    assert "0 turns planned" in out
    assert endpoint.counts()["requests"] == 40


def test_a_bound_ends_it_in_order_and_a_wrong_key_at_once(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    command = (
        "recllmsim",
        "judges",
        people,
        "--model",
        "openai:m",
        "--journal",
        "kept.jsonl",
        "--concurrency",
        "1",
        "--json",
    )
    code, out, err = duologue(*command, "--max-run-tokens", "900")
    assert code == 1
    assert "ended early: --max-run-tokens 900 is reached" in err
    assert "openai:m: gave no answer about 39 of 40 turns, which are left out of its row" in err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"] == "openai:m"]
    assert row["n"] == 1
    endpoint.change(status=401)
    requests = endpoint.counts()["requests"]
    assert duologue(*command)[0] == 1
    assert endpoint.counts()["requests"] == requests + 1


@pytest.mark.heavy
def test_a_judge_that_is_killed_goes_on_from_its_file_and_no_answer_in_it_is_paid_twice(
    people: Path, faulty: Any, forks: Any, tmp_path: Path
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    command = [
        "recllmsim",
        "judges",
        people,
        "--model",
        "openai:m",
        "--journal",
        "kept.jsonl",
        "--concurrency",
        "2",
        "--json",
    ]
    endpoint.change(hold_at=15)
    fork = forks(command, tmp_path, endpoint.environment)
    endpoint.until(lambda counts: fork.over or counts["held"] >= 2)
    fork.kill()
    assert fork.wait() == -9
    text = (tmp_path / "kept.jsonl").read_text()
    assert text.count("\n") == 15
    (tmp_path / "kept.jsonl").write_text(text[:-20])  # as if the disk had lost the end of the last line
    endpoint.change(hold_at=None)
    before = endpoint.counts()["requests"]
    fork = forks(command, tmp_path, endpoint.environment)
    assert fork.wait() == 0, fork.stderr
    assert endpoint.counts()["requests"] == before + 40 - 14
    (row,) = [row for row in json.loads(fork.stdout)["judges"] if row["judge"] == "openai:m"]
    assert row["n"] == 40


@pytest.mark.heavy
def test_replies_that_cannot_be_read_are_kept_and_not_paid_for_again(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply="I liked it.")
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    command = ("recllmsim", "judges", people, "--model", "openai:m", "--journal", "kept.jsonl", "--concurrency", "1")
    for _ in range(5):
        code, _, err = duologue(*command)
        assert (code, "gave no answer about any turn: the judge gave no judgement: not_json" in err) == (2, True)
    asked_once = endpoint.counts()["requests"]
    assert asked_once == 3 * 40
    assert duologue(*command)[0] == 2
    assert endpoint.counts()["requests"] == asked_once


@pytest.mark.heavy
def test_calls_that_were_recorded_are_replayed_without_a_key(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    command = ("recllmsim", "judges", people, "--model", "openai:m", "--json")
    with monkeypatch.context() as patched:
        for name, value in endpoint.environment.items():
            patched.setenv(name, value)
        code, out, err = duologue(*command, "--record", "calls.jsonl")
    assert code == 0, err
    assert f"calls go to {endpoint.url.split('/')[2]}" in err
    code, again, err = duologue(*command, "--replay-calls", "calls.jsonl")
    assert code == 0, err
    assert again == out
    assert endpoint.counts()["requests"] == 40


@pytest.mark.heavy
def test_ctrl_c_lets_what_is_under_way_finish_and_keeps_it(
    people: Path, faulty: Any, forks: Any, tmp_path: Path
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}', latency=0.2)
    command = [
        "recllmsim",
        "judges",
        people,
        "--model",
        "openai:m",
        "--journal",
        "kept.jsonl",
        "--concurrency",
        "3",
        "--json",
    ]
    fork = forks(command, tmp_path, endpoint.environment)
    endpoint.until(lambda counts: fork.over or counts["requests"] >= 7)
    os.kill(fork.pid, signal.SIGINT)
    assert fork.wait() == 130, fork.stderr
    assert "interrupted: the replies are in kept.jsonl" in fork.stderr
    assert (tmp_path / "kept.jsonl").read_text().count("\n") == endpoint.counts()["requests"] < 40
