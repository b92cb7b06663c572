"""Calls of tools that neither a message made nor one follows: turns of the assistant without a message."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, count, load, messages
from duologue.data.checks import check
from duologue.views.conversation import conversation_html

ASKED = {"role": "user", "content": "Is a room free?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "rooms", "arguments": '{"nights": 2}'}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "3 rooms"}
REPLY = {"role": "assistant", "content": "Room 7 is free."}
TAIL: dict[str, list[dict[str, Any]]] = {
    "a call at the end": [ASKED, CALLS],
    "a result at the end": [ASKED, CALLS, RESULT],
    "before a user's message": [ASKED, CALLS, RESULT, {"role": "user", "content": "Hello?"}, REPLY],
    "after the answer to another": [ASKED, REPLY, {"role": "user", "content": "And now?"}, CALLS, RESULT],
    "without any message": [CALLS, RESULT],
}


def read(turns: list[dict[str, Any]]) -> Conversation:
    path = Path("log.jsonl")
    path.write_text(json.dumps({"id": "hotel", "messages": turns}) + "\n", encoding="utf-8")
    (conversation,) = load(path)
    return conversation


@pytest.mark.parametrize("turns", TAIL.values(), ids=TAIL)
def test_a_call_that_no_message_follows_is_a_turn_without_a_message(turns: list[dict[str, Any]]) -> None:
    talk = read(turns)
    (unsaid,) = talk.unsaid
    (call,) = unsaid.attempts[0].tool_calls
    assert (call.name, call.arguments) == ("rooms", {"nights": 2})
    assert (call.result, call.error) == (("3 rooms", None) if RESULT in turns else (None, "no result came"))
    words = [turn for turn in turns[: turns.index(CALLS)] if turn["content"]]
    assert (unsaid.role, unsaid.after) == ("assistant", len(words))


@pytest.mark.parametrize("turns", TAIL.values(), ids=TAIL)
def test_it_is_counted_shown_and_written_as_it_was_and_is_no_empty_message(turns: list[dict[str, Any]]) -> None:
    talk = read(turns)
    assert count([talk]).side("assistant").tool_calls == 1
    assert not [finding for finding in check(talk) if finding.rule == "empty"]
    page = conversation_html(talk)
    assert "<summary>1 tool call: rooms</summary>" in page
    assert "did not pass" not in page
    assert messages.write([talk], "again.jsonl") == []
    assert json.loads(Path("again.jsonl").read_text(encoding="utf-8")) == {"id": "hotel", "messages": turns}


def test_calls_after_a_message_with_words_stay_those_of_that_message() -> None:
    talk = read([ASKED, REPLY, CALLS, RESULT])
    assert talk.unsaid == ()
    assert [call.name for call in talk.messages[-1].tool_calls] == ["rooms"]
