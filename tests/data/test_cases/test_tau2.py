"""tau2-bench's tasks as scenarios: what a user is told, what must hold, and what is listed as lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError
from duologue.data.scenarios import ScenarioReader
from tests.data.test_cases.checked import check

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


def read(*tasks: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    Path("tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    reader = ScenarioReader("tasks.json")
    scenarios = [entry.scenario for entry in reader]
    for scenario in scenarios:
        if "success" in scenario:
            check(scenario["success"])
    return scenarios, "; ".join(reader.notes)


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


def test_what_must_be_said_is_a_text_and_a_number_may_have_commas():
    (scenario,), _ = read(task(communicate_info=["Sunday", "1250", "327"]))
    assert scenario["success"] == {
        "text_contains": ["Sunday", "327"],
        "all_of": [{"text_contains": {"any": ["1250", "1,250"]}}],
    }


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


def test_assertions_in_words_are_judged_where_they_count():
    (scenario,), notes = read(task(nl_assertions=["The assistant is polite."], reward_basis=["NL_ASSERTION"]))
    assert scenario["success"] == {"judged": "The assistant is polite."}
    assert "nl_assertions" not in notes


def test_instructions_may_be_one_text():
    (scenario,), _ = read({"id": "a", "user_scenario": {"instructions": "Ask when the museum opens."}})
    assert scenario["goal"] == "Ask when the museum opens."


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        ({"id": "b"}, r"tasks\.json: \[1\]: 'user_scenario' has no 'instructions'"),
        ({"id": "b", "user_scenario": {"instructions": {"known_info": "a"}}}, r"\[1\]: has no text that a user would"),
        ({"id": "b", "user_scenario": {"instructions": {"reason_for_call": 5}}}, r"\[1\]: 'reason_for_call' is not a"),
        ("b", r"\[1\]: is not an object"),
        (task(reward_basis=5), r"\[1\]: 'reward_basis' is not a list"),
    ],
)
def test_a_task_that_cannot_be_read_is_refused_with_its_place(second, problem):
    with pytest.raises(DataError, match=problem):
        read(task(), second)
