"""Logs of models and agents: names of roles, contents, and files that are refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from duologue.data import load
from tests.data.logs.museum_log import ASKED, LAST, MORE, SYSTEM, TALK, TOLD, answer, file, only, spoken_lines

EVENT = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "At"}}]}


@pytest.mark.parametrize(
    "response",
    [
        [EVENT],
        [CHUNK],
        [{"messageStart": {"role": "assistant"}}],
        {"body": [EVENT]},
        f"event: message_start\ndata: {json.dumps(EVENT)}\n\n",
        {"body": f"data: {json.dumps(CHUNK)}\n\n"},
    ],
    ids=str,
)
def test_a_response_that_was_logged_as_a_stream_is_refused_by_its_line(
    response: Any, fault: Callable[..., str]
) -> None:
    line = fault(load, file({"request": {"messages": [ASKED]}, "response": response}))
    assert line.endswith("line 1: its response is a stream's events: log the whole response")


@pytest.mark.parametrize(
    ("user", "assistant"),
    [("Customer", "Agent"), ("visitor", "customer_service"), ("client", "operator"), ("用户", "客服")],
)
def test_the_names_that_customer_services_give_the_sides_are_read(tmp_path, user, assistant):
    lines = [{"conversation_id": "1", "role": role, "content": "x"} for role in (user, assistant)]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (talk,) = load(tmp_path / "chat.jsonl")
    assert [message.role for message in talk.messages] == ["user", "assistant"]


@pytest.mark.parametrize("before", [[ASKED], [ASKED, {"role": "tool", "content": "nine"}, SYSTEM]])
@pytest.mark.parametrize("again", [[SYSTEM, TOLD, MORE], [ASKED, TOLD, MORE]])
def test_calls_that_send_a_part_of_the_history_are_joined_where_they_overlap(before: Any, again: Any) -> None:
    path = file(
        {"conversation_id": "c", "messages": [SYSTEM, *before], "response": TOLD},
        {"conversation_id": "c", "messages": again} | answer(LAST),
        {"conversation_id": "c", "messages": [ASKED]} | answer(TOLD, "length"),
    )
    conversation = only(path)
    assert spoken_lines(conversation) == TALK
    assert conversation.messages[1].extra["finish_reason"] == "length"


def test_after_an_edited_message_only_what_is_new_is_added() -> None:
    edited, other = {"role": "user", "content": "And on Mondays?"}, {"role": "assistant", "content": "At ten."}
    after = {"role": "user", "content": "Thanks."}
    calls = [
        ([ASKED], TOLD),
        ([ASKED, TOLD, MORE], LAST),
        ([ASKED, TOLD, edited], other),
        ([ASKED, TOLD, edited, other, after], None),
    ]
    lines = [{"session_id": "s", "request": {"messages": sent}, "response": reply} for sent, reply in calls]
    texts = [*TALK, "user: And on Mondays?", "assistant: At ten.", "user: Thanks."]
    assert spoken_lines(only(file(*lines))) == texts
