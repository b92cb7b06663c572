"""Stops: the limits, the token budget, the criteria and the nodes that end a conversation."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from duologue import nodes
from duologue.graphs import conversation, record, simquac
from duologue.graphs.graph import fuse
from duologue.nodes import Limits, stops
from duologue.nodes.replies.conversion import draft
from tests.graphs.conversations.test_topology import play


async def test_a_missing_context_means_the_limits_of_the_cast(casting, topic):
    cast = casting(["Who lived there?"], limits=Limits(max_turns=3))
    graph = conversation(cast)
    assert (await graph.ainvoke(simquac.scenario(topic)))["turn"] == 3
    assert (await graph.ainvoke(simquac.scenario(topic), context=Limits()))["turn"] == 3
    assert (await graph.ainvoke(simquac.scenario(topic), context=Limits(max_turns=1)))["turn"] == 1


async def test_nodes_see_complete_limits(casting, topic, scripted):
    seen = []

    async def recorder(state, runtime):
        seen.append(runtime.context)
        return {}

    graph = conversation(casting(["Who?"], limits=Limits(max_turns=1), turn_recorder=recorder))
    await graph.ainvoke(simquac.scenario(topic))
    assert seen == [Limits(max_turns=1)]


async def test_the_limits_hold_whatever_the_criterion_says(casting, topic):
    conversation = await play(casting(["Who lived there?"], stop=lambda state, limits: None), topic, max_turns=2)
    assert (conversation.stop, len(conversation.exchanges)) == ("max_turns", 2)


async def test_a_fork_under_other_limits_says_which(topic):
    graph = conversation(simquac.cast(), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    await graph.ainvoke(simquac.scenario(topic), config, context=Limits(max_turns=2, seed=1))
    history = [snapshot async for snapshot in graph.aget_state_history(config)]
    middle = next(s for s in history if s.next == ("user_prompt_selector",) and s.values.get("turn") == 1)
    state = await graph.ainvoke(None, middle.config, context=Limits(max_turns=3, seed=2))
    conversation_record = record(state)
    assert (conversation_record.provenance.limits["seed"], len(conversation_record.exchanges)) == (2, 3)


@pytest.mark.parametrize("place", ["question_validator", "answer_validator"])
async def test_both_validators_can_stop(casting, topic, place):
    async def stopping(state, runtime):
        return {"verdicts": [{"accepted": True, "stored": False} for _ in state["drafts"]], "stop": "user_ended"}

    conversation = await play(casting(["Thank you, goodbye."], **{place: stopping}), topic)
    assert conversation.stop == "user_ended"
    assert conversation.messages[-1].stored is False


@pytest.mark.parametrize("place", ["question_validator", "answer_validator"])
async def test_a_validator_can_stop_when_a_side_says_nothing(casting, topic, place):
    async def stopping(state, runtime):
        return {
            "verdicts": [{"accepted": True} for _ in state["drafts"]],
            "stop": None if state["drafts"] else "budget",
        }

    answers: dict[str, list[Any]] = {"question_validator": ["Three keepers"], "answer_validator": [[]]}
    cast = casting(["Who lived there?", []], answers[place])
    conversation = await play(cast.replace(**{place: stopping}), topic)
    assert conversation.stop == "budget"
    assert conversation.messages[-1].role == ("assistant" if place == "question_validator" else "user")


async def test_a_user_simulator_can_end_the_conversation(casting, topic):
    conversation = await play(casting([{"drafts": [], "stop": "user_gave_up"}]), topic)
    assert (conversation.stop, conversation.messages) == ("user_gave_up", ())


async def test_the_stop_criterion_is_asked_after_the_question_and_after_the_exchange(casting, topic):
    moments = []

    def stop(state, limits):
        moments.append((state["turn"], nodes.said(state)[-1]["role"]))
        return "budget" if len(moments) == 3 else None

    conversation = await play(casting(["Who lived there?"], stop=stop), topic)
    assert moments == [(0, "user"), (1, "assistant"), (1, "user")]
    assert conversation.stop == "budget"
    assert conversation.messages[-1].role == "user"


async def test_a_stop_reason_outside_the_closed_set_is_refused(casting, topic):
    with pytest.raises(
        TypeError,
        match=r"stop: expected one of agent_interrupted, agent_timeout, assistant_rejected, budget, .*'tired'",
    ):
        await conversation(casting(["Who?"], stop=lambda state, limits: "tired")).ainvoke(simquac.scenario(topic))


async def test_last_drafts_are_judged_before_the_stop_that_comes_with_them(casting, topic):
    last_reply = {"drafts": [draft("1. a\n2. b")], "stop": "user_ended"}
    conversation = await play(casting([last_reply]), topic)
    assert (conversation.stop, conversation.messages) == ("user_ended", ())
    assert conversation.unsaid[0].attempts[0].reason == "enumeration"


async def test_a_prefix_that_has_reached_the_limit_costs_no_further_call(casting, topic):
    first_messages = (await play(casting(["Who lived there?"]), topic, max_turns=2)).messages
    cast = casting(["And then?"])
    conversation = await play(cast, topic, messages=first_messages, max_turns=2)
    assert (conversation.stop, conversation.messages) == ("max_turns", first_messages)
    assert cast.user_simulator.seen == []


async def test_a_question_that_waits_is_not_answered_once_the_limit_is_reached(casting, topic):
    first_messages = (await play(casting(["Who lived there?"]), topic, max_turns=2)).messages[:3]
    cast = casting(["And then?"])
    conversation = await play(cast, topic, messages=first_messages, max_turns=1)
    assert (conversation.stop, conversation.messages) == ("max_turns", first_messages)
    assert cast.assistant.seen == []


async def test_the_token_budget_holds_while_an_answer_is_asked_for_again(topic):
    cast = simquac.cast(assistant="offline?paraphrase=1")
    conversation = await play(cast, topic, max_tokens=500, answer_attempts=50)
    assert conversation.stop == "budget"
    assert conversation.usage.tokens < 2000


async def test_the_token_budget_holds_while_a_question_is_asked_for_again(casting, topic):
    costly = {"drafts": [draft("1. a\n2. b") | {"usage": {"input_tokens": 30, "output_tokens": 10, "calls": 1}}]}
    conversation = await play(casting([costly]), topic, max_tokens=100, question_attempts=50)
    assert (conversation.stop, conversation.usage.tokens) == ("budget", 120)
    assert [len(turn.attempts) for turn in conversation.unsaid] == [3]


def test_drafts_of_a_turn_without_a_message_count_for_the_token_budget():
    tried = {"role": "user", "at": 0, "text": "", "usage": {"input_tokens": 30, "output_tokens": 10}}
    state: nodes.State = {"scenario": {}, "attempts": [tried]}
    assert stops.budget(state, Limits(max_tokens=40)) == "budget"
    assert stops.budget(state, Limits(max_tokens=41)) is None


def test_calls_without_reported_tokens_count_for_the_token_budget_by_characters():
    calls = [
        {"role": "user", "at": at, "text": "b" * 40, "usage": {"input_tokens": 0, "output_tokens": 0, "calls": 1}}
        for at in range(2)
    ]
    state: dict[str, Any] = {
        "scenario": {"kind": "call", "about": ["a" * 4000]},
        "messages": [HumanMessage("b" * 40)] * 2,
        "attempts": calls,
    }
    # Two calls with the scenario, the second one with the first message too.
    assert stops.budget(state, Limits(max_tokens=2020)) == "budget"
    assert stops.budget(state, Limits(max_tokens=2200)) is None
    reported = calls[0] | {"usage": {"input_tokens": 9, "output_tokens": 1}}
    assert stops.budget(state | {"attempts": [reported]}, Limits(max_tokens=11)) is None


async def test_the_token_budget_stops_a_conversation(topic):
    conversation = await play(simquac.cast(), topic, max_tokens=1200)
    assert conversation.stop == "budget"
    assert 1200 <= conversation.usage.tokens < 3000


async def test_coverage_and_nothing_new_are_ready_made_criteria(casting, topic):
    cast = casting(["Who?"], ["Three keepers lived there (with a dog).", "The last one left in 1968."])
    either = stops.any_of(stops.max_turns, stops.coverage_reached(0.6))
    conversation = await play(cast.replace(stop=either), topic)
    assert (conversation.stop, len(conversation.exchanges)) == ("user_ended", 2)
    conversation = await play(cast.replace(stop=stops.nothing_new_for(2)), topic)
    assert (conversation.stop, len(conversation.exchanges)) == ("user_gave_up", 4)


async def test_the_recursion_fuse_of_the_limits_is_never_reached_by_a_conversation_within_them(casting, topic):
    limits = Limits(max_turns=3, question_attempts=2, answer_attempts=3)
    cast = casting(["", "Who?"], ["Nobody"])
    graph = conversation(cast)
    state = await graph.ainvoke(simquac.scenario(topic), {"recursion_limit": fuse(limits)}, context=limits)
    assert state["stop"] == "max_turns"
