"""deepeval's goldens as scenarios."""

import json
from pathlib import Path
from typing import Any

from duologue.data.scenarios import ScenarioReader
from tests.data.test_cases.checked import check


def read(*goldens: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    Path("goldens.json").write_text(json.dumps(goldens), encoding="utf-8")
    reader = ScenarioReader("goldens.json")
    scenarios = [entry.scenario for entry in reader]
    for scenario in scenarios:
        if "success" in scenario:
            check(scenario["success"])
    return scenarios, "; ".join(reader.notes)


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
