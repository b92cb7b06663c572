"""Test cases of MLflow as scenarios."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError
from duologue.data.scenarios import ScenarioReader
from tests.data.test_cases.checked import check


def read(value: Any) -> tuple[str, list[dict[str, Any]], str]:
    Path("cases.json").write_text(json.dumps(value), encoding="utf-8")
    reader = ScenarioReader("cases.json")
    scenarios = [entry.scenario for entry in reader]
    for scenario in scenarios:
        if "success" in scenario:
            check(scenario["success"])
    return reader.format, scenarios, "; ".join(reader.notes)


def test_a_test_case_of_mlflow_is_a_goal_a_persona_and_guidelines():
    case = {
        "goal": "find a bike",
        "persona": "Tall.",
        "context": {"user_id": "u1"},
        "simulation_guidelines": ["Be terse."],
    }
    form, (scenario,), notes = read([case, ])  # fmt: skip
    assert form == "test cases of MLflow"
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
    _, (scenario,), notes = read([{"inputs": {"goal": "find a bike"}, "expectations": wishes, "tags": {"a": "b"}}])
    answer, fact, rule = scenario["success"]["judged"]
    assert (answer.split(": ")[1], fact.split(": ")[1], rule) == ("A red one.", "It has gears.", "Be kind.")
    assert "expectations.score (1)" in notes
    assert "tags (1)" in notes


def test_a_goal_alone_is_a_scenario_of_ones_own():
    form, (scenario,), _ = read([{"goal": "find a bike", "persona": "Tall."}])
    assert (form, scenario) == ("JSON lines of scenarios", {"goal": "find a bike", "persona": "Tall."})


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([{"inputs": {"a": 1}, "expectations": {}}], r"cases\.json: \[0\]: has no text that a user would want or write"),
        ([{"inputs": {"messages": [{"role": "assistant", "content": "Hi"}]}, "expectations": {}}], r"\[0\]: 'messages' has no"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(value, problem):
    with pytest.raises(DataError, match=problem):
        read(value)
