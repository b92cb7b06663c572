"""What a scenario says of its own success: read strictly, applied in every cast, together with the cast's own score."""

from typing import Any

import pytest

import duologue
from duologue import nodes
from duologue.data import Conversation, recllmsim
from duologue.errors import SettingError
from duologue.graphs import agent_test, simquac
from duologue.graphs import recllmsim as tasks
from duologue.nodes.success import success_of, with_judge
from duologue.testing import scripted_model

TOPIC = {"title": "The pier", "header": "Keepers", "section": "Three keepers lived there. The last left in 1968."}


def simulated(success: Any, closing: Any = None, reply: str = "It is 40 Euro.") -> Conversation:
    cast = agent_test.cast(scripted_model("Hello", "Thank you, goodbye."), scripted_model(reply))
    state: Any = {"scenario": {"goal": "a price", "success": success}}
    return duologue.simulate(cast.replace(closing=closing) if closing else cast, [state])[0]


def scores(conversation: Conversation) -> Any:
    return conversation.scores


@pytest.mark.parametrize(
    ("success", "value"),
    [
        ({"text_contains": ["40", "euro"], "solved": True, "refused": True, "tool_not_called": "cancel"}, True),
        ({"text_contains": {"any": ["50", "40"]}}, True),
        ({"text_contains": {"any": ["50"], "all": ["40"]}}, False),
        ({"text_contains": {"all": ["hello"], "side": "user"}}, True),
        ({"text_contains": {"all": [r"\d+ Euro"], "regex": True, "case": True}}, True),
        ({"tool_called": "change"}, False),
        ({"tool_called": ["change", {"name": "look", "times": 0}]}, False),
        ({"tool_not_called": ["change", {"name": "look", "arguments": {"a": 1}}]}, True),
        ({"not": {"refused": False, "solved": True}}, True),
        ({"any_of": [{"refused": True}, {"solved": True}]}, True),
        ({"all_of": [{"refused": "change"}, {"solved": True}]}, True),
    ],
)
def test_every_scorer_has_a_form_in_json_and_all_that_are_named_must_hold(success: Any, value: bool) -> None:
    assert scores(simulated(success))["success"]["value"] is value


@pytest.mark.parametrize(
    ("success", "line"),
    [
        ({}, "success: expected an object that names scorers: final_state"),
        ("solved", "success: expected an object"),
        ({"tool_caled": "x"}, "success: there is no scorer 'tool_caled', only final_state"),
        ({"tool_called": {"nam": "x"}}, "success.tool_called.name: "),
        ({"tool_called": {"name": "x", "times": "2"}}, "success.tool_called.times: "),
        ({"tool_called": []}, "success.tool_called: expected at least one"),
        ({"tool_called": 3}, "success.tool_called: expected a text or an object"),
        ({"tool_not_called": {"name": "x", "times": 1}}, "success.tool_not_called: 'times' has no meaning"),
        ({"text_contains": {}}, "success.text_contains: give a text"),
        ({"text_contains": {"all": ["("], "regex": True}}, "success.text_contains: .* is not a regular expression"),
        ({"refused": 1}, "success.refused: expected true or false, or the tools that must not be called, not 1"),
        ({"final_state": [1]}, "success.final_state: expected the state as an object"),
        ({"any_of": {"solved": True}}, "success.any_of: expected a list"),
        ({"judged": "It is polite."}, "success.judged: names no model to judge: .*--judge"),
        ({"judged": {"criterion": "c", "model": "offline", "labels": ["a"]}}, "success.judged: has labels"),
        ({"judged": {"criterion": "c", "model": "openai:x"}}, "success.judged: .*OPENAI_API_KEY is not set"),
    ],
)
def test_what_is_wrong_in_it_is_one_line_with_its_place(success: Any, line: str) -> None:
    with pytest.raises(SettingError, match=line) as error:
        success_of(success)
    assert "\n" not in str(error.value)


def test_where_cast_and_scenario_both_say_what_success_is_both_must_hold() -> None:
    own = nodes.scoring(success=nodes.text_contains("40"), turns=lambda state: state["turn"])
    both = scores(simulated({"solved": True}, own))
    assert {name: score["value"] for name, score in both.items()} == {
        "success": True, "turns": 1, "success_of_cast": True, "success_of_scenario": True,
    }  # fmt: skip
    no = {"value": False, "reason": "nothing was done", "broken": [{"kind": "refused"}]}
    assert scores(simulated({"refused": False}, own))["success"] == no
    assert scores(simulated({"solved": True}, own, reply="50"))["success"]["value"] is False
    failing = scores(simulated({"solved": True}, nodes.scoring(success=lambda state: 1 / 0)))["success"]
    assert (failing["value"], "ZeroDivisionError" in failing["error"]) == (None, True)
    number = scores(simulated({"solved": True}, nodes.scoring(success=lambda state: 3)))["success"]
    assert number["value"] == 3, "which is no success, and is said to be none"


def test_what_cannot_be_read_is_recorded_and_another_kind_of_success_is_left_alone() -> None:
    wrong = simulated({"solvd": True})
    assert wrong.failure is None
    assert scores(wrong)["success"]["error"].startswith("success: there is no scorer 'solvd'")
    assert simulated("by the end of May").scores == {}

    def broken(messages: Any) -> str:
        raise KeyError("x")

    cast = agent_test.cast(assistant=broken)
    (failed,) = duologue.simulate(cast, agent_test.scenarios([{"goal": "x", "success": {"solved": False}}]))
    assert (failed.failure is None, failed.labels) == (False, {}), "a conversation that failed has no score"


def test_it_is_applied_in_casts_that_know_nothing_of_it() -> None:
    about = recllmsim.combined(recllmsim.shipped_tasks(), recllmsim.shipped_profiles().texts[:1])[:1]
    for cast, (state,), success in (
        (simquac.cast(), [simquac.scenario(TOPIC)], {"text_contains": "keepers"}),
        (tasks.cast(), tasks.scenarios(about), {"refused": True}),
    ):
        state["scenario"]["success"] = success
        (talk,) = duologue.simulate(cast, [state], limits=nodes.Limits(max_turns=2))
        assert scores(talk)["success"]["value"] is True
    assert recllmsim.Situation.of(talk).success == {"refused": True}


def test_the_runs_judge_judges_where_no_other_is_named() -> None:
    named = ["a", {"criterion": "b", "model": "m"}]
    success = {"judged": named, "any_of": [{"judged": {"criterion": "c"}}], "solved": True}
    assert with_judge(success, "j") == {
        "judged": [{"model": "j", "criterion": "a"}, {"model": "m", "criterion": "b"}],
        "any_of": [{"judged": [{"model": "j", "criterion": "c"}]}],
        "solved": True,
    }


def test_what_cast_and_scenario_both_ask_is_paid_and_counted_once(endpoint: Any) -> None:
    endpoint.say(user=["Yes.", *['{"reason": "It names a price.", "value": true}'] * 2])
    asked = {"judged": {"criterion": "It names a price.", "model": "openai:m"}}
    own = nodes.scoring(success=nodes.judged("openai:m", "It is polite."), turns=lambda state: state["turn"])
    conversation = simulated(asked, own)
    score = scores(conversation)["success"]
    assert (score["value"], score["reason"], score["usage"]["calls"]) == (True, "It names a price.", 3)
    assert conversation.closing_usage is not None
    assert (conversation.closing_usage.calls, conversation.closing_usage.input_tokens) == (3, 60)
    assert "<assistant>It is 40 Euro.</assistant>" in endpoint.texts()[0]
    assert "success" not in endpoint.texts()[0]
