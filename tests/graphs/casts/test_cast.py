"""Casts: frozen, and checked when something is put in another's place."""

import dataclasses
from itertools import combinations

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from duologue.graphs import conversation, record, simquac
from duologue.nodes import (
    AgentSpeaker,
    ContractError,
    Limits,
    accept_all,
    chat_model,
    conformance,
    draft,
    every,
    prompt,
    stops,
    validator,
)
from duologue.nodes.state import PLACES


def test_a_cast_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        simquac.cast().name = "x"  # type: ignore[misc]


async def _no_runtime(state):
    return {}


def _not_async(state, runtime):
    return {}


class _Node:
    async def __call__(self, state, runtime):
        return {}


@pytest.mark.parametrize(
    ("replacement", "problem"),
    [
        ({"assistant": 3}, r"assistant: expected a node, async def .*got int 3"),
        ({"question_validator": "offline"}, r"question_validator: expected a node.*got str 'offline'"),
        ({"question_validator": _not_async}, r"question_validator: .*_not_async, which is not async"),
        ({"question_validator": _no_runtime}, r"question_validator: .*parameters \(state\)"),
        ({"closing": _Node}, r"closing: .*the class _Node: give an instance"),
        ({"asistant": _Node()}, r"asistant: a cast has no such part, only .*answer_validator"),
        ({"stop": accept_all}, r"stop: expected a plain function .*async"),
        ({"stop": lambda state: None}, r"stop: .*does not take two arguments"),
        ({"stop": 3}, r"stop: expected a plain function .*int 3"),
        ({"limits": {"max_turns": 3}}, r"limits: expected Limits\(\.\.\.\), got dict"),
    ],
)
def test_a_replacement_is_checked_when_it_is_made(replacement, problem):
    with pytest.raises(ContractError, match=problem):
        simquac.cast().replace(**replacement)


def test_functions_methods_objects_and_validators_of_functions_are_nodes():
    cast = simquac.cast()
    node = _Node()
    for own_node in (node, node.__call__, accept_all, validator(lambda draft, state: None)):
        assert cast.replace(closing=own_node).closing is own_node


@pytest.mark.parametrize(
    ("update", "problem"),
    [
        ({"verdict": []}, r"question_validator: expected an update with stop or verdicts, got the key 'verdict'"),
        ({"verdicts": []}, r"question_validator: expected 1 verdicts, one for each draft, got 0"),
        (
            {"verdicts": [{"accepted": True}] * 2, "stop": "user_ended"},
            r"question_validator: expected 1 verdicts, one for each draft, got 2",
        ),
        ({"verdicts": [{"ok": True}]}, r"question_validator: expected each of 'verdicts' to have 'accepted' \(bool\)"),
        ({"verdicts": [{"accepted": True, "why": 1}]}, r"expected 'verdicts' without the key 'why'"),
        ({"verdicts": [{"accepted": True}], "stop": "tired"}, r"expected a stop reason .*'tired'"),
        ({"verdicts": [{"accepted": True}], "memory": {}}, r"question_validator: .*got the key 'memory'"),
        (None, r"question_validator: expected an update \(a dict\), got NoneType None"),
    ],
)
async def test_an_update_that_breaks_the_contract_says_what_was_expected_and_what_came(topic, update, problem):
    async def own_validator(state, runtime):
        return update

    graph = conversation(simquac.cast().replace(question_validator=own_validator))
    with pytest.raises(ContractError, match=problem):
        await graph.ainvoke(simquac.scenario(topic))


async def test_a_selector_must_give_a_prompt(topic):
    async def own_selector(state, runtime):
        return {"prompt": "ask!"}

    graph = conversation(simquac.cast().replace(user_prompt_selector=own_selector))
    with pytest.raises(
        ContractError, match="user_prompt_selector: expected a prompt with the texts name, digest and text"
    ):
        await graph.ainvoke(simquac.scenario(topic))


async def test_a_state_without_a_scenario_is_refused_by_name():
    with pytest.raises(ContractError, match="the initial state has no 'scenario'"):
        await conversation(simquac.cast()).ainvoke({"messages": []})


async def test_messages_that_are_none_are_refused_by_name(topic):
    state = simquac.scenario(topic)
    with pytest.raises(ContractError, match=r"the initial state's messages: role"):
        await simquac.graph.ainvoke({**state, "messages": [{"role": "system", "text": "x"}]})


async def test_somebodys_own_graph_stands_in_the_assistants_place_as_it_is(topic):
    sent = []

    async def model(state: MessagesState):
        sent.append(state["messages"])
        return {"messages": [AIMessage("<think>hm</think>The last one left in 1968.")]}

    agent = StateGraph(MessagesState).add_node("model", model).add_edge(START, "model").compile(name="mine")
    cast = simquac.cast().replace(assistant=agent)
    conversation_record = record(await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=2)))
    assert [m.text for m in conversation_record.messages if m.role == "assistant"] == ["The last one left in 1968."] * 2
    assert conversation_record.messages[1].attempts[0].cleaned == ("reasoning",)
    assert conversation_record.provenance.nodes["assistant"].label == "mine"
    assert conversation_record.provenance.nodes["assistant"].flat() == {
        "name": "AgentSpeaker",
        "agent": "mine",
        "view": {"name": "Talk"},
    }
    assert [len(messages) for messages in sent] == [1, 3]
    shown = simquac.cast().replace(assistant=AgentSpeaker("assistant", agent, system=True))
    conversation_record = record(
        await conversation(shown).ainvoke(simquac.scenario(topic), context=Limits(max_turns=1))
    )
    assert conversation_record.provenance.nodes["assistant"].settings["view"] == {
        "name": "TeacherMessages",
        "tokens": 40,
    }
    assert "1968" in sent[2][1].content  # the agent sees what the teacher sees


async def test_an_agent_that_says_nothing_new_says_nothing(topic):
    async def silent(state: MessagesState):
        return {"messages": []}

    agent = StateGraph(MessagesState).add_node("silent", silent).add_edge(START, "silent").compile()
    cast = simquac.cast().replace(assistant=agent)
    conversation_record = record(await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=2)))
    assert {message.role for message in conversation_record.messages} == {"user"}


def test_a_graph_that_does_not_speak_messages_is_refused():
    from typing import TypedDict

    class Other(TypedDict):
        query: str

    agent = StateGraph(Other).add_node("x", lambda state: state).add_edge(START, "x").compile()
    with pytest.raises(ContractError, match="an agent whose state has 'messages', got a graph with query"):
        simquac.cast().replace(assistant=agent)


def test_the_cast_describes_its_nodes_models_and_settings():
    cast = simquac.cast(assistant="offline?paraphrase=0.5", question_words=9)
    description = cast.describe()
    assert description["assistant"].flat() == {
        "name": "ChatSpeaker",
        "model": {"spec": "offline", "arguments": {"paraphrase": 0.5}},
        "view": {"name": "TeacherMessages", "tokens": 40},
    }
    assert (description["assistant"].label, description["assistant"].role) == ("offline?paraphrase=0.5", "assistant")
    assert description["question_validator"].settings["words"] == 9
    assert cast.words["fallback"] == "I cannot find the answer."


@pytest.mark.parametrize(
    ("field", "value"), [("max_turns", 0), ("seed", "1"), ("question_attempts", 2.0), ("max_tokens", True)]
)
def test_limits_are_checked(field, value):
    with pytest.raises((TypeError, ValueError), match=f"Limits.{field} must be"):
        Limits(**{field: value})


def test_a_model_stands_in_a_speakers_place_by_spec_or_as_an_instance():
    cast = simquac.cast()
    for assistant in ("offline?empty=0.5", chat_model("offline", empty=0.5)):
        replaced = cast.replace(assistant=assistant)
        assert replaced.describe()["assistant"].settings["model"] == {"spec": "offline", "arguments": {"empty": 0.5}}
        assert vars(replaced.assistant)["build"] is vars(cast.assistant)["build"]
    with pytest.raises(ValueError, match="model 'gpt' is unknown"):
        cast.replace(assistant="gpt")


def test_a_model_needs_messages_and_says_so():
    cast = simquac.cast().replace(assistant=accept_all)
    with pytest.raises(ContractError, match=r"assistant: .*builds no messages that could be sent to a model"):
        cast.replace(assistant="offline")


def test_casts_with_other_criteria_or_functions_describe_themselves_otherwise():
    def one(draft, state):
        return None

    def other(draft, state):
        return "no"

    cast = simquac.cast()
    descriptions = [
        cast.describe(),
        cast.replace(stop=stops.coverage_reached(0.5)).describe(),
        cast.replace(stop=stops.coverage_reached(0.6)).describe(),
        cast.replace(stop=stops.any_of(stops.max_turns, stops.nothing_new_for(2))).describe(),
        cast.replace(question_validator=validator(one)).describe(),
        cast.replace(question_validator=validator(other)).describe(),
    ]
    assert all(a != b for a, b in combinations(descriptions, 2))


async def test_validators_stand_one_after_the_other(topic):
    def polite(draft, state):
        return None if "please" in draft["text"] else "rude"

    def noted(draft, state):
        return {"accepted": True, "notes": ["read"]}

    cast = simquac.cast().replace(
        user_simulator=saying("Who, please?", "Who?", "1. Who, please?\n2. x"),
        question_validator=every(simquac.cast().question_validator, validator(noted), validator(polite)),
    )
    conversation_record = record(await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=2)))
    attempts = list(conversation_record.attempts("user"))
    assert [(a.verdict, a.reason, a.notes) for a in attempts[:3]] == [
        ("accepted", None, ("read",)),
        ("rejected", "rude", ("read",)),
        ("rejected", "enumeration", ()),
    ]
    assert attempts[2].prompt.name == "user/repair_other"


def saying(*lines):
    calls = iter(range(10**6))

    async def speak(state, runtime):
        return {"drafts": [draft(lines[next(calls) % len(lines)])]}

    return speak


@pytest.mark.parametrize("judge", [3, lambda draft: None, accept_all])
def test_a_function_that_is_no_judge_is_refused(judge):
    with pytest.raises(ContractError, match="validator: expected a function"):
        validator(judge)


async def test_a_selector_of_ones_own_gives_a_prompt_of_its_own(topic):
    async def own_selector(state, runtime):
        return {"prompt": prompt("mine/next", "Ask about ships.")}

    cast = simquac.cast().replace(user_prompt_selector=own_selector)
    conversation_record = record(await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=1)))
    prompt_sent = conversation_record.messages[0].prompt
    assert (prompt_sent.name, prompt_sent.text, len(prompt_sent.digest)) == ("mine/next", "Ask about ships.", 16)


UNFIT = [
    ("assistant", {"drafts": [{"text": "x", "usage": {"total_tokens": 3}}]}, "usage.total_tokens"),
    ("assistant", {"drafts": [{"text": "x", "raw": 3}]}, "raw"),
    ("assistant", {"drafts": [{"text": "x", "spans": [{"text": "x"}]}]}, "spans.*start"),
    ("assistant", {"drafts": [{"text": "x", "labels": {"sure": float("nan")}}]}, "plain JSON"),
    ("answer_validator", {"verdicts": [{"accepted": True, "spans": [{"text": "x"}]}]}, "spans.*start"),
    ("answer_validator", {"verdicts": [{"accepted": False, "reason": 5}]}, "reason"),
    ("answer_validator", {"verdicts": [{"accepted": True, "notes": "abc"}]}, "notes"),
    ("closing", {"labels": {"coverage": float("inf")}}, "plain JSON"),
]


@pytest.mark.parametrize(
    ("place", "update", "problem"), UNFIT, ids=[f"{place}: {problem}" for place, _, problem in UNFIT]
)
async def test_what_no_record_could_hold_is_refused_where_it_is_said(topic, place, update, problem):
    async def own_node(state, runtime):
        return update

    cast = simquac.cast().replace(**{place: own_node})
    with pytest.raises(ContractError, match=rf"{place}: expected .*{problem}"):
        await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=1))
    assert any(problem.split(".")[0] in line for line in await conformance.problems(place, own_node))


def test_other_settings_of_views_and_judges_are_another_cast():
    assert simquac.cast(answer_tokens=10).describe() != simquac.cast().describe()


async def _asynchronous(state, limits):
    return None


@pytest.mark.parametrize(
    ("criterion", "problem"),
    [
        (lambda state: None, "any_of, criterion 2: expected a plain function .* does not take two arguments"),
        (_asynchronous, "any_of, criterion 2: .* is async: write def"),
        (stops.CoverageReached, "any_of, criterion 2: expected a plain function"),
        ("max_turns", "any_of, criterion 2: .* got str 'max_turns'"),
    ],
)
def test_a_stop_criterion_that_cannot_be_asked_is_refused_where_it_is_put_together(criterion, problem):
    with pytest.raises(ContractError, match=problem):
        stops.any_of(stops.max_turns, criterion)
    stops.any_of(stops.max_turns, stops.any_of(stops.budget))


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"tool_calls": [{"arguments": {}}]}, r"assistant: expected 'drafts' that a record can hold; tool_calls.name"),
        ({"tool_calls": [{"name": "a", "args": {}}]}, r"tool_calls.args: Extra inputs are not permitted"),
        ({"tool_calls": "look_up"}, r"tool_calls: Input should be a valid tuple"),
        ({"finish_reason": 3}, r"finish_reason: Input should be a valid string"),
        ({"kept": {"a": {1}}}, r"assistant: expected 'drafts' that a record can hold; kept"),
        ({"reasoning": ["a"]}, r"reasoning: Input should be a valid string"),
        ({"thoughts": "a"}, r"expected 'drafts' without the key 'thoughts'"),
    ],
)
async def test_what_a_draft_tells_of_its_call_is_checked(topic, more, problem):
    async def own_assistant(state, runtime):
        return {"drafts": [{"text": "Three keepers", **more}]}

    graph = conversation(simquac.cast().replace(assistant=own_assistant))
    with pytest.raises(ContractError, match=problem):
        await graph.ainvoke(simquac.scenario(topic))


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
    await conformance.conforms(place, getattr(simquac.cast(), place))
