"""deepeval's goldens as scenarios, and scenarios as goldens."""

import json
from pathlib import Path
from typing import Any

from duologue.data import Conversation
from duologue.data.scenarios import ScenarioReader
from duologue.data.test_cases import deepeval
from tests.data.test_cases.checked import check


def read(*goldens: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    Path("goldens.json").write_text(json.dumps(goldens), encoding="utf-8")
    reader = ScenarioReader("goldens.json")
    scenarios = [entry.scenario for entry in reader]
    for scenario in scenarios:
        if "success" in scenario:
            check(scenario["success"])
    return scenarios, "; ".join(reader.notes)


def written(*scenarios: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    lost = deepeval.write((Conversation(id=str(n), scenario=s) for n, s in enumerate(scenarios)), Path("out.json"))
    return json.loads(Path("out.json").read_text(encoding="utf-8")), lost


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


def test_names_may_be_written_in_the_other_way():
    (scenario,), _ = read(
        {"scenario": "Ask for a map.", "expectedOutcome": "A map is sent.", "userDescription": "Calm."}
    )
    assert (scenario["persona"], scenario["success"]) == ("Calm.", {"judged": "A map is sent."})


def test_a_golden_of_one_question_is_a_first_message_with_calls_and_an_answer():
    tools = [{"name": "timetable", "inputParameters": {"line": 5}, "output": "12:10"}]
    (scenario,), notes = read(
        {"input": "When is the next tram?", "expected_output": "At 12:10.", "expected_tools": tools}
    )
    assert scenario["first_message"] == "When is the next tram?"
    assert scenario["success"]["tool_called"] == {"name": "timetable", "arguments": {"line": 5}}
    assert scenario["success"]["judged"].endswith("At 12:10.")
    assert "expected_tools.output (1)" in notes


def test_a_golden_comes_back_as_it_was():
    scenarios, _ = read(
        GOLDEN,
        {
            "scenario": "Ask for a map.",
            "expectations": {"must_not": ["No map.", "A lie."]},
            "turns": None,
            "persona": None,
        },
    )
    again, _ = written(*scenarios)
    assert {key: value for key, value in again[0].items() if value is not None} == GOLDEN | {
        "expectations": {"must": GOLDEN["expectations"]["must"], "must_not": GOLDEN["expectations"]["must_not"]}
    }
    assert again[1]["expectations"] == {"must_not": ["No map.", "A lie."]}


def test_scenarios_come_back_as_they_were_and_what_deepeval_does_not_read_is_listed():
    scenarios = [
        {
            "goal": "move the tour", "facts": ["The ticket is M-204."], "unknown": "The guide's name.", "persona": "Calm.",
            "title": "tour", "success": {"tool_called": "move", "text_contains": "Sunday", "judged": "It is moved."}, "room": 4,
        },
        {"first_message": "Is it open?", "facts": {"name": "Ida", "code": 3}},
        {"goal": "leave", "facts": {"facts": 1}, "success": {"any_of": [{"solved": True}, {"refused": True}]}},
        {"goal": "ask", "facts": "One text.", "success": {"not": {"judged": "It lies."}}},
    ]  # fmt: skip
    goldens, lost = written(*scenarios)
    assert (goldens[0]["expected_outcome"], goldens[3]["expectations"]) == ("It is moved.", {"must_not": ["It lies."]})
    assert [line.split(",")[0] for line in lost] == [
        "room",
        "success.tool_called",
        "success.text_contains",
        "success.any_of",
    ]
    again, _ = read(*goldens)
    assert again == scenarios
