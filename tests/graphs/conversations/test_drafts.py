"""Drafts: asked for again, sent, replaced or never sent; several at once and none; what is kept where a node fails."""

import re
from itertools import pairwise

import pytest

from duologue import data, graphs, nodes, simulate
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError
from tests.graphs.played import played

SECRET = "Your account is DE4711."


async def play(cast, topic, **limits):
    return await played(cast, simquac.scenario(topic), Limits(**limits))


async def test_a_rejected_question_is_asked_again_with_the_prompt_of_its_reason_and_kept(casting, topic):
    long = " ".join(["word"] * 26) + "?"
    question = (await play(casting([long, "Who lived there?"]), topic, max_turns=1)).messages[0]
    assert question.text == "Who lived there?"
    assert [(a.text, a.verdict, a.reason, a.number) for a in question.attempts] == [
        (long, "rejected", "too_long", 1),
        ("Who lived there?", "accepted", None, 2),
    ]
    assert [a.prompt.name for a in question.attempts] == ["user/start", "user/repair_too_long"]
    assert question.prompt == question.attempts[-1].prompt


@pytest.mark.parametrize("attempts", [1, 5])
async def test_each_re_prompt_differs_and_a_user_whose_attempts_are_spent_is_rejected(casting, topic, attempts):
    cast = casting(["1. Who?\n2. When?"])
    conversation = await play(cast, topic, question_attempts=attempts)
    assert (conversation.stop, conversation.messages) == ("user_rejected", ())
    (turn,) = conversation.unsaid
    assert [a.reason for a in turn.attempts] == ["enumeration"] * attempts
    assert all(one.prompt.text != other.prompt.text for one, other in pairwise(turn.attempts))
    assert len(cast.user_simulator.seen) == attempts


@pytest.mark.parametrize("attempts", [1, 5])
async def test_an_assistant_whose_attempts_are_spent_says_the_declared_words(casting, topic, attempts):
    cast = casting(["Who lived there?"], ["Nobody ever did"])
    conversation = await play(cast, topic, max_turns=1, answer_attempts=attempts)
    answer = conversation.messages[1]
    assert (answer.text, answer.spans, answer.fallback) == ("I cannot find the answer.", (), True)
    assert answer.prompt is None
    assert [a.number for a in answer.attempts] == list(range(1, attempts + 1))
    assert len(cast.assistant.seen) == attempts
    assert conversation.stop == "max_turns"


# Words that must not be sent


def no_account(draft, state):
    return "account_number" if "DE4711" in draft["text"] else None


def one(must=False, second=None, assistant=lambda messages: SECRET, **settings):
    """The conversation of an agent whose every reply has an account number, and its messages."""
    cast = graphs.agent_test.cast(assistant=assistant, **settings)
    guard = nodes.validator(no_account, must=must)
    cast = cast.replace(answer_validator=guard if second is None else nodes.every(second, guard))
    (conversation,) = simulate(
        cast, graphs.agent_test.scenarios([{"goal": "close my account"}]), limits=Limits(max_turns=2)
    )
    return conversation, [message for message in conversation.messages if message.role == "assistant"]


def test_without_more_the_last_rejected_draft_is_sent_and_recorded_as_observed():
    _, replies = one()
    assert [reply.text for reply in replies] == [SECRET, SECRET]
    assert [attempt.verdict for attempt in replies[0].attempts] == ["rejected"] * 3 + ["observed"]


@pytest.mark.parametrize("second", [None, nodes.validator(lambda draft, state: "rude")])
def test_what_must_never_be_sent_ends_the_conversation(second):
    conversation, replies = one(must=True, second=second)
    assert (conversation.stop, conversation.fault, replies) == ("assistant_rejected", "assistant", [])
    (turn,) = conversation.unsaid
    assert [attempt.verdict for attempt in turn.attempts] == ["rejected"] * 4
    assert data.Conversation.model_validate_json(conversation.model_dump_json()) == conversation


def test_a_cast_says_what_becomes_of_it(casting, topic):
    assert one(when_rejected="stop")[0].stop == "assistant_rejected"
    assert [reply.text for reply in one(must=True, when_rejected="send")[1]] == [SECRET, SECRET]
    guard = nodes.validator(no_account, must=True)
    cast = casting(["Who?"], [SECRET] * 4, answer_validator=guard, fallback="I cannot find the answer.")
    (conversation,) = simulate(cast, [simquac.scenario(topic)], limits=Limits(max_turns=1))
    assert conversation.messages[1].text == "I cannot find the answer."
    for value, problem in (("never", "expected send, fallback, stop"), ("fallback", "has no fallback")):
        with pytest.raises(ContractError, match=problem):
            graphs.agent_test.cast().replace(when_rejected=value)


def test_a_draft_whose_tool_did_something_is_not_asked_for_again_and_not_sent_where_it_must_never_be():
    calls = []

    def act(messages):
        calls.append(1)
        call = {"id": "1", "type": "function", "function": {"name": "close", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "closed"},
            {"role": "assistant", "content": SECRET},
        ]

    conversation, replies = one(must=True, assistant=act)
    assert (len(calls), conversation.stop, replies) == (1, "assistant_rejected", [])


# Several, and none


async def test_a_speaker_may_say_several_messages_and_each_is_judged(casting, topic):
    cast = casting([["Who lived there?", "And when did they leave?"]], [["Three keepers", "The last one left in 1968"]])
    conversation = await play(cast, topic, max_turns=1)
    assert [message.role for message in conversation.messages] == ["user", "user", "assistant", "assistant"]
    assert [len(message.spans) for message in conversation.messages] == [0, 0, 1, 1]
    assert len(conversation.exchanges) == 1


async def test_one_bad_message_of_several_has_all_of_them_asked_for_again(casting, topic):
    conversation = await play(casting([["Who lived there?", ""], ["Who?", "When?"]]), topic, max_turns=1)
    assert [message.text for message in conversation.messages[:2]] == ["Who?", "When?"]
    assert [(a.text, a.verdict, a.reason, a.number) for a in conversation.messages[0].attempts] == [
        ("Who lived there?", "rejected", "fell_with_another", 1),
        ("", "rejected", "empty", 1),
        ("Who?", "accepted", None, 2),
    ]


async def test_a_side_may_say_nothing_and_its_drafts_before_are_kept_and_the_next_turn_has_its_own(casting, topic):
    opened = await play(casting([[], "Who lived there?"], ["Ships still pass at night."]), topic, max_turns=2)
    assert [message.role for message in opened.messages] == ["assistant", "user", "assistant"]
    assert [len(exchange.user) for exchange in opened.exchanges] == [0, 1]
    cast = casting(["", [], "", "Who lived there?"], [[], "Three keepers"])
    conversation = await play(cast, topic, max_turns=2)
    assert [(turn.role, turn.after, len(turn.attempts)) for turn in conversation.unsaid] == [("user", 0, 1)]
    assert [[a.number for a in message.attempts] for message in conversation.messages] == [[1, 2], [1]]
    assert conversation.stop == "max_turns"


# Failures


async def test_a_speaker_that_fails_ends_the_conversation_and_what_was_said_is_kept(casting, topic):
    cast = casting(["Who lived there?"], ["Three keepers", RuntimeError("the line is dead")])
    conversation = await play(cast, topic)
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert re.fullmatch(r"RuntimeError: the line is dead \(\S*conftest.py:\d+ in \w+\)", conversation.failure.error)
    assert [message.role for message in conversation.messages] == ["user", "assistant", "user"]
    failed = await play(casting(["", ValueError("gone")]), topic)
    assert (failed.stop, [a.reason for a in failed.unsaid[0].attempts]) == ("model_failed", ["empty"])


@pytest.mark.parametrize("place", ["user_prompt_selector", "question_validator", "turn_recorder", "closing"])
async def test_any_node_that_fails_is_a_recorded_failure_and_a_draft_that_it_did_not_judge_is_kept(
    casting, topic, place
):
    async def broken(state, runtime):
        raise KeyError("oh")

    conversation = await play(casting(["Who lived there?"], **{place: broken}), topic, max_turns=1)
    stop = "max_turns" if place == "closing" else "model_failed"  # which had ended before it
    assert (conversation.stop, conversation.failure.node) == (stop, place)
    runs = {node.name: node.runs for node in data.executed([conversation]).nodes}
    assert (runs[place], runs["__end__"]) == (1, 0)  # the way ends there
    if place == "question_validator":
        assert [(a.text, a.verdict) for a in conversation.unsaid[0].attempts] == [("Who lived there?", "unjudged")]
