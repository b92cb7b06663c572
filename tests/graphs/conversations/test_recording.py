"""Every state that a conversation can be in becomes a record, and a record becomes JSON and comes back."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from duologue import data
from duologue.data import Message
from duologue.data.simquac import Topic
from duologue.graphs import conversation, record, simquac
from duologue.graphs.opening import begun, id_of
from duologue.nodes import Limits
from duologue.nodes.replies.conversion import draft
from duologue.nodes.settings import redaction
from duologue.runs import asimulate
from duologue.runs.engine.conversing import converse
from tests.graphs.played import played

TEXTS = st.sampled_from(
    [
        "",
        "Who lived there?",
        "1. a\n2. b",
        "Three keepers",
        "nothing of this",
        "</note>{{ x }}",
        "\ud800 half",
        "\u2028\x00",
    ]
)
SAYS = st.one_of(
    TEXTS,
    st.lists(TEXTS, max_size=3),
    st.sampled_from([RuntimeError("down"), {"drafts": [], "stop": "user_ended"}]),
)
TOPIC = Topic(title="t", header="h", section="Three keepers lived there. The last one left in 1968.")


def speaker(script):
    calls = iter(range(10**6))

    async def speak(state, runtime):
        line = script[next(calls) % len(script)]
        if isinstance(line, Exception):
            raise line
        if isinstance(line, dict):
            return line
        return {"drafts": [draft(text) for text in ([line] if isinstance(line, str) else line)]}

    return speak


@settings(max_examples=25)
@given(
    user=st.lists(SAYS, min_size=1, max_size=4),
    assistant=st.lists(SAYS, min_size=1, max_size=4),
    attempts=st.integers(1, 3),
    fallback=st.sampled_from([None, "I cannot find the answer."]),
)
def test_every_reachable_state_becomes_a_record_that_survives_json(user, assistant, attempts, fallback):
    cast = simquac.cast().replace(user_simulator=speaker(user), assistant=speaker(assistant), fallback=fallback)
    limits = Limits(max_turns=3, question_attempts=attempts, answer_attempts=attempts)

    seen: list[Any] = []
    kept: list[data.Conversation] = []
    asyncio.run(converse(conversation(cast), simquac.scenario(TOPIC), limits, kept.append, seen.append))
    drafts = 0
    for conversation_record in (*map(record, seen), *kept):
        line = data.record_lines.line(conversation_record)
        assert data.Conversation.from_plain(json.loads(line)) == conversation_record
        now = sum(1 for _ in conversation_record.attempts())
        assert now >= drafts  # no draft is ever lost
        drafts = now
    assert [conversation_record.stop is None for conversation_record in kept] == [False]
    stored = JsonPlusSerializer(pickle_fallback=False)
    assert stored.loads_typed(stored.dumps_typed(seen[-1])) == seen[-1]


def test_an_initial_state_is_a_conversation_that_has_not_begun():
    conversation = record(simquac.scenario(TOPIC))
    assert conversation.messages == ()
    assert conversation.stop is None
    assert conversation.scenario["section"] == TOPIC.section


def test_a_state_in_which_nothing_has_begun_is_refused_by_name():
    with pytest.raises(ValueError, match="the state has no scenario: no conversation has begun in it"):
        record({})


async def test_a_conversation_that_began_with_messages_says_so_in_its_provenance():
    messages = [Message(role="user", text="Who lived there?")]
    records = [
        record(await simquac.graph.ainvoke(begun(simquac.scenario(TOPIC, messages=m)), context=Limits(max_turns=1)))
        for m in ((), messages)
    ]
    assert records[0].provenance.begun == ""
    assert len(records[1].provenance.begun) == 16


async def test_the_record_says_where_it_comes_from():
    state = await conversation(simquac.cast()).ainvoke(simquac.scenario(TOPIC), context=Limits(max_turns=1, seed=7))
    provenance = record(state).provenance
    assert provenance.cast == "simquac"
    assert provenance.nodes["assistant"].settings["model"] == {"spec": "offline", "arguments": {}}
    assert provenance.prompts["user/start"] == record(state).messages[0].prompt.digest
    assert provenance.limits["seed"] == 7
    assert provenance.data == data.identity.digest(TOPIC.scenario())
    assert provenance.version


async def test_times_stand_in_one_place_only():
    runs = [await played(simquac.cast(), simquac.scenario(TOPIC), Limits(max_turns=2)) for _ in range(2)]
    assert runs[0].timing.nodes["assistant"].runs == 2
    assert runs[0].without_timing() == runs[1].without_timing()


async def test_an_answer_that_is_being_judged_stands_in_the_record_as_unjudged():
    graph = conversation(simquac.cast())
    seen = [
        record(state)
        async for state in graph.astream(simquac.scenario(TOPIC), context=Limits(max_turns=1), stream_mode="values")
    ]
    assert any(
        turn.attempts[0].verdict == "unjudged" for conversation_record in seen for turn in conversation_record.unsaid
    )
    assert not seen[-1].unsaid


@pytest.mark.parametrize("build", [simquac.cast, simquac.as_published])
async def test_a_bare_scenario_a_conversation_and_a_run_have_one_id(build):
    cast = build()
    scenario = simquac.scenario(TOPIC, messages=[Message(role="user", text="Who lived there?")])
    bare = record(begun(scenario), cast.name)
    ended = record(await conversation(cast).ainvoke(begun(scenario), context=Limits(max_turns=1)))
    (of_a_run,) = await asimulate(cast, [scenario], limits=Limits(max_turns=1))
    assert bare.id == ended.id == of_a_run.id == id_of(scenario, cast.name)


def test_the_ids_of_runs_are_what_they_were():
    casts = (simquac.cast(), simquac.as_published())
    ids = [record(begun(simquac.scenario(TOPIC)), cast.name).id for cast in casts]
    assert ids == ["5c9a81d927e0f143", "e00d1afdcb7ad32b"]


SECRET = "proj-zzzzsecretvalue99"


def told_everywhere():
    """A state in which the key stands in every text that a node can write."""
    call = {"name": "pay", "arguments": {"key": SECRET}, "result": f"paid with {SECRET}", "error": f"401: {SECRET}"}
    attempt = {"number": 1, "text": SECRET, "verdict": "accepted", "tool_calls": [call], "reasoning": f"use {SECRET}"}
    attempt |= {"kept": {"notes": [SECRET]}, "raw": SECRET}
    said = {"role": "assistant", "turn": 0, "at": 0, "message": "1", "labels": {"said": SECRET}}
    rejected = {"role": "user", "turn": 1, "at": 1, "verdict": "rejected", "reason": "empty"}
    return {
        "scenario": {"kind": "messages"},
        "messages": [AIMessage(f"It is {SECRET}.", id="1")],
        "attempts": [attempt | said, attempt | rejected],
        "labels": {"note": [SECRET], SECRET: 1},
        "memory": {"user": {"key": SECRET}},
        "extra": {"log": SECRET},
    }


def test_a_key_of_the_environment_stands_nowhere_in_a_record(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("MINE_ACCESS_TOKEN", "tokenofmine77")
    state = told_everywhere()
    state["messages"][0].content += " tokenofmine77"
    text = json.dumps(record(state, memory=True).plain())
    assert "secretvalue" not in text
    assert "tokenofmine" not in text
    assert text.count("[key]") >= 15
    assert record(state).messages[0].text == "It is [key]. [key]"


async def test_a_key_of_the_environment_stands_not_in_a_failure_either(monkeypatch):
    monkeypatch.setenv("MINE_ACCESS_TOKEN", SECRET)
    cast = simquac.cast().replace(user_simulator=speaker([RuntimeError(f"401: {SECRET}")]))
    failed = await played(cast, simquac.scenario(TOPIC))
    assert failed.failure is not None
    assert failed.failure.error.startswith("RuntimeError: 401: [key]")
    assert SECRET not in json.dumps(failed.plain())


def test_a_placeholder_for_a_key_and_what_only_looks_like_one_stay_in_texts(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not-needed")
    text = "A key is not-needed. Bearer of sk-abcdefgh is a made-up name."
    state = {"scenario": {"kind": "messages"}, "messages": [HumanMessage(text)]}
    assert record(state).messages[0].text == text


def test_looking_for_secrets_costs_nothing_per_message_where_none_is_known(monkeypatch, steps):
    monkeypatch.setattr(redaction, "_secrets", set())
    redaction._look_through.cache_clear()
    redaction.without_known_secrets({})  # the environment is looked at again only when it has changed

    def state(count):
        return {"messages": [{"role": "user", "text": "a"}] * count}

    assert steps(redaction.without_known_secrets, state(1)) == steps(redaction.without_known_secrets, state(500))
