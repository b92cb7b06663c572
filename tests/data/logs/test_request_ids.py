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


@pytest.mark.parametrize("key", ["id", "custom_id"])
def test_a_request_and_its_response_in_lines_of_their_own_are_joined_by_their_id(key: str) -> None:
    came = {key: "a", "response": {"choices": [{"message": REPLY}]}}
    assert read(line("a", FIRST, key=key), came) == [("a", 2)]


def test_several_answers_to_one_request_stay_apart_and_unrelated_lines_too() -> None:
    assert [count for _, count in read(line("a", FIRST, REPLY), line("a", FIRST, OTHER))] == [2, 2]
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
