"""Updates of nodes: what the contract refuses of them, and what the record keeps."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from duologue.graphs import conversation, record, simquac
from duologue.graphs.opening import begun
from duologue.nodes import Limits, conformance
from duologue.nodes.contract import ContractError
from duologue.nodes.state import PLACES
from duologue.runs import asimulate

OK = {"verdicts": [{"accepted": True}]}
UNFIT: list[tuple[str, Any, str]] = [
    ("question_validator", {"verdict": []}, "expected an update with stop or verdicts, got the key 'verdict'"),
    ("question_validator", {"verdicts": []}, "expected 1 verdicts, one for each draft, got 0"),
    ("question_validator", {"verdicts": [{"accepted": True}] * 2, "stop": "user_ended"}, "expected 1 verdicts.* got 2"),
    ("question_validator", {"verdicts": [{"ok": True}]}, "verdicts.0.accepted: Field required"),
    ("question_validator", {"verdicts": [{"accepted": True, "why": 1}]}, "verdicts.0.why"),
    ("question_validator", {**OK, "stop": "tired"}, "expected a stop reason .*'tired'"),
    ("question_validator", {**OK, "memory": {}}, "got the key 'memory'"),
    ("question_validator", 3, r"expected an update \(a dict\), got int 3"),
    ("answer_validator", {"verdicts": [{"accepted": True, "spans": [{"text": "x"}]}]}, "spans.*start"),
    ("answer_validator", {"verdicts": [{"accepted": False, "reason": 5}]}, "reason"),
    ("answer_validator", {"verdicts": [{"accepted": True, "notes": "abc"}]}, "notes"),
    ("user_prompt_selector", {"prompt": "ask!"}, "prompt: .*dictionary"),
    ("closing", {"labels": {"coverage": float("inf")}}, "plain JSON"),
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
async def test_an_update_that_breaks_the_contract_says_what_was_expected_and_what_came(topic, place, update, problem):
    async def own_node(state, runtime):
        return update

    cast = simquac.cast().replace(**{place: own_node})
    with pytest.raises(ContractError, match=f"{place}: .*{problem}"):
        await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=1))
    assert await conformance.problems(place, own_node) != []


async def test_a_state_without_a_scenario_or_with_other_messages_is_refused_by_name(topic):
    with pytest.raises(ContractError, match="the initial state has no 'scenario'"):
        await simquac.graph.ainvoke({"messages": []})
    state = simquac.scenario(topic)
    with pytest.raises(ContractError, match="the first messages: expected the user's and the assistant's, got a sys"):
        await simquac.graph.ainvoke({**state, "messages": [{"role": "system", "content": "x"}]})
    planned: Any = {**state, "messages": [{"role": "system", "text": "x"}]}
    with pytest.raises(ContractError, match="the first messages: role"):
        begun(planned)
    failed, other = await asimulate(simquac.cast(), [planned, state], limits=Limits(max_turns=1))
    assert "the first messages: role" in failed.failure.error
    assert (failed.stop, failed.scenario, other.stop) == ("model_failed", state["scenario"], "max_turns")


async def test_all_that_a_draft_tells_of_its_call_stands_in_the_record_also_before_it_is_judged(topic):
    call = {"name": "look_up", "arguments": {"a": [1]}, "result": {"b": None}, "error": None, "parts": []}
    call_details = {
        "finish_reason": "stop",
        "model": "m-0815",
        "reasoning": "hm",
        "tool_calls": [call],
        "kept": {"c": 1},
    }

    async def own_assistant(state, runtime):
        return {"drafts": [{"text": "Three keepers", **call_details}]}

    graph = conversation(simquac.cast().replace(assistant=own_assistant))
    stream = graph.astream(simquac.scenario(topic), context=Limits(max_turns=1), stream_mode="values")
    seen = [record(state) async for state in stream]
    unjudged = next(
        turn.attempts[0]
        for conversation_record in seen
        for turn in conversation_record.unsaid
        if turn.role == "assistant"
    )
    for attempt in (unjudged, seen[-1].messages[1].attempts[0]):
        assert attempt.model_dump(mode="json", include=set(call_details)) == call_details


async def test_reasoning_is_never_sent_to_anybody(topic):
    heard = []

    def reply(messages):
        heard.append(str(messages))
        text = "Nothing of this." if len(heard) == 2 else "The last one left in 1968."
        return AIMessage(text, additional_kwargs={"reasoning_content": "swordfish"})

    def ask(messages):
        heard.append(str(messages))
        return AIMessage("Who?", additional_kwargs={"reasoning_content": "swordfish"})

    conversation_record = record(
        await conversation(simquac.cast(ask, reply)).ainvoke(simquac.scenario(topic), context=Limits(max_turns=2))
    )
    assert {attempt.reasoning for attempt in conversation_record.attempts()} == {"swordfish"}
    assert any(attempt.verdict == "rejected" for attempt in conversation_record.attempts())
    assert "swordfish" not in "".join(heard)


@pytest.mark.parametrize("place", PLACES)
async def test_the_nodes_of_the_casts_conform_in_states_with_tools_and_cuts(place):
    states = conformance.states(place)
    drafts = [draft for state in states.values() for draft in state["drafts"]]
    assert any(draft.get("finish_reason") == "length" for draft in drafts)
    assert any(draft.get("tool_calls") for draft in drafts)
    await conformance.conforms(place, simquac.cast().nodes[place])
