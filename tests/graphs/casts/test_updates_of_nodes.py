"""Updates of nodes: what the contract refuses of them, in a conversation and in the check of one's own node."""

from typing import Any

import pytest

from duologue.graphs import conversation, simquac
from duologue.nodes import Limits, conformance
from duologue.nodes.contract import ContractError
from duologue.nodes.state import PLACES
from duologue.runs import asimulate
from tests.graphs.played import SCENARIO, talk

OK = {"verdicts": [{"accepted": True}]}
SAID = {"drafts": [{"text": "x"}]}
UNFIT: list[tuple[str, Any, str]] = [
    ("question_validator", {"verdict": []}, "expected an update with stop or verdicts, got the key 'verdict'"),
    ("question_validator", {"verdicts": []}, "expected 1 verdicts, one for each draft, got 0"),
    ("question_validator", {"verdicts": [{"accepted": True}] * 2, "stop": "user_ended"}, "expected 1 verdicts.* got 2"),
    ("question_validator", {"verdicts": [{"ok": True}]}, "verdicts.0.accepted: Field required"),
    ("question_validator", {"verdicts": [{"accepted": True, "why": 1}]}, "verdicts.0.why"),
    ("question_validator", {**OK, "stop": "tired"}, "expected a stop reason .*'tired'"),
    ("question_validator", {**OK, "memory": {}}, "got the key 'memory'"),
    ("question_validator", 3, r"expected an update \(a dict\), got int 3"),
    ("answer_validator", "accepted", r"expected an update \(a dict\), got str"),
    ("answer_validator", {"verdicts": [{"accepted": True, "spans": [{"text": "x"}]}]}, "spans.*start"),
    ("answer_validator", {"verdicts": [{"accepted": False, "reason": 5}]}, "reason"),
    ("answer_validator", {"verdicts": [{"accepted": True, "notes": "abc"}]}, "notes"),
    ("user_prompt_selector", {"prompt": "ask!"}, "prompt: .*dictionary"),
    ("turn_recorder", {"memory": {}}, "got the key 'memory'"),
    ("closing", {"labels": {"coverage": float("inf")}}, "plain JSON"),
    ("closing", {"usage": {"tokens": 3}}, "tokens"),
    ("assistant", 7, "the function answered with int"),
    ("assistant", {"draft": "x"}, "got the key 'draft'"),
    ("assistant", {**SAID, "memory": 3}, "memory: .*int 3"),
    ("assistant", {**SAID, "memory": {"x": {1}}}, "expected plain JSON values"),
    ("assistant", {**SAID, "frames": "x"}, "frames: "),
]
OF_DRAFTS: list[tuple[dict[str, Any], str]] = [
    ({"usage": {"total_tokens": 3}}, "usage.total_tokens"),
    ({"raw": 3}, "raw"),
    ({"spans": [{"text": "x"}]}, "spans.*start"),
    ({"labels": {"sure": float("nan")}}, "plain JSON"),
    ({"tool_calls": [{"arguments": {}}]}, "tool_calls.0.name"),
    ({"tool_calls": [{"name": "a", "args": {}}]}, "tool_calls.0.args"),
    ({"tool_calls": "look_up"}, "tool_calls"),
    ({"finish_reason": 3}, "finish_reason"),
    ({"kept": {"a": {1}}}, "kept"),
    ({"thoughts": "a"}, "thoughts"),
]


@pytest.mark.parametrize(
    ("place", "update", "problem"),
    [*UNFIT, *(("assistant", {"drafts": [{"text": "x", **more}]}, problem) for more, problem in OF_DRAFTS)],
)
async def test_an_update_that_breaks_the_contract_says_what_was_expected_and_what_came(place, update, problem):
    async def own_node(state, runtime):
        return update

    with pytest.raises(ContractError, match=f"{place}: .*{problem}"):
        await conversation(talk(**{place: own_node})).ainvoke(SCENARIO)
    assert await conformance.problems(place, own_node) != []


async def test_a_scenario_that_cannot_begin_is_a_failed_conversation_beside_others():
    planned: Any = SCENARIO | {"messages": [{"role": "system", "text": "x"}]}
    failed, other = await asimulate(talk(), [planned, SCENARIO], limits=Limits(max_turns=1))
    assert "the first messages: role" in failed.failure.error
    assert (failed.stop, failed.scenario, other.stop) == ("model_failed", SCENARIO["scenario"], "max_turns")


@pytest.mark.parametrize("place", PLACES)
async def test_the_nodes_of_the_casts_conform_in_states_with_tools_and_cuts(place):
    drafts = [draft for state in conformance.states(place).values() for draft in state["drafts"]]
    assert any(draft.get("finish_reason") == "length" for draft in drafts)
    assert any(draft.get("tool_calls") for draft in drafts)
    for cast in (simquac.cast(), simquac.cast(as_published=True)):
        await conformance.conforms(place, cast.nodes[place])
