"""Every state that a conversation can be in becomes a record, and a record becomes JSON and comes back."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from duologue import data
from duologue.data import Message
from duologue.data.simquac import Topic
from duologue.graphs import conversation, record, simquac
from duologue.nodes import Limits
from duologue.runs import asimulate
from tests.graphs.conftest import Scripted
from tests.graphs.played import SCENARIO, begun, converse, id_of, played, talk

TEXTS = st.sampled_from(
    ["", "Who lived there?", "1. a\n2. b", "Three keepers", "nothing of this", "</note>{{ x }}", "\ud800 half", "\u2028\x00"]
)  # fmt: skip
SAYS = st.one_of(
    TEXTS, st.lists(TEXTS, max_size=3), st.sampled_from([RuntimeError("down"), {"drafts": [], "stop": "user_ended"}])
)
SCRIPT = st.lists(SAYS, min_size=1, max_size=4)
TOPIC = Topic(title="t", header="h", section="Three keepers lived there. The last one left in 1968.")
ONE = Limits(max_turns=1, seed=7)


@settings(max_examples=25)
@given(user=SCRIPT, assistant=SCRIPT, attempts=st.integers(1, 3), fallback=st.sampled_from([None, "I cannot find it."]))
def test_every_reachable_state_becomes_a_record_that_survives_json(user, assistant, attempts, fallback):
    cast = simquac.cast().replace(user_simulator=Scripted(user), assistant=Scripted(assistant), fallback=fallback)
    limits = Limits(max_turns=3, question_attempts=attempts, answer_attempts=attempts)
    seen: list[Any] = []
    kept: list[data.Conversation] = []
    graph = conversation(cast)

    async def seen_on_the_way(*arguments: Any, **more: Any) -> Any:
        async for part in type(graph).astream(graph, *arguments, **more):
            seen.append(part)
            yield part

    graph.astream = seen_on_the_way  # type: ignore[method-assign]
    asyncio.run(converse(graph, simquac.scenario(TOPIC), limits, kept.append))
    drafts = 0
    for one in (*map(record, seen), *kept):
        assert data.Conversation.model_validate(json.loads(data.record_lines.line(one))) == one
        now = sum(1 for _ in one.attempts())
        assert now >= drafts  # no draft is ever lost
        drafts = now
    assert [one.stop is None for one in kept] == [False]
    stored = JsonPlusSerializer(pickle_fallback=False)
    assert stored.loads_typed(stored.dumps_typed(seen[-1])) == seen[-1]


def test_an_initial_state_is_a_conversation_that_has_not_begun_and_without_a_scenario_it_is_none():
    one = record(simquac.scenario(TOPIC))
    assert (one.messages, one.stop, one.scenario["section"]) == ((), None, TOPIC.section)
    with pytest.raises(ValueError, match="the state has no scenario"):
        record({})


async def test_the_record_says_where_it_comes_from():
    said = [Message(role="user", text="Who lived there?")]
    one, begun_with = [
        record(await conversation(simquac.cast()).ainvoke(begun(simquac.scenario(TOPIC, messages=messages)), context=ONE))
        for messages in ((), said)
    ]  # fmt: skip
    provenance = one.provenance
    assert (provenance.cast, provenance.limits["seed"], bool(provenance.version)) == ("simquac", 7, True)
    assert provenance.nodes["assistant"].settings["model"] == {"spec": "offline", "arguments": {}}
    assert provenance.prompts["user/start"] == one.messages[0].prompt.digest
    assert provenance.data == data.identity.digest(TOPIC.scenario())
    assert (provenance.begun, len(begun_with.provenance.begun)) == ("", 16)


async def test_all_that_a_draft_tells_of_its_call_stands_in_the_record_also_before_it_is_judged():
    call = {"name": "look_up", "arguments": {"a": [1]}, "result": {"b": None}, "error": None, "parts": []}
    told = {"finish_reason": "stop", "model": "m", "reasoning": "hm", "tool_calls": [call], "kept": {"c": 1}}
    graph = conversation(talk(assistant=lambda state: {"drafts": [{"text": "Three keepers", **told}]}))
    seen = [record(state) async for state in graph.astream(SCENARIO, context=ONE, stream_mode="values")]
    (waiting,) = (turn.attempts[0] for one in seen for turn in one.unsaid if turn.role == "assistant")
    assert (waiting.verdict, seen[-1].unsaid) == ("unjudged", ())
    for attempt in (waiting, seen[-1].messages[1].attempts[0]):
        assert attempt.model_dump(mode="json", include=set(told)) == told


async def test_reasoning_is_recorded_and_never_sent_to_anybody():
    heard = []

    def says(*lines):
        left = list(lines)

        def reply(messages):
            heard.append(str(messages))
            return AIMessage(left.pop(0), additional_kwargs={"reasoning_content": "swordfish"})

        return reply

    cast = simquac.cast(says("Who?", "When?"), says("Nothing of this.", "Three keepers", "The last one left in 1968."))
    one = record(await conversation(cast).ainvoke(simquac.scenario(TOPIC), context=Limits(max_turns=2)))
    assert {attempt.reasoning for attempt in one.attempts()} == {"swordfish"}
    assert any(attempt.verdict == "rejected" for attempt in one.attempts())
    assert "swordfish" not in "".join(heard)


# Ids


@pytest.mark.parametrize("build", [simquac.cast, partial(simquac.cast, as_published=True)])
async def test_a_bare_scenario_a_conversation_and_a_run_have_one_id(build):
    cast = build()
    scenario = simquac.scenario(TOPIC, messages=[Message(role="user", text="Who lived there?")])
    bare = record(begun(scenario), cast.name)
    ended = record(await conversation(cast).ainvoke(begun(scenario), context=ONE))
    (of_a_run,) = await asimulate(cast, [scenario], limits=ONE)
    assert bare.id == ended.id == of_a_run.id == id_of(scenario, cast.name)


# Secrets

SECRET = "proj-zzzzsecretvalue99"


async def test_a_key_of_the_environment_stands_nowhere_in_a_record(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("MINE_ACCESS_TOKEN", "tokenofmine77")
    call = {"name": "pay", "arguments": {"key": SECRET}, "result": f"paid with {SECRET}", "error": f"401: {SECRET}"}
    told = {"tool_calls": [call], "reasoning": f"use {SECRET}", "kept": {"notes": [SECRET]}, "raw": SECRET,
            "labels": {"said": SECRET}}  # fmt: skip
    cast = talk(
        user_simulator=lambda state: {"drafts": [{"text": ""}], "stop": "user_ended"} if state["turn"] else "Pay.",
        assistant=lambda state: {"drafts": [{"text": f"It is {SECRET}. tokenofmine77", **told}], "memory": {"key": SECRET}},
        closing=lambda state: {"labels": {"note": [SECRET], SECRET: 1}},
        record_memory=True,
    )  # fmt: skip
    for one in (await played(cast, SCENARIO | {"extra": {"log": SECRET}}), await played(
        talk(user_simulator=Scripted([RuntimeError(f"401: {SECRET}")])), SCENARIO)
    ):  # fmt: skip
        text = json.dumps(one.plain())
        assert ("secretvalue" in text, "tokenofmine" in text) == (False, False)
        assert text.count("[key]") >= (1 if one.failure else 12)
    assert one.failure.error.startswith("RuntimeError: 401: [key]")
