"""`duologue fork`: futures of a stored conversation, with another agent, user, cast or last message."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load

SCENARIOS = [{"goal": "book a table", "facts": "for two", "success": {"text_contains": "booked"}}, {"goal": "a taxi"}]
AGENT = """
def asks(messages):
    return f"For when? ({len(messages)})"


def books(messages):
    return "It is booked."
"""


@pytest.fixture
def run(duologue: Any) -> Path:
    """A run of two conversations of two turns each, in the working folder."""
    Path("mine.py").write_text(AGENT)
    Path("scenarios.jsonl").write_text("".join(json.dumps(one) + "\n" for one in SCENARIOS))
    options = "--assistant mine:asks --scenarios scenarios.jsonl --max-turns 3 --seed 5 --out run --no-page"
    duologue("test", *options.split())
    return Path("run")


def test_futures_are_a_run_with_the_kept_messages_of_another_agent(duologue: Any, run: Path) -> None:
    talk = load(run)[0]
    options = ("--id", talk.id[:7], "--at", 1, "--assistant", "mine:books", "--repeats", 2, "--out", "future")
    code, out, _ = duologue("fork", run, *options)
    assert (code, "2 of 2 conversations finished" in out, "duologue show future" in out) == (0, True, True)
    futures = load("future")
    assert [future.messages[:2] for future in futures] == [talk.messages[:2]] * 2
    assert {future.messages[3].text for future in futures} == {"It is booked."}
    assert [future.provenance.limits["seed"] for future in futures if future.provenance] == [5, 5]
    code, out, _ = duologue("fork", run, *options)
    assert (code, "2 of 2 conversations finished" in out) == (0, True)
    code, _, err = duologue("fork", run, *options, "--edit", "Which day?")
    assert (code, "2 of these are missing now" in err) == (2, True)
    code, out, _ = duologue("runs", "list", "future")


def test_the_futures_that_succeed_are_counted(duologue: Any, run: Path) -> None:
    scored = load(run)[0]
    options = ("--at", 1, "--assistant", "mine:books", "--repeats", 2)
    line = '2 of 2 futures succeeded; the stored conversation failed: the assistant never says "booked"'
    assert line in duologue("fork", run, "--id", scored.id, *options)[1]
    assert "0 of 1 futures succeeded" in duologue("fork", run, "--id", scored.id, "--at", 1)[1]
    result = json.loads(duologue("fork", run, "--id", scored.id, *options, "--json")[1])
    assert [result[name] for name in ("scored", "successes", "stored_success")] == [2, 2, False]


@pytest.mark.parametrize("command", ["fork", "replay"])
def test_the_help_names_the_folder_that_is_written(duologue: Any, command: str) -> None:
    assert f"out/{command}-N" in duologue(command, "--help")[1]


def test_it_forks_into_a_folder_of_its_own_with_another_user_message_and_scenario(duologue: Any, run: Path) -> None:
    talk = load(run)[1]
    changes = ("--edit", "Where to?", "--user", "offline", "--scenario", "goal=a room", "--set", "may_give_up=false")
    for number in (1, 2):
        code, _, err = duologue("fork", run, "--id", talk.id, "--at", 1, *changes, "--replace", "stop=mine:stop")
        assert (code, "mine:stop" in err) == (2, True)
        code, _, err = duologue("fork", run, "--id", talk.id, "--at", 1, *changes, "--max-turns", 2)
        assert code == 0, err
        (future,) = load(f"out/fork-{number}")
        assert [message.text for message in future.messages[:2]] == [talk.messages[0].text, "Where to?"]
        assert (future.scenario["goal"], len(future.messages)) == ("a room", 4)


def test_a_plan_costs_nothing(duologue: Any, run: Path) -> None:
    code, out, _ = duologue("fork", run, "--id", load(run)[0].id, "--at", 1, "--plan", "--repeats", 8)
    assert (code, "8 conversations planned" in out, Path("out").exists()) == (0, True, False)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--at", 1), "run: has 2 conversations: give the id of one of them"),
        (("--at", 1, "--id", "zz"), "run: has no conversation 'zz': the page of `duologue show run` has the ids"),
        (("--id", "ID", "--at", 9), "at 9: ID has #0 to #5: give the number of the last message to keep"),
        (("--id", "ID", "--at", 1, "--edit", ""), "edit: is empty"),
        (("--id", "ID", "--at", 1, "--set", "nothing=1"), "there is no setting 'nothing'"),
        (("--id", "ID", "--at", 1, "--scenario", "goal"), "--scenario goal: write KEY=VALUE"),
        (("--id", "ID", "--at", 1, "--replace", "stop"), "--replace stop: write PART=MODULE:NAME"),
        (("--id", "ID", "--at", 1, "--cast", "no"), "there is no cast 'no'"),
        (("--id", "ID", "--at", 1, "--cast", "simquac"), "ID: the scenario names no kind"),
        (("--id", "ID", "--at", 1, "--world", "away:world"), "away"),
        (("--id", "ID"), "--at"),
    ],
)
def test_bad_input_is_one_line(duologue: Any, run: Path, options: tuple[Any, ...], line: str) -> None:
    name = load(run)[0].id
    code, _, err = duologue("fork", run, *(name if option == "ID" else option for option in options))
    assert code == 2
    assert line.replace("ID", name) in err
    assert err.count("\n") == 1
