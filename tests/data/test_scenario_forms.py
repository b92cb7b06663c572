"""Test cases of deepeval, MLflow and tau2-bench as scenarios: what must hold, what is listed, what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data
from duologue.data import Conversation, DataError
from duologue.data.scenarios import ScenarioReader, scenario_formats
from duologue.data.test_cases import FORMS, LINES
from duologue.nodes.success import success_of
from tests.tree import ROOT


def read(*cases: Any) -> tuple[list[dict[str, Any]], str]:
    """The scenarios of test cases, each with a success that a run can read, and the notes."""
    Path("cases.json").write_text(json.dumps(cases), encoding="utf-8")
    reader = ScenarioReader("cases.json")
    scenarios = [entry.scenario for entry in reader]
    for scenario in scenarios:
        if "success" in scenario:
            success_of(_without_judge(scenario["success"]))
    return scenarios, "; ".join(reader.notes)


def _without_judge(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_judge(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        "solved" if key == "judged" else key: True if key == "judged" else _without_judge(one)
        for key, one in value.items()
    }


GOLDEN: dict[str, Any] = {
    "scenario": "A caller wants to know why the tram is late.",
    "turns": [{"role": "user", "content": "Where is tram 5?"}, {"role": "assistant", "content": "On its way."}],
    "expected_outcome": "The delay is explained.",
    "user_description": "Speaks in short sentences.",
    "persona": {"name": "Olga", "characteristics": "Speaks in short sentences.", "metadata": {"stop": "Park"}, "voice": "low"},
    "context": ["Tram 5 waits for the fire brigade."],
    "name": "late tram",
    "comments": "first draft",
    "additional_metadata": {"line": 5},
    "expectations": {"must": ["A number of minutes is named."], "must_not": ["The driver is blamed."], "model": None},
}  # fmt: skip


def test_a_conversational_golden_is_a_goal_a_persona_and_judgements():
    (scenario,), notes = read(GOLDEN)
    assert scenario["goal"] == "A caller wants to know why the tram is late."
    assert scenario["first_message"] == "Where is tram 5?"
    assert (scenario["persona"], scenario["title"]) == ("Speaks in short sentences.", "late tram")
    assert scenario["facts"] == {"name": "Olga", "stop": "Park"}
    assert scenario["success"] == {
        "judged": ["The delay is explained.", {"criterion": "A number of minutes is named."}],
        "not": {"judged": "The driver is blamed."},
    }
    for name in ("additional_metadata (1)", "comments (1)", "context (1)", "persona.voice (1)", "turns (1)"):
        assert name in notes


def test_a_golden_of_one_question_is_a_first_message_with_calls_and_an_answer():
    tools = [{"name": "timetable", "inputParameters": {"line": 5}, "output": "12:10"}]
    (scenario,), notes = read(
        {"input": "When is the next tram?", "expected_output": "At 12:10.", "expected_tools": tools}
    )
    assert scenario["first_message"] == "When is the next tram?"
    assert scenario["success"]["tool_called"] == {"name": "timetable", "arguments": {"line": 5}}
    assert scenario["success"]["judged"].endswith("At 12:10.")
    assert "expected_tools.output (1)" in notes


def test_a_test_case_of_mlflow_is_a_goal_a_persona_and_guidelines():
    case = {
        "goal": "find a bike",
        "persona": "Tall.",
        "context": {"user_id": "u1"},
        "simulation_guidelines": ["Be terse."],
    }
    (scenario,), notes = read(case)
    assert (scenario["goal"], scenario["persona"]) == ("find a bike", "Tall.\nBe terse.")
    assert scenario["mlflow_cases"] == {"inputs.context": {"user_id": "u1"}}
    assert "inputs.context (1)" in notes


def test_expectations_of_mlflow_are_judged():
    wishes = {
        "expected_response": "A red one.",
        "expected_facts": ["It has gears."],
        "guidelines": "Be kind.",
        "score": 3,
    }
    (scenario,), notes = read({"inputs": {"goal": "find a bike"}, "expectations": wishes, "tags": {"a": "b"}})
    answer, fact, rule = scenario["success"]["judged"]
    assert (answer.split(": ")[1], fact.split(": ")[1], rule) == ("A red one.", "It has gears.", "Be kind.")
    assert "expectations.score (1)" in notes
    assert "tags (1)" in notes


TOLD = {
    "domain": "museum",
    "reason_for_call": "You want to move your guided tour to Sunday.",
    "known_info": "You are Ida Holm.\n\nYour ticket is M-204.",
    "unknown_info": "You do not remember the name of the guide.",
    "task_instructions": "You are in a hurry. If Sunday is full, keep the old day.",
}


def task(**criteria: Any) -> dict[str, Any]:
    return {
        "id": "7",
        "user_scenario": {"persona": "A retired teacher.", "instructions": TOLD},
        "initial_state": None,
        "evaluation_criteria": criteria,
    }


def action(name: str, **arguments: Any) -> dict[str, Any]:
    return {"action_id": f"7_{name}", "name": name, "arguments": arguments}


def test_what_the_user_wants_knows_and_does_not_know_are_kept_apart():
    (scenario,), _ = read(task())
    assert scenario["goal"] == "You want to move your guided tour to Sunday."
    assert scenario["facts"] == ["You are Ida Holm.", "Your ticket is M-204."]
    assert scenario["unknown"] == "You do not remember the name of the guide."
    assert scenario["persona"] == "A retired teacher.\n\nYou are in a hurry. If Sunday is full, keep the old day."
    assert scenario["title"] == "7"


def test_calls_that_change_something_must_be_made_and_no_others_of_the_file():
    moved = task(actions=[action("get_ticket", ticket="M-204"), action("move_tour", ticket="M-204", day="Sunday")])
    refunded = task(actions=[action("refund", ticket="M-9")])
    (first, second), notes = read(moved, refunded)
    assert first["success"] == {
        "tool_called": {"name": "move_tour", "arguments": {"ticket": "M-204", "day": "Sunday"}},
        "tool_not_called": "refund",
    }
    assert second["success"]["tool_not_called"] == "move_tour"
    assert "calls that change nothing (1)" in notes


def test_all_calls_must_be_made_where_the_task_says_so_and_with_the_compared_arguments_only():
    asked = action("get_ticket", ticket="M-204") | {"compare_args": []}
    moved = action("move_tour", ticket="M-204", day="Sunday") | {"compare_args": ["day"]}
    (scenario,), _ = read(task(actions=[asked, moved, moved], reward_basis=["ACTION"]))
    assert scenario["success"] == {"tool_called": ["get_ticket", {"name": "move_tour", "arguments": {"day": "Sunday"}}]}


def test_what_has_no_counterpart_is_listed_by_name_and_kept():
    criteria = {
        "actions": [action("open_app") | {"requestor": "user"}] * 2,
        "env_assertions": [{"env_type": "user", "func_name": "is_open", "arguments": {}}],
        "nl_assertions": ["The assistant is polite."],
        "reward_basis": ["ENV_ASSERTION"],
        "communicate_info": ["Sunday"],
    }
    whole = task(**criteria) | {"ticket": "Move a tour.", "initial_state": {"message_history": []}}
    (scenario,), notes = read(whole)
    assert "success" not in scenario
    assert scenario["tau2"]["evaluation_criteria"] == criteria
    for name in (
        "calls of the user's own tools (2)",
        "communicate_info (1)",
        "env_assertions (1)",
        "initial_state (1)",
        "nl_assertions outside reward_basis (1)",
        "ticket (1)",
    ):
        assert name in notes
    assert "1 of 1 scenarios have no condition that can be checked" in notes


@pytest.mark.parametrize(
    ("cases", "problem"),
    [
        ((task(), {"id": "b"}), r"cases\.json: \[1\]: 'user_scenario' has no 'instructions'"),
        ((task(), {"user_scenario": {"instructions": {"known_info": "a"}}}), r"\[1\]: has no text that a user would"),
        ((task(), {"user_scenario": {"instructions": {"reason_for_call": 5}}}), r"\[1\]: 'reason_for_call' is not a"),
        ((task(), "b"), r"\[1\]: is not an object"),
        ((task(), task(reward_basis=5)), r"\[1\]: 'reward_basis' is not a list"),
        (({"inputs": {"a": 1}, "expectations": {}},), r"\[0\]: has no text that a user would want or write"),
        (
            ({"inputs": {"messages": [{"role": "assistant", "content": "Hi"}]}, "expectations": {}},),
            r"'messages' has no",
        ),
    ],
)
def test_a_case_that_cannot_be_read_is_refused_with_its_place(cases, problem):
    with pytest.raises(DataError, match=problem):
        read(*cases)


def test_each_form_has_a_row_in_the_docs():
    page = (ROOT / "docs/test/scenario_sources.md").read_text(encoding="utf-8")
    table = page.partition("| form | sure sign |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(rows) == sorted(form.name for form in (*FORMS, LINES)) == sorted(scenario_formats())


def test_test_cases_are_no_conversations():
    Path("tasks.json").write_text('[{"user_scenario": {"instructions": "Ask for tea."}}]', encoding="utf-8")
    with pytest.raises(DataError, match=r"tasks\.json: holds scenarios and no conversation: simulate them first"):
        duologue.load("tasks.json")


def test_lines_of_a_stranger_are_scenarios_by_a_format_of_its_own(own_registry):
    def read(path: Path) -> list[Conversation]:
        wishes = data.read_text(path).splitlines()[1:]
        return [Conversation(id=wish, scenario={"goal": wish}) for wish in wishes]

    form = data.Format(
        "wishes", "a list of wishes", lambda source: source.text.startswith("#wishes"), read, scenarios=True
    )
    data.register_format(form)
    Path("wishes.txt").write_text("#wishes\ndrink tea\nread\n", encoding="utf-8")
    reader = ScenarioReader("wishes.txt")
    assert [entry.scenario for entry in reader] == [{"goal": "drink tea"}, {"goal": "read"}]
    assert (reader.format, reader.stored) == ("a list of wishes", False)
    with pytest.raises(DataError, match="holds scenarios and no conversation"):
        duologue.load("wishes.txt")
