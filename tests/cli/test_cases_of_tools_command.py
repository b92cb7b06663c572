"""Test cases of other tools on the command line: `convert`, `test --scenarios`, `check --form`."""

import json
from pathlib import Path
from typing import Any

import pytest

AGENT = """
def agent(messages):
    if "code" not in messages[-1]["content"]:
        return "What is your e-mail address, and which code has the locker?"
    return "Done: locker 12 is free now, 1,400 in all."
"""
TASK: dict[str, Any] = {
    "id": "t1",
    "user_scenario": {
        "instructions": {
            "domain": "lockers",
            "reason_for_call": "You want to give your locker back.",
            "known_info": "The code of the locker is 4471.",
            "unknown_info": "Your e-mail address.",
            "task_instructions": "You are short of time.",
        }
    },
    "evaluation_criteria": {"communicate_info": ["1400"], "nl_assertions": ["The agent is kind."]},
}


@pytest.fixture
def tasks() -> Path:
    Path("tasks.json").write_text(json.dumps([TASK, TASK | {"id": "t2"}]), encoding="utf-8")
    Path("my_locker_agent.py").write_text(AGENT, encoding="utf-8")
    return Path("tasks.json")


def test_tasks_become_scenarios_and_what_is_lost_is_named(duologue, tasks):
    code, out, err = duologue("convert", tasks, "s.jsonl", "--to", "scenarios")
    assert (code, out) == (0, "2 scenarios written to s.jsonl\n")
    assert "no counterpart in a scenario, kept under 'tau2': nl_assertions outside reward_basis (2)" in err
    lines = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    assert [line["title"] for line in lines] == ["t1", "t2"]
    assert lines[0]["success"] == {"text_contains": {"any": ["1400", "1,400"]}}
    code, out, _ = duologue("convert", tasks, "s.jsonl", "--to", "scenarios", "--json", "--force")
    counts = json.loads(out)
    assert (code, counts["scenarios"], counts["kind"], counts["left_out"]) == (0, 2, "tasks of tau2-bench", [])


def test_tasks_are_simulated_and_the_user_never_gives_what_it_does_not_know(duologue, tasks):
    code, out, err = duologue("test", "--assistant", "my_locker_agent:agent", "--scenarios", tasks, "--out", "run")
    assert code == 0, err
    assert "2 of 2 scored conversations succeeded" in out
    assert "kept under 'tau2'" in err
    texts = [json.loads(line) for line in Path("run/conversations.jsonl").read_text().splitlines()]
    of_user = [m["text"] for line in texts for m in line["messages"] if m["role"] == "user"]
    assert any("4471" in text for text in of_user)
    assert not any("e-mail" in text for text in of_user)
    assert texts[0]["extra"]["stored"]["id"] in ("t1", "t2")
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert manifest["data"][0]["format"] == "tasks of tau2-bench"


def test_goldens_need_a_judge_which_the_refusal_says(duologue, tasks):
    Path("goldens.json").write_text('[{"scenario": "Ask for tea.", "expected_outcome": "Tea is served."}]')
    code, _, err = duologue("test", "--assistant", "my_locker_agent:agent", "--scenarios", "goldens.json")
    assert code == 2
    assert "goldens.json" in err
    assert "names no model to judge: give it 'model', or the command --judge openai:NAME" in err


def test_logs_become_scenarios_without_their_messages(duologue, logs):
    code, out, err = duologue("convert", logs, "s.jsonl", "--to", "scenarios")
    assert (code, out) == (0, "4 scenarios written to s.jsonl\n")
    assert "left out: messages and labels, of 4 conversations" in err
    first = json.loads(Path("s.jsonl").read_text().splitlines()[0])
    assert first == {"first_message": "How long does <title>green tea</title> steep?"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"goal": "a"}\n{"gaol": "b"}\n', "s.jsonl: line 2: is not a scenario: give it a 'goal' or a 'first_message'"),
        ('{"goal": "a"}\n{"goal": \n', "s.jsonl: line 2"),
        ("", "s.jsonl: holds no scenario"),
    ],
)
def test_what_is_no_scenario_is_refused_in_one_line(duologue, text, problem):
    Path("s.jsonl").write_text(text, encoding="utf-8")
    code, _, err = duologue("convert", "s.jsonl", "t.jsonl", "--to", "scenarios")
    assert code != 0
    assert problem in err
    assert not Path("t.jsonl").exists()


def test_the_form_is_named_with_the_number_of_scenarios(duologue, tasks):
    code, out, _ = duologue("check", tasks, "--form")
    assert code == 0
    assert "tasks.json: tau2 (tasks of tau2-bench)" in out
    assert "sign: `user_scenario` with `instructions`" in out
    assert "read: 2 scenarios" in out
    code, _, err = duologue("check", tasks)
    assert code != 0
    assert "holds scenarios and no conversation: simulate them first (--scenarios)" in err
