"""What ends a conversation: limits, the token budget, criteria, nodes, and reasons of a cast's own."""

import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from duologue import nodes
from duologue.data.executed_graph import executed
from duologue.graphs import conversation, record, simquac
from duologue.nodes import Limits
from duologue.runs import RunError, asimulate
from duologue.runs.store import standing
from tests.graphs.played import SCENARIO, fuse, played, talk

OWN = {"transferred": "assistant", "no_database": "infrastructure", "agreed": "none"}


async def play(cast, topic, messages=(), **limits):
    return await played(cast, simquac.scenario(topic, messages=messages), Limits(**limits))


async def test_the_limits_hold_whatever_the_criterion_says(casting, topic):
    ended = await play(casting(["Who lived there?"], stop=lambda state, limits: None), topic, max_turns=2)
    assert (ended.stop, len(ended.exchanges)) == ("max_turns", 2)


@pytest.mark.parametrize("place", ["question_validator", "answer_validator"])
async def test_both_validators_can_stop_also_when_a_side_says_nothing(casting, topic, place):
    async def goodbye(state, runtime):
        return {"verdicts": [{"accepted": True, "stored": False} for _ in state["drafts"]], "stop": "user_ended"}

    async def silent(state, runtime):
        return {"verdicts": [{"accepted": True}]} if state["drafts"] else {"stop": "budget"}

    ended = await play(casting(["Thank you, goodbye."], **{place: goodbye}), topic)
    assert (ended.stop, ended.messages[-1].stored) == ("user_ended", False)
    lines: Any = (["Who?", []], ["Three keepers"]) if place == "question_validator" else (["Who?"], [[]])
    ended = await play(casting(*lines, **{place: silent}), topic)
    assert (ended.stop, ended.messages[-1].role) == ("budget", "assistant" if len(lines[0]) == 2 else "user")


async def test_a_user_simulator_can_end_it_and_last_drafts_are_judged_before(casting, topic):
    ended = await play(casting([{"drafts": [], "stop": "user_gave_up"}]), topic)
    assert (ended.stop, ended.messages) == ("user_gave_up", ())
    ended = await play(casting([{"drafts": [{"text": "1. a\n2. b"}], "stop": "user_ended"}]), topic)
    assert (ended.stop, ended.messages) == ("user_ended", ())
    assert ended.unsaid[0].attempts[0].reason == "enumeration"


async def test_a_stop_that_somebody_sets_in_a_checkpoint_holds_at_once():
    asked = []
    graph = conversation(
        talk(assistant=lambda state: asked.append(1)), checkpointer=InMemorySaver(), interrupt_before=["assistant"]
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke(SCENARIO, config)
    await graph.aupdate_state(config, {"stop": "user_gave_up"})
    state = await graph.ainvoke(None, config)
    assert (state["stop"], len(state["messages"]), asked) == ("user_gave_up", 1, [])


async def test_the_stop_criterion_is_asked_after_the_question_and_after_the_exchange(casting, topic):
    moments = []

    def stop(state, limits):
        moments.append((state["turn"], nodes.said(state)[-1]["role"]))
        return "budget" if len(moments) == 3 else None

    ended = await play(casting(["Who lived there?"], stop=stop), topic)
    assert moments == [(0, "user"), (1, "assistant"), (1, "user")]
    assert (ended.stop, ended.messages[-1].role) == ("budget", "user")


async def test_a_beginning_that_has_reached_the_limit_costs_no_further_call(casting, topic):
    first = (await play(casting(["Who lived there?"]), topic, max_turns=2)).messages
    for messages, turns in ((first, 2), (first[:3], 1)):  # the question that waits is not answered either
        cast = casting(["And then?"])
        ended = await play(cast, topic, messages=messages, max_turns=turns)
        assert (ended.stop, ended.messages) == ("max_turns", messages)
        assert cast.user_simulator.seen == cast.assistant.seen == []
        assert [node.name for node in executed([ended]).nodes if node.runs] == [
            "__start__",
            "opening",
            "closing",
            "__end__",
        ]


async def test_the_recursion_fuse_of_the_limits_is_never_reached_by_a_conversation_within_them(casting, topic):
    limits = Limits(max_turns=3, question_attempts=2, answer_attempts=3)
    graph = conversation(casting(["", "Who?"], ["Nobody"]))
    state = await graph.ainvoke(simquac.scenario(topic), {"recursion_limit": fuse(limits)}, context=limits)
    assert state["stop"] == "max_turns"


# Reasons of a cast's own


def stopping(reason, **changes):
    def assistant(state):
        return {"drafts": [{"text": "Three keepers"}], "stop": reason}

    return talk(**{"name": "airline", "assistant": assistant, "stop_reasons": OWN} | changes)


@pytest.mark.parametrize(("name", "fault"), OWN.items())
async def test_a_node_or_a_criterion_may_end_a_conversation_for_a_reason_of_its_casts(name, fault):
    reason = f"airline:{name}"
    criterion = talk(name="airline", stop_reasons=OWN, stop=lambda state, limits: reason if state["turn"] else None)
    for cast in (stopping(reason), criterion):
        ended = record(await conversation(cast).ainvoke(SCENARIO))
        assert (ended.stop, ended.fault, len(ended.messages)) == (reason, fault, 2)
        assert json.loads(json.dumps(ended.plain()))["provenance"]["stop_reasons"][reason] == fault


async def test_a_resumed_run_tries_again_only_what_infrastructure_ended_and_has_the_same_reasons(tmp_path):
    out = tmp_path / "run"
    (first,) = await asimulate(stopping("airline:no_database"), [SCENARIO], out=out)
    assert (first.stop, standing(out).complete) == ("airline:no_database", False)
    changed = stopping("airline:agreed", stop_reasons=OWN | {"agreed": "user"})
    with pytest.raises(RunError, match=r"stop_reasons\.airline:agreed"):
        await asimulate(changed, [SCENARIO], out=out)
    (again,) = await asimulate(stopping("airline:transferred"), [SCENARIO], out=out)
    assert (again.stop, standing(out).complete) == ("airline:transferred", True)
