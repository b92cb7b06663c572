"""Messages of a record: exchanges, drafts, tokens and faults."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import FAULTS, Attempt, Conversation, Span, Usage
from duologue.data.records import (
    PromptRecord,
    Unsaid,
)
from tests.data.talks import message_of, roles, talk


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ([], []),
        (["user", "assistant"], [(1, 1)]),
        (["user", "assistant", "user", "assistant"], [(1, 1), (1, 1)]),
        (["assistant", "user", "assistant"], [(0, 1), (1, 1)]),
        (["user", "user", "assistant"], [(2, 1)]),
        (["user", "assistant", "assistant", "user"], [(1, 2), (1, 0)]),
        (["user"], [(1, 0)]),
        (["assistant"], [(0, 1)]),
        (["assistant", "assistant", "user", "user"], [(0, 2), (2, 0)]),
    ],
)
def test_exchanges_begin_where_the_user_speaks_after_the_assistant(
    roles: list[str], expected: list[tuple[int, int]]
) -> None:
    exchanges = talk(*roles).exchanges
    assert [(len(exchange.user), len(exchange.assistant)) for exchange in exchanges] == expected


@given(st.lists(roles, max_size=12))
def test_exchanges_hold_every_message_once_in_order(roles: list[str]) -> None:
    conversation = talk(*roles)
    assert tuple(m for e in conversation.exchanges for m in (*e.user, *e.assistant)) == conversation.messages


def draft(verdict: str, name: str = "", tokens: int | None = None) -> Attempt:
    usage = None if tokens is None else Usage(input_tokens=tokens, output_tokens=1)
    return Attempt(text="a", verdict=verdict, prompt=PromptRecord(name=name), usage=usage)


def test_a_message_knows_its_rejected_drafts_and_the_prompt_of_the_one_that_stands() -> None:
    message = message_of("user", "a", draft("rejected", "first"), draft("accepted", "second"))
    assert [attempt.prompt.name for attempt in message.rejected if attempt.prompt] == ["first"]
    assert message.prompt is not None
    assert message.prompt.name == "second"
    assert not message.fallback


def test_a_message_of_which_no_draft_was_accepted_is_a_fallback_without_a_prompt() -> None:
    message = message_of("assistant", "a", draft("rejected", "first"), draft("rejected", "second"))
    assert message.fallback
    assert message.prompt is None


def test_a_message_that_was_read_from_elsewhere_is_no_fallback() -> None:
    assert not message_of("assistant", "a").fallback
    assert message_of("assistant", "a").prompt is None
    assert not message_of("assistant", "a", draft("observed", "seen")).fallback


def test_tokens_of_every_draft_count_also_of_those_never_said() -> None:
    conversation = Conversation(
        id="a",
        scenario={},
        messages=(
            message_of("user", "a", draft("rejected", tokens=10), draft("accepted", tokens=20)),
            message_of("assistant"),
        ),
        unsaid=(Unsaid(role="assistant", after=1, attempts=(draft("rejected", tokens=40), draft("rejected"))),),
    )
    assert conversation.usage == Usage(input_tokens=70, output_tokens=3, calls=3)
    assert conversation.usage.tokens == 73
    assert talk("user").usage == Usage.none()


def test_drafts_can_be_had_by_side() -> None:
    conversation = Conversation(
        id="a",
        scenario={},
        messages=(
            message_of("user", "a", draft("accepted", "one")),
            message_of("assistant", "b", draft("accepted", "two")),
        ),
        unsaid=(Unsaid(role="user", after=2, attempts=(draft("rejected", "three"),)),),
    )
    names = {
        role: [attempt.prompt.name for attempt in conversation.attempts(role) if attempt.prompt]
        for role in (None, "user", "assistant")
    }
    assert names == {None: ["one", "two", "three"], "user": ["one", "three"], "assistant": ["two"]}


def test_a_span_ends_behind_its_last_character() -> None:
    assert Span(text="abc", start=4).end == 7


def test_every_stop_reason_has_its_fault() -> None:
    assert {reason for reason, fault in FAULTS.items() if fault != "none"} == {
        "user_rejected",
        "assistant_rejected",
        "user_timeout",
        "agent_interrupted",
        "agent_timeout",
        "agent_limit",
        "model_failed",
    }
