"""`duologue test --rerun-failed`: only the failed conversations of a run again, with its scenarios, seeds and settings."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load

AGENT = """
def agent(messages):
    return "It is booked for the 3rd." if "3rd" in messages[0]["content"] else "Which day?"


def better(messages):
    return "It is booked for the 3rd and the 4th."
"""
SCENARIOS = [
    {"goal": f"book the {day}", "success": {"text_contains": f"booked for the {day}"}} for day in ("3rd", "4th")
] + [{"first_message": "The 5th, please.", "success": {"text_contains": "the 4th"}}]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    Path("my_agent.py").write_text(AGENT)
    Path("scenarios.jsonl").write_text("".join(json.dumps(scenario) + "\n" for scenario in SCENARIOS))
    sys.modules.pop("my_agent", None)


@pytest.fixture
def run(duologue: Any) -> Path:
    more = ("--repeats", 2, "--seed", 7, "--max-turns", 3)
    arguments = ("test", "--assistant", "my_agent:agent", "--scenarios", "scenarios.jsonl", "--out", "run", "--no-page")
    code, _, err = duologue(*arguments, *more)
    assert code == 1, err
    return Path("run")


def test_only_the_failed_conversations_are_simulated_again_and_are_the_same_ones(duologue: Any, run: Path) -> None:
    code, out, err = duologue("test", "--rerun-failed", run, "--out", "again", "--no-page")
    assert code == 1, err
    failed = {one.id: one.without_timing() for one in load(run) if not one.labels["scores"]["success"]["value"]}
    again = {one.id: one.without_timing() for one in load("again")}
    assert len(failed) == 4
    assert again == failed
    assert "0 of 4 failed conversations of run succeed now: the share is of these only, and is not the agent's" in out


@pytest.mark.heavy
def test_what_an_option_gives_is_another(duologue: Any, run: Path) -> None:
    options = ("--assistant", "my_agent:better", "--out", "again", "--json")
    code, out, err = duologue("test", "--rerun-failed", run, *options)
    assert code == 1, err
    result = json.loads(out)
    assert (result["rerun"], result["successes"]) == ({"run": "run", "failed": 4}, 2)
    limits = next(iter(load("again"))).provenance.limits
    assert (limits["seed"], limits["max_turns"]) == (7, 3)
    duologue("test", "--rerun-failed", run, "--out", "other", "--seed", 8, "--no-page")
    assert next(iter(load("other"))).provenance.limits["seed"] == 8


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--scenarios", "scenarios.jsonl"), "--rerun-failed: takes the scenarios of its run: leave --scenarios out"),
        (("--repeats", 2), "--rerun-failed: takes the scenarios of its run: leave --repeats out"),
        (("--out", "run"), "--out: run is the run whose failed conversations are simulated again: name another folder"),
    ],
)
def test_options_that_make_no_sense_beside_it_are_named(
    duologue: Any, run: Path, options: tuple[object, ...], line: str
) -> None:
    code, _, err = duologue("test", "--rerun-failed", run, *options)
    assert code == 2
    assert line in err


def test_a_folder_without_a_run_or_a_failure_is_named(duologue: Any, run: Path) -> None:
    code, _, err = duologue("test", "--rerun-failed", "nowhere")
    assert (code, "nowhere: is not a run folder" in err) == (2, True)
    Path("right.jsonl").write_text(json.dumps(SCENARIOS[0]) + "\n")
    duologue("test", "--assistant", "my_agent:agent", "--scenarios", "right.jsonl", "--out", "right", "--no-page")
    code, _, err = duologue("test", "--rerun-failed", "right")
    assert (code, "no conversation of this run failed" in err) == (2, True)


def test_a_run_of_an_object_needs_the_agents_name(duologue: Any) -> None:
    import duologue as package

    package.test(lambda messages: "No.", SCENARIOS[:1], out="live")
    code, _, err = duologue("test", "--rerun-failed", "live")
    assert (code, "its cast cannot be built again" in err) == (2, True)
    code, out, err = duologue("test", "--rerun-failed", "live", "--assistant", "my_agent:better", "--no-page")
    assert code == 0, err
    assert "1 of 1 failed conversation of live succeed now" in out
