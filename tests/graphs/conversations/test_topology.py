"""The one topology: its picture, its loops, its failures."""

import re
from itertools import pairwise

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph

from duologue import graphs
from duologue.data import Message
from duologue.graphs import conversation, record, simquac
from duologue.nodes import Limits
from duologue.views import notebook
from tests.graphs.played import played

PICTURE = """\
---
config:
  flowchart:
    curve: linear
---
graph TD;
	__start__([<p>__start__</p>]):::first
	opening(opening)
	user_prompt_selector(user_prompt_selector)
	user_simulator(user_simulator)
	question_validator(question_validator)
	assistant_prompt_selector(assistant_prompt_selector)
	assistant(assistant)
	answer_validator(answer_validator)
	turn_recorder(turn_recorder)
	closing(closing)
	__end__([<p>__end__</p>]):::last
	__start__ --> opening;
	answer_validator -. &nbsp;regenerate&nbsp; .-> assistant_prompt_selector;
	answer_validator -. &nbsp;stop&nbsp; .-> closing;
	answer_validator -. &nbsp;accepted&nbsp; .-> turn_recorder;
	assistant --> answer_validator;
	assistant_prompt_selector --> assistant;
	opening -. &nbsp;assistant&nbsp; .-> assistant_prompt_selector;
	opening -. &nbsp;stop&nbsp; .-> closing;
	opening -. &nbsp;user&nbsp; .-> user_prompt_selector;
	question_validator -. &nbsp;accepted&nbsp; .-> assistant_prompt_selector;
	question_validator -. &nbsp;stop&nbsp; .-> closing;
	question_validator -. &nbsp;regenerate&nbsp; .-> user_prompt_selector;
	turn_recorder -. &nbsp;stop&nbsp; .-> closing;
	turn_recorder -. &nbsp;continue&nbsp; .-> user_prompt_selector;
	user_prompt_selector --> user_simulator;
	user_simulator --> question_validator;
	closing --> __end__;
	classDef default fill:#f2f0ff,line-height:1.2
	classDef first fill-opacity:0
	classDef last fill:#bfb6fc
"""


def test_the_drawing_shows_both_regeneration_loops_and_the_stops_as_labelled_edges():
    assert simquac.graph.get_graph().draw_mermaid() == PICTURE


def test_a_compiled_graph_draws_itself_without_a_network():
    for graph in (simquac.graph, simquac.graph.with_config(tags=["x"])):
        assert notebook.compiled_text(graph) == {"text/plain": PICTURE}


async def play(cast, topic, messages=(), **limits):
    return await played(cast, simquac.scenario(topic, messages=messages), Limits(**limits))


async def test_a_conversation_ends_at_the_turn_limit(casting, topic):
    conversation = await play(casting(["Who lived there?", "When did they leave?"]), topic, max_turns=2)
    assert conversation.stop == "max_turns"
    assert [message.role for message in conversation.messages] == ["user", "assistant", "user", "assistant"]
    assert conversation.messages[1].text == "Three keepers"


async def test_a_rejected_question_is_asked_again_with_the_short_prompt_and_kept(casting, topic):
    long = " ".join(["word"] * 26) + "?"
    conversation = await play(casting([long, "Who lived there?"]), topic, max_turns=1)
    question = conversation.messages[0]
    assert question.text == "Who lived there?"
    assert [(a.text, a.verdict, a.reason, a.number) for a in question.attempts] == [
        (long, "rejected", "too_long", 1),
        ("Who lived there?", "accepted", None, 2),
    ]
    assert [a.prompt.name for a in question.attempts] == ["user/start", "user/repair_too_long"]
    assert question.prompt == question.attempts[-1].prompt


async def test_each_re_prompt_differs_from_the_one_before(casting, topic):
    conversation = await play(casting(["1. Who?\n2. When?"]), topic, question_attempts=6)
    prompts = [attempt.prompt.text for turn in conversation.unsaid for attempt in turn.attempts]
    assert len(prompts) == 6
    assert all(one != other for one, other in pairwise(prompts))


@pytest.mark.parametrize("attempts", [1, 4, 5])
async def test_a_user_whose_attempts_are_spent_is_rejected_and_the_drafts_are_kept(casting, topic, attempts):
    cast = casting([""])
    conversation = await play(cast, topic, question_attempts=attempts)
    assert conversation.stop == "user_rejected"
    assert conversation.messages == ()
    assert [a.reason for a in conversation.unsaid[0].attempts] == ["empty"] * attempts
    assert len(cast.user_simulator.seen) == attempts


@pytest.mark.parametrize("attempts", [1, 4, 5])
async def test_an_assistant_whose_attempts_are_spent_says_the_declared_words(casting, topic, attempts):
    cast = casting(["Who lived there?"], ["Nobody ever did"])
    conversation = await play(cast, topic, max_turns=1, answer_attempts=attempts)
    answer = conversation.messages[1]
    assert answer.text == "I cannot find the answer."
    assert answer.spans == ()
    assert answer.fallback
    assert answer.prompt is None
    assert [a.number for a in answer.attempts] == list(range(1, attempts + 1))
    assert len(cast.assistant.seen) == attempts
    assert conversation.stop == "max_turns"


async def test_without_declared_words_the_last_draft_stands_and_says_so(casting, topic):
    cast = casting(["Who lived there?"], ["Nobody", "Someone else"], fallback=None)
    conversation = await play(cast, topic, max_turns=1, answer_attempts=2)
    assert conversation.messages[1].text == "Someone else"
    assert [a.verdict for a in conversation.messages[1].attempts] == ["rejected", "observed"]


async def test_a_speaker_that_fails_ends_the_conversation_and_what_was_said_is_kept(casting, topic):
    cast = casting(["Who lived there?"], ["Three keepers", RuntimeError("the line is dead")])
    conversation = await play(cast, topic)
    assert conversation.stop == "model_failed"
    assert conversation.failure.node == "assistant"
    assert re.fullmatch(r"RuntimeError: the line is dead \(conftest.py, line \d+\)", conversation.failure.error)
    assert [message.text for message in conversation.messages] == [
        "Who lived there?",
        "Three keepers",
        "Who lived there?",
    ]


async def test_a_user_that_fails_after_a_rejected_draft_keeps_the_draft(casting, topic):
    conversation = await play(casting(["", ValueError("gone")]), topic)
    assert conversation.stop == "model_failed"
    assert [a.reason for a in conversation.unsaid[0].attempts] == ["empty"]


@pytest.mark.parametrize("place", ["user_prompt_selector", "question_validator", "answer_validator", "turn_recorder"])
async def test_any_node_that_fails_is_a_recorded_failure(casting, topic, place):
    async def broken(state, runtime):
        raise KeyError("oh")

    conversation = await play(casting(["Who lived there?"], **{place: broken}), topic)
    assert (conversation.stop, conversation.failure.node) == ("model_failed", place)


async def test_a_draft_that_a_failing_validator_did_not_judge_is_kept_as_unjudged(casting, topic):
    async def broken(state, runtime):
        raise KeyError("oh")

    conversation = await play(casting(["Who lived there?"], question_validator=broken), topic)
    assert [(a.text, a.verdict) for a in conversation.unsaid[0].attempts] == [("Who lived there?", "unjudged")]


async def test_a_closing_node_that_fails_leaves_the_reason_of_the_end(casting, topic):
    async def broken(state, runtime):
        raise KeyError("oh")

    conversation = await play(casting(["Who lived there?"], closing=broken), topic, max_turns=1)
    assert (conversation.stop, conversation.failure.node) == ("max_turns", "closing")


async def test_a_secret_in_an_error_is_not_recorded(casting, topic, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "very-private-thing")
    cast = casting(
        ["Who?"], [RuntimeError("wrong key very-private-thing, or sk-abcdefghijkl, at http://me:pw@host/v1")]
    )
    error = (await play(cast, topic)).failure.error
    assert "very-private-thing" not in error
    assert "sk-abc" not in error
    assert "pw@" not in error


async def test_a_speaker_may_say_several_messages_and_each_is_judged(casting, topic):
    cast = casting([["Who lived there?", "And when did they leave?"]], [["Three keepers", "The last one left in 1968"]])
    conversation = await play(cast, topic, max_turns=1)
    assert [message.role for message in conversation.messages] == ["user", "user", "assistant", "assistant"]
    assert [len(message.spans) for message in conversation.messages] == [0, 0, 1, 1]
    assert len(conversation.exchanges) == 1


async def test_one_bad_message_of_several_has_all_of_them_asked_for_again(casting, topic):
    cast = casting([["Who lived there?", ""], ["Who?", "When?"]])
    conversation = await play(cast, topic, max_turns=1)
    first = conversation.messages[0]
    assert [message.text for message in conversation.messages[:2]] == ["Who?", "When?"]
    assert [(a.text, a.verdict, a.reason, a.number) for a in first.attempts] == [
        ("Who lived there?", "rejected", "fell_with_another", 1),
        ("", "rejected", "empty", 1),
        ("Who?", "accepted", None, 2),
    ]


async def test_a_speaker_may_say_nothing(casting, topic):
    conversation = await play(casting([[]]), topic, max_turns=2)
    assert [message.role for message in conversation.messages] == ["assistant", "assistant"]
    assert conversation.stop == "max_turns"


async def test_drafts_before_a_silence_are_kept(casting, topic):
    conversation = await play(casting(["", []]), topic, max_turns=1)
    assert [(turn.role, turn.after, len(turn.attempts)) for turn in conversation.unsaid] == [("user", 0, 1)]
    assert conversation.stop == "max_turns"


async def test_a_turn_after_a_silence_has_its_own_attempts(casting, topic):
    cast = casting(["", [], "", "Who lived there?"], [[], "Three keepers"])
    conversation = await play(cast, topic, max_turns=2)
    assert [(turn.role, turn.after, len(turn.attempts)) for turn in conversation.unsaid] == [("user", 0, 1)]
    assert [[a.number for a in message.attempts] for message in conversation.messages] == [[1, 2], [1]]


async def test_a_conversation_may_begin_with_messages_that_were_already_said(casting, topic):
    first_messages = (await play(casting(["Who lived there?", "When?"]), topic, max_turns=2)).messages
    cast = casting(["And then?"])
    conversation = await play(cast, topic, messages=first_messages, max_turns=3)
    assert conversation.messages[:4] == first_messages
    assert [message.text for message in conversation.messages[4:]] == ["And then?", "Three keepers"]
    assert len(cast.user_simulator.seen) == 1


async def test_a_question_that_waits_is_answered_before_the_user_speaks_again(topic):
    first_messages = (await play(simquac.cast(), topic, max_turns=2)).messages[:3]
    conversation = await play(simquac.cast(), topic, messages=first_messages, max_turns=2)
    assert [message.role for message in conversation.messages] == ["user", "assistant", "user", "assistant"]
    assert conversation.messages[:3] == first_messages


async def test_an_assistant_may_open(casting, topic):
    conversation = await play(casting([[], "Who lived there?"], ["Ships still pass at night."]), topic, max_turns=2)
    assert [message.role for message in conversation.messages] == ["assistant", "user", "assistant"]
    assert [len(e.user) for e in conversation.exchanges] == [0, 1]


async def test_an_unstored_message_is_no_question_that_waits(casting, topic):
    bye = Message(role="user", text="Thank you, goodbye.", stored=False)
    conversation = await play(casting(["Who lived there?"]), topic, messages=[bye], max_turns=1)
    assert [message.text for message in conversation.messages] == [
        "Thank you, goodbye.",
        "Who lived there?",
        "Three keepers",
    ]


async def test_a_checkpointer_gives_the_history_and_a_fork(topic):
    graph = conversation(simquac.cast(), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    await graph.ainvoke(simquac.scenario(topic), config, context=Limits(max_turns=2))
    history = [snapshot async for snapshot in graph.aget_state_history(config)]
    assert len(history) > 14
    for snapshot in history:
        if "scenario" in snapshot.values:  # before its first step a thread has none
            record(snapshot.values)


def test_the_dev_server_finds_the_graph():
    import json
    from importlib import import_module
    from pathlib import Path

    path = Path(graphs.__file__).parent.parent / "langgraph.json"
    for target in json.loads(path.read_text())["graphs"].values():
        module, name = target.split(":")
        assert isinstance(getattr(import_module(module), name), CompiledStateGraph)
