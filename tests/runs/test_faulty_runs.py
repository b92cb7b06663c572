"""Whole runs against an endpoint with one fault at a time: all finish, or the run reports why not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

SHARE = 0.3


def simulate(
    forks: Any, endpoint: Any, folder: Path, *more: str, conversations: int = 20, model: str = "openai:m", **limits: Any
) -> Any:
    """A run of short conversations, started."""
    folder.mkdir(exist_ok=True)
    section = "The tower was built in 1823 by Ada Quill. Three keepers lived there until 1968, with a dog."
    places = ({"title": f"Place {number}", "background": "A place.", "header": "The tower"} for number in range(999))
    lines = (json.dumps(next(places) | {"section": section}) + "\n" for _ in range(conversations))
    (folder / "topics.jsonl").write_text("".join(lines))
    command = "simulate simquac --topics topics.jsonl --max-turns 2 --concurrency 8 --out run --json"
    arguments = [*command.split(), "--user", model, "--assistant", model, *more]
    return forks(arguments, folder, endpoint.environment, **limits)


def finished(fork: Any, seconds: float = 900) -> tuple[int, int]:
    """Exit code, and how many conversations finished."""
    code = fork.wait(seconds)
    return code, json.loads(fork.stdout)["finished"]


PASSING = ("null_content", "usage_odd", "500", "429", "429_after", "reset_amid")
"""A fault of each kind that a run takes in its own way; that the others are told is tested at the model."""


def test_a_run_finishes_with_three_in_ten_of_everything(forks: Any, faulty: Any, tmp_path: Path) -> None:
    endpoint = faulty(faults={"everything": SHARE}, retry_after=0.1)
    assert finished(simulate(forks, endpoint, tmp_path / "run", conversations=6)) == (0, 6)
    assert len(endpoint.counts()["faults"]) > 3
    assert endpoint.counts()["repeats"] == 0


@pytest.mark.heavy
@pytest.mark.parametrize("fault", PASSING)
def test_a_run_finishes_with_three_in_ten_of_a_fault(forks: Any, faulty: Any, tmp_path: Path, fault: str) -> None:
    endpoint = faulty(faults={fault: SHARE}, retry_after=0.2)
    assert finished(simulate(forks, endpoint, tmp_path / "run", conversations=8)) == (0, 8)
    assert endpoint.counts()["faults"][fault] > 2  # of 32 requests at least


@pytest.mark.heavy
@pytest.mark.parametrize("fault", ["empty", "blank", "length", "content_filter"])
def test_replies_with_a_flaw_are_rejected_and_a_side_that_said_nothing_is_asked_again_on_resume(
    forks: Any, faulty: Any, tmp_path: Path, fault: str
) -> None:
    endpoint = faulty(faults={fault: SHARE})
    code, done = finished(simulate(forks, endpoint, tmp_path / "run"))
    assert (code == 0) == (done == 20)
    assert done >= 15  # four attempts a turn are at times not enough
    assert endpoint.counts()["faults"][fault] > 5
    endpoint.change(faults={})
    assert finished(simulate(forks, endpoint, tmp_path / "run"))[1] >= (20 if fault != "length" else done)


@pytest.mark.heavy
@pytest.mark.parametrize("fault", ["slow", "never"])
def test_a_reply_that_does_not_end_has_a_deadline(forks: Any, faulty: Any, tmp_path: Path, fault: str) -> None:
    endpoint = faulty(faults={fault: 0.1})
    fork = simulate(forks, endpoint, tmp_path / "run", model="openai:m?timeout=2")
    assert finished(fork) == (0, 20)


@pytest.mark.heavy
def test_a_reply_has_a_bound_on_its_size(forks: Any, faulty: Any, tmp_path: Path) -> None:
    endpoint = faulty(faults={"huge": SHARE}, huge=300_000_000)
    fork = simulate(forks, endpoint, tmp_path / "run", conversations=4, memory=1 << 30)
    assert finished(fork) == (0, 4)
    assert endpoint.counts()["faults"]["huge"] > 1
    assert fork.kilobytes < 1_000_000


@pytest.mark.parametrize(
    "status", ["401", *(pytest.param(status, marks=pytest.mark.heavy) for status in ("402", "403", "404"))]
)
def test_what_no_call_can_get_past_ends_the_run_with_one_line(
    forks: Any, faulty: Any, tmp_path: Path, status: str
) -> None:
    endpoint = faulty(status=status)
    fork = simulate(forks, endpoint, tmp_path / "run")
    assert fork.wait() == 1
    assert endpoint.counts()["requests"] <= 16  # both sides of what was under way, not of every conversation
    assert len(re.findall(rf"(?m)^.*\b{status}\b.*$", fork.stderr)) == 1


@pytest.mark.heavy
def test_a_closed_port_ends_the_run_with_one_line(forks: Any, faulty: Any, tmp_path: Path) -> None:
    endpoint = faulty()
    endpoint.leave()
    fork = simulate(forks, endpoint, tmp_path / "run", conversations=40)
    assert fork.wait() == 1
    assert len(re.findall(r"(?m)^ended early: .*patience is", fork.stderr)) == 1


def test_a_request_that_is_refused_fails_its_own_conversation_alone(forks: Any, faulty: Any, tmp_path: Path) -> None:
    endpoint = faulty(faults={"400_policy": 0.05, "400_context": 0.05})
    fork = simulate(forks, endpoint, tmp_path / "run")
    code, done = finished(fork)
    counts = endpoint.counts()
    assert code == 1
    assert done == 20 - sum(counts["faults"].values())  # each was asked once
    assert counts["bodies"] == counts["requests"]


@pytest.mark.heavy
def test_all_finish_where_the_endpoint_is_gone_for_a_second(forks: Any, faulty: Any, tmp_path: Path) -> None:
    fork = simulate(forks, faulty(latency=0.05, gone=[[0.3, 1.3]]), tmp_path / "run", conversations=40)
    assert finished(fork) == (0, 40)
