"""Test cases of LangSmith, MLflow and ADK as scenarios."""

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


def test_an_example_of_langsmith_is_a_question_and_its_answer():
    example = {
        "id": "1", "name": "opening", "inputs": {"question": "When do you open?", "branch": "north"},
        "outputs": {"answer": "At nine.", "source": "sign"}, "metadata": {"dataset_split": ["base"]}, "dataset_id": "d",
    }  # fmt: skip
    form, (scenario,), notes = read([example])
    assert form == "examples of a LangSmith dataset"
    assert (scenario["title"], scenario["first_message"]) == ("opening", "When do you open?")
    assert scenario["success"]["judged"].endswith(": At nine.")
    for name in ("dataset_id", "inputs.branch", "metadata", "outputs.source"):
        assert f"{name} (1)" in notes


def test_messages_of_an_example_are_a_first_message_and_expected_calls():
    called = [{"id": "c", "type": "function", "function": {"name": "hours", "arguments": '{"day": "Sunday"}'}}]
    example = {
        "inputs": {"messages": [
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "Open on Sunday?"},
        ]},
        "outputs": {"messages": [
            {"role": "assistant", "content": "", "tool_calls": called}, {"role": "assistant", "content": "From ten."},
        ]},
    }  # fmt: skip
    _, (scenario,), notes = read([example])
    assert scenario["first_message"] == "Open on Sunday?"
    assert scenario["success"]["tool_called"] == {"name": "hours", "arguments": {"day": "Sunday"}}
    assert scenario["success"]["judged"].endswith(": From ten.")
    assert "other messages (1)" in notes


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


def content(text: str) -> dict[str, Any]:
    return {"parts": [{"text": text}], "role": "user"}


def test_an_eval_case_of_adk_is_its_first_message_with_expected_calls_and_the_last_answer():
    turns = [
        {
            "invocation_id": "i1", "user_content": content("Send flowers."), "final_response": content("To whom?"),
            "intermediate_data": {"tool_uses": [{"name": "look", "args": {}}], "intermediate_responses": [["a", []]]},
        },
        {
            "user_content": content("To Mia at Lake Road 4."), "final_response": content("Sent."),
            "intermediate_data": {"invocation_events": [
                {"author": "a", "content": {"parts": [{"function_call": {"name": "send", "args": {"to": "Mia"}}}]}},
            ]},
        },
    ]  # fmt: skip
    rubric = {"rubric_id": "r", "rubric_content": {"text_property": "It is polite."}}
    session = {"app_name": "shop", "user_id": "u", "state": {"day": 1}}
    case = {"eval_id": "flowers", "conversation": turns, "session_input": session, "rubrics": [rubric]}
    form, (scenario,), notes = read({"eval_set_id": "s", "eval_cases": [case]})
    assert form == "eval sets of Google's Agent Development Kit"
    assert (scenario["title"], scenario["first_message"]) == ("flowers", "Send flowers.")
    assert scenario["facts"] == ["To Mia at Lake Road 4."]
    assert scenario["success"]["tool_called"] == ["look", {"name": "send", "arguments": {"to": "Mia"}}]
    assert [one.split(": ")[-1] for one in scenario["success"]["judged"]] == ["Sent.", "It is polite."]
    for name in (
        "answers before the last", "conversation.intermediate_data.intermediate_responses", "order of the calls",
        "session_input",
    ):  # fmt: skip
        assert f"{name} (1)" in notes


def test_a_conversation_scenario_of_adk_is_a_goal_with_a_first_message():
    persona = {
        "id": "p",
        "description": "New here.",
        "behaviors": [{"name": "b", "behavior_instructions": ["Ask twice."]}],
    }
    plans = [
        {"starting_prompt": "Hi.", "conversation_plan": "Order tulips, then roses.", "user_persona": persona},
        {"starting_prompt": "Hi.", "conversation_plan": ["Order tulips.", "Pay."], "user_persona": "EXPERT"},
    ]
    _, (first, second), notes = read({"scenarios": plans})
    assert (first["goal"], first["first_message"]) == ("Order tulips, then roses.", "Hi.")
    assert first["persona"] == "New here.\nAsk twice."
    assert second["goal"] == "Order tulips.\nPay."
    assert "user_persona (1)" in notes
    camel = {
        "evalSetId": "s",
        "evalCases": [{"evalId": "a", "conversationScenario": {"startingPrompt": "Hi.", "conversationPlan": "Pay."}}],
    }
    _, (of_case,), _ = read(camel)
    assert (of_case["title"], of_case["goal"], of_case["first_message"]) == ("a", "Pay.", "Hi.")


def test_older_files_of_adk_are_one_conversation_or_named_ones():
    turns = [
        {
            "query": "Roll a die.",
            "expected_tool_use": [{"tool_name": "roll", "tool_input": {"sides": 6}}],
            "reference": "",
        },
        {"query": "Is it even?", "expected_tool_use": [], "reference": "No."},
    ]
    for value in (turns, [{"name": "dice", "data": turns, "initial_session": {}}]):
        _, (scenario,), _ = read(value)
        assert scenario["first_message"] == "Roll a die."
        assert scenario["success"]["tool_called"] == {"name": "roll", "arguments": {"sides": 6}}
        assert scenario["success"]["judged"].endswith(": No.")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([{"inputs": {"a": 1}, "outputs": {}}], r"cases\.json: \[0\]: has no text that a user would want or write"),
        ([{"inputs": {"messages": [{"role": "assistant", "content": "Hi"}]}, "outputs": {}}], r"\[0\]: 'messages' has no"),
        ({"eval_cases": [{"eval_id": "a", "conversation": {}}]}, r"line 1, eval_cases\[0\]: has no text that a user"),
        ({"eval_cases": [{"eval_id": "a", "conversation": "no"}]}, r"eval_cases\[0\]: 'conversation' is not a list"),
        ({"eval_cases": ["a"]}, r"eval_cases\[0\]: is not an object"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(value, problem):
    with pytest.raises(DataError, match=problem):
        read(value)
