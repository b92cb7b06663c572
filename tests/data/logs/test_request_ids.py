"""Which ids of a log of requests name a conversation, and which name a call."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load

FIRST = [{"role": "user", "content": "When does it open?"}]
REPLY, OTHER = {"role": "assistant", "content": "At nine."}, {"role": "assistant", "content": "At ten."}
SECOND = [*FIRST, REPLY, {"role": "user", "content": "And on Sundays?"}]
LAST = {"role": "assistant", "content": "It is closed."}


def read(*values: Any) -> list[tuple[str, int]]:
    """The id of each conversation and the number of its messages."""
    path = Path("log.jsonl")
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return [(talk.id, len(talk.messages)) for talk in load(path)]


def line(name: str, sent: list[Any], came: Any = None, key: str = "id") -> dict[str, Any]:
    return {key: name, "request": {"messages": sent}} | ({} if came is None else {"response": came})


def test_ids_of_calls_whose_histories_go_on_are_one_conversation_under_the_first_id() -> None:
    assert read(line("a", FIRST, REPLY), line("b", SECOND, LAST)) == [("a", 4)]


def test_an_id_that_several_lines_share_names_their_conversation() -> None:
    assert read(line("a", FIRST, REPLY), line("b", FIRST, OTHER), line("a", SECOND, LAST)) == [("a", 4), ("b", 2)]


def test_several_answers_to_one_request_stay_apart_and_unrelated_lines_too() -> None:
    assert [count for _, count in read(line("a", FIRST, REPLY), line("a", FIRST, OTHER))] == [2, 2]
    assert [count for _, count in read(line("a", FIRST, REPLY), line("a", FIRST, REPLY))] == [2, 2]
    unrelated = line("a", [{"role": "user", "content": "Is there tea?"}], OTHER)
    assert [count for _, count in read(line("a", FIRST, REPLY), unrelated)] == [2, 2]


def test_an_id_of_a_line_without_a_continuation_is_its_conversations() -> None:
    assert read(line("a", FIRST, REPLY), line("b", FIRST, OTHER)) == [("a", 2), ("b", 2)]


def test_an_id_of_the_conversation_goes_before_the_lines_own() -> None:
    named = [
        {**line(name, sent, came), "thread_id": "t"} for name, sent, came in (("a", FIRST, REPLY), ("b", SECOND, LAST))
    ]
    assert read(*named) == [("t", 4)]


def test_calls_of_tools_are_joined_without_a_name() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "hours", "arguments": "{}"}}
    calling = {"role": "assistant", "content": None, "tool_calls": [call]}
    other = {**calling, "tool_calls": [{**call, "id": "c2"}]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "nine"}
    lines = [line("a", FIRST, calling), line("b", FIRST, other), line("c", [*FIRST, calling, result], REPLY)]
    assert read(*lines) == [("a", 2), ("b", 1)]


def test_responses_by_themselves_are_a_conversation_each() -> None:
    def alone(name: str, text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        return {"id": name, "type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"}

    assert read(alone("m1", "At nine."), alone("m2", "At ten.")) == [("m1", 1), ("m2", 1)]
    shared = read(alone("m", "At nine."), alone("m", "At ten."))
    assert [(name[:2], count) for name, count in shared] == [("m-", 1), ("m-", 1)]
    assert len(dict(shared)) == 2
    assert read(*({"id": name, "choices": [{"message": REPLY}]} for name in "ab")) == [("a", 1), ("b", 1)]


def test_a_completion_of_a_prompt_has_both_sides() -> None:
    text = {
        "id": "c",
        "request": {"model": "m", "prompt": "It opens at"},
        "response": {"choices": [{"text": " nine."}]},
    }
    assert read(text) == [("c", 2)]


@pytest.mark.parametrize(
    "failed",
    [
        {"response": {"status_code": 400, "body": {"error": {"message": "no"}}}},
        {"result": {"type": "errored", "error": {"type": "error"}}},
        {"response": None, "error": {"code": "batch_expired"}},
    ],
)
def test_a_failed_line_of_a_batch_is_counted_and_does_not_refuse_the_log(failed: Any) -> None:
    line_of_reply = {"custom_id": "a", "response": {"status_code": 200, "body": {"choices": [{"message": REPLY}]}}}
    assert read(line_of_reply, {"custom_id": "b", **failed}) == [("a", 1)]
    assert read({"custom_id": "b", **failed}, line_of_reply) == [("a", 1)]
    assert load("log.jsonl").notes[0] == "left out, not conversations: failed request 1"


@pytest.mark.parametrize("path", ["corpus/translations", "/v1/embeddings"])
def test_a_line_with_messages_is_never_another_request(path: str) -> None:
    assert read({"id": "a", "path": path, "messages": [*FIRST, REPLY]}) == [("a", 2)]
