"""Scenarios of the user simulation track, out of its shape and back into it."""

import json
from pathlib import Path

import pytest

from duologue.data import Conversation
from duologue.data.scenarios import ScenarioReader
from duologue.data.test_cases import trec
from tests.hosts.trec.stand_in import SCENARIOS


def read(*values):
    Path("track.json").write_text(json.dumps(values), encoding="utf-8")
    reader = ScenarioReader("track.json")
    return [entry.scenario for entry in reader], reader


def test_topic_context_and_familiarity_are_goal_and_facts_and_the_traits_behaviours():
    (first, second), reader = read(*SCENARIOS)
    assert reader.format == trec.FORMAT.description
    assert first["goal"] == "recordings of talks"
    assert first["facts"] == {
        "context": "We study how talks are built.",
        "discipline": "Linguistics",
        "domain familiarity": "Very familiar",
        "known datasets": "Alpha, Beta",
    }
    assert first["behaviours"] == ["terse", "impatient"]
    assert "tools used for dataset search: a catalogue, a library" in first["persona"]
    assert "behaviours" not in second
    assert "persona" not in second


def test_what_was_read_is_written_as_it_was():
    scenarios, _ = read(*SCENARIOS)
    lost = trec.write((Conversation(id=str(n), scenario=one) for n, one in enumerate(scenarios)), Path("out.json"))
    assert json.loads(Path("out.json").read_text("utf-8")) == SCENARIOS
    assert lost == []


def test_a_scenario_from_elsewhere_is_written_with_its_losses_by_name():
    scenario = {"goal": "a table", "facts": {"name": "Quill"}, "persona": "Calm.", "success": {"solved": True}}
    assert trec.write([Conversation(id="a", scenario=scenario)], Path("out.json")) == ["success, of 1 scenario"]
    [value] = json.loads(Path("out.json").read_text("utf-8"))
    again = trec.scenario_of(value)
    assert (again["goal"], again["facts"]["context"]) == ("a table", "name: Quill")
    assert "Calm." in again["persona"]


def test_a_reply_of_the_platform_is_a_scenario_too():
    (scenario,), _ = read({"conversation_id": "c", "scenario": SCENARIOS[1], "chat_messages": []})
    assert scenario["goal"] == "pictures of plants"


def test_a_goal_without_a_topic_is_one_line():
    with pytest.raises(ValueError, match="has no text that a user would want"):
        trec.scenario_of({"goal": {"context": "x"}, "persona": {}})
