"""`--scenarios SRC`: JSON lines of scenarios, and sources and options that cannot be used."""

import json
from pathlib import Path

import pytest

from duologue.data import load, recllmsim

TOPIC = {"title": "The pier", "header": "Keepers", "section": "Three keepers lived there. CANNOTANSWER", "id": 4}
TASK = {"task": "moving", "task_context": "You move to <title>a harbour</title>.", "preference": "1. Age: 41"}


def test_lines_may_leave_out_the_kind_of_the_casts_own_domain(duologue):
    Path("topics.jsonl").write_text(json.dumps(TOPIC) + "\n")
    assert duologue("simulate", "simquac", "--scenarios", "topics.jsonl", "--max-turns", "1", "--out", "a")[0] == 0
    assert duologue("simulate", "simquac", "--scenarios", "topics.jsonl", "--max-turns", "1", "--out", "b")[0] == 0
    (conversation,) = load("a")
    assert conversation.scenario == {
        "kind": "simquac", "title": "The pier", "background": "", "header": "Keepers",
        "section": "Three keepers lived there.",
    }  # fmt: skip
    zh = {"task": "旅行", "task_context": "你想去海边。", "profile": {"age": 30}}
    Path("tasks.jsonl").write_text(json.dumps(TASK) + "\n" + json.dumps(zh) + "\n")
    code, _, err = duologue("simulate", "recllmsim", "--scenarios", "tasks.jsonl", "--max-turns", "1", "--out", "c")
    assert code == 0, err
    assert [one.scenario["language"] for one in load("c")] == ["en", "zh"]
    assert "1 of 2 scenarios are in another language than the run, which is in en" in " ".join(err.split())
    assert json.loads(Path("c/manifest.json").read_text())["data"][0]["format"] == "JSON lines of scenarios"


def test_an_empty_profile_is_taken_and_told(duologue):
    Path("tasks.jsonl").write_text(json.dumps({**TASK, "kind": "recllmsim", "preference": " "}) + "\n")
    code, _, err = duologue("simulate", "recllmsim", "--scenarios", "tasks.jsonl", "--max-turns", "1", "--out", "run")
    assert code == 0, err
    assert "1 of 1 scenarios have an empty profile: their users have none" in " ".join(err.split())


LINES = {
    "topic": TOPIC | {"kind": "simquac", "background": ""},
    "task": TASK | {"kind": "recllmsim"},
    "goal": {"goal": "buy shoes"},
    "no_profile": {key: value for key, value in TASK.items() if key != "preference"} | {"kind": "recllmsim"},
    "empty_section": TOPIC | {"kind": "simquac", "background": "", "section": " "},
}


@pytest.mark.parametrize(
    ("cast", "lines", "message"),
    [
        ("recllmsim", ("task", "topic"), "line 2: the scenario is of kind 'simquac'; the cast takes tasks"),
        ("recllmsim", ("goal",), "line 1: the scenario names no kind; the cast takes tasks"),
        ("recllmsim", ("no_profile",), "line 1: has no profile: give it a 'preference'"),
        ("simquac", ("topic", "task"), "line 2: the scenario is of kind 'recllmsim'; the cast takes topics"),
        ("simquac", ("empty_section",), "line 1: the section is empty: fill it"),
        ("agent_test", ("goal", "task"), "line 2: the scenario is of kind 'recllmsim'; the cast takes scenarios with a 'goal'"),
    ],
)  # fmt: skip
def test_a_line_that_the_cast_cannot_take_is_one_line_and_nothing_is_simulated(duologue, cast, lines, message):
    Path("s.jsonl").write_text("".join(json.dumps(LINES[name]) + "\n" for name in lines))
    code, out, err = duologue("simulate", cast, "--scenarios", "s.jsonl", "--out", "run")
    assert (code, out) == (2, "")
    assert f"s.jsonl: {message}" in " ".join(err.split())
    assert not Path("run").exists()


@pytest.mark.parametrize("cast", ["simquac", "agent_test"])
def test_conversations_of_another_domain_are_one_line_that_names_the_first(duologue, some_people, cast):
    code, out, err = duologue("simulate", cast, "--scenarios", some_people, "--out", "run")
    (first, *_) = recllmsim.read(some_people)
    assert (code, out) == (2, "")
    line = " ".join(err.split())
    assert f"people: conversation 0 ({first.id}): the scenario is of kind 'recllmsim'; the cast takes" in line
    assert "give a source of these, or choose another cast" in line
    assert not Path("run").exists()


def test_a_log_is_no_source_for_a_cast_of_one_domain(duologue, logs):
    code, _, err = duologue("simulate", "recllmsim", "--scenarios", logs, "--out", "run")
    assert code == 2
    assert "logs.jsonl: conversation 0 (t0): the scenario names no kind; the cast takes tasks" in " ".join(err.split())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "s.jsonl: holds no scenario"),
        (" \n\n", "s.jsonl: holds no scenario"),
        ('\n\n{"goal": "b",\n', "s.jsonl: line 3, column "),
        ('{"goal": "a"\n', "s.jsonl: line 1, column "),
        ("[1, 2]", "s.jsonl: line 1: is not an object"),
        ("# A document\n\nOf words.", "s.jsonl: line 1, column 1: is not JSON"),
    ],
)
@pytest.mark.parametrize("cast", ["simquac", "recllmsim", "agent_test"])
def test_a_file_that_cannot_be_used_is_one_line_in_every_cast(duologue, cast, content, message):
    Path("s.jsonl").write_text(content)
    code, out, err = duologue("simulate", cast, "--scenarios", "s.jsonl", "--out", "run")
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert not Path("run").exists()


def test_a_broken_line_is_named_although_the_limit_ends_before_it(duologue):
    Path("s.jsonl").write_text('{"goal": "a"}\n{"goal": "b",\n')
    code, _, err = duologue("simulate", "agent_test", "--scenarios", "s.jsonl", "--limit", "1", "--out", "run")
    assert code == 2
    assert "s.jsonl: line 2, column " in " ".join(err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("recllmsim", "--part", "test"), "--part: is about the scenarios of --scenarios SRC"),
        (("simquac", "--judge", "openai:m"), "--judge: is about the scenarios of --scenarios SRC"),
        (("simquac", "--scenarios", "logs.jsonl", "--topics", "t"), "--topics: --scenarios says what is talked about"),
        (("simquac", "--scenarios", "nowhere"), "nowhere: "),
        (("agent_test", "--scenarios", "logs.jsonl", "--part", "half"), "'half' is not one of"),
    ],
)
def test_options_without_effect_and_missing_sources_are_one_line(duologue, logs, options, message):
    code, out, err = duologue("simulate", *options, "--out", "run")
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
