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
    draft,
    every,
    prompt,
    stops,
    validator,
)


def test_a_cast_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        simquac.cast().name = "x"  # type: ignore[misc]


async def _other_names(conversation, run):
    return {}


class _Node:
    async def __call__(self, state, runtime):
        return {}


@pytest.mark.parametrize(
    ("replacement", "problem"),
    [
        ({"assistant": 3}, r"assistant: expected a node.*got int 3"),
        ({"question_validator": "offline"}, r"question_validator: expected a node.*got str 'offline'"),
        ({"question_validator": _other_names}, r"question_validator: .*parameters \(conversation, run\)"),
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
