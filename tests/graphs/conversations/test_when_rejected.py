"""What becomes of the assistant's turn after its last rejected attempt: sent, the fallback, or the end."""

import pytest

from duologue import data, graphs, nodes, simulate
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError

SECRET = "Your account is DE4711."


def no_account(draft, state):
    return "account_number" if "DE4711" in draft["text"] else None


def one(must=False, second=None, **settings):
    """The conversation of an agent whose every reply has an account number."""
    cast = graphs.agent_test.cast(assistant=lambda messages: SECRET, **settings)
    guard = nodes.validator(no_account, must=must)
    cast = cast.replace(answer_validator=guard if second is None else nodes.every(second, guard))
    scenarios = graphs.agent_test.scenarios([{"goal": "close my account"}])
    (conversation,) = simulate(cast, scenarios, limits=Limits(max_turns=2))
    return conversation


def sent(conversation):
    return [message for message in conversation.messages if message.role == "assistant"]


def test_without_more_the_last_rejected_draft_is_sent_and_recorded_as_observed():
    replies = sent(one())
    assert [reply.text for reply in replies] == [SECRET, SECRET]
    assert [attempt.verdict for attempt in replies[0].attempts] == ["rejected"] * 3 + ["observed"]


@pytest.mark.parametrize("second", [None, nodes.validator(lambda draft, state: "rude")])
def test_what_must_never_be_sent_ends_the_conversation(second):
    conversation = one(must=True, second=second)
    assert sent(conversation) == []
    assert (conversation.stop, conversation.fault) == ("assistant_rejected", "assistant")
    (turn,) = conversation.unsaid
    assert [attempt.verdict for attempt in turn.attempts] == ["rejected"] * 4
    assert data.Conversation.model_validate_json(conversation.model_dump_json()) == conversation


def test_a_cast_says_what_becomes_of_it():
    assert one(when_rejected="stop").stop == "assistant_rejected"
    assert [reply.text for reply in sent(one(must=True, when_rejected="send"))] == [SECRET, SECRET]


def test_the_fallback_is_said_in_place_of_what_must_never_be_sent(casting, topic):
    guard = nodes.validator(no_account, must=True)
    cast = casting(["Who?"], [SECRET] * 4, answer_validator=guard, fallback="I cannot find the answer.")
    (conversation,) = simulate(cast, [graphs.simquac.scenario(topic)], limits=Limits(max_turns=1))
    assert [reply.text for reply in sent(conversation)] == ["I cannot find the answer."]


def test_what_a_tool_did_is_not_sent_either_where_it_must_never_be():
    calls = []

    def act(messages):
        calls.append(1)
        call = {"id": "1", "type": "function", "function": {"name": "close", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "closed"},
            {"role": "assistant", "content": SECRET},
        ]

    cast = graphs.agent_test.cast(assistant=act).replace(answer_validator=nodes.validator(no_account, must=True))
    (conversation,) = simulate(
        cast, graphs.agent_test.scenarios([{"goal": "close my account"}]), limits=Limits(max_turns=2)
    )
    assert (len(calls), conversation.stop) == (1, "assistant_rejected")
    assert sent(conversation) == []


@pytest.mark.parametrize(
    ("value", "problem"), [("never", "expected send, fallback, stop"), ("fallback", "has no fallback")]
)
def test_a_choice_that_is_none_is_refused(value, problem):
    with pytest.raises(ContractError, match=problem):
        graphs.agent_test.cast().replace(when_rejected=value)
