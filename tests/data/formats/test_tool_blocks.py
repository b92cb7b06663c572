"""Content blocks of Anthropic's Messages API and of Amazon Bedrock's Converse API: calls, results and instructions."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, load
from duologue.data.checks import check

ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Is a room free?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "rooms", "input": {"nights": 2}},
            {"type": "tool_use", "id": "t2", "name": "prices", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": '{"free": 3}'}]},
            {"type": "tool_result", "tool_use_id": "t2", "content": "no prices today", "is_error": True},
        ],
    },
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t3", "name": "book", "input": {"room": 7}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t3", "content": "booked"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Room 7 is yours."}]},
    {"role": "user", "content": "Thanks."},
]
CONVERSE: list[dict[str, Any]] = [
    {"role": "user", "content": [{"text": "Is a room free?"}]},
    {
        "role": "assistant",
        "content": [
            {"text": "I look."},
            {"toolUse": {"toolUseId": "t1", "name": "rooms", "input": {"nights": 2}}},
            {"toolUse": {"toolUseId": "t2", "name": "prices", "input": {}}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "t1", "content": [{"json": {"free": 3}}], "status": "success"}},
            {"toolResult": {"toolUseId": "t2", "content": [{"text": "no prices today"}], "status": "error"}},
        ],
    },
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t3", "name": "book", "input": {"room": 7}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "t3", "content": [{"text": "booked"}]}}]},
    {"role": "assistant", "content": [{"text": "Room 7 is yours."}]},
    {"role": "user", "content": [{"text": "Thanks."}]},
]


def read(*values: Any) -> Conversation:
    path = Path("log.jsonl")
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    (conversation,) = load(path)
    return conversation


def calls(conversation: Conversation) -> list[list[tuple[Any, ...]]]:
    return [
        [(call.name, call.arguments, call.result, call.error) for call in message.tool_calls]
        for message in conversation.messages
    ]


@pytest.mark.parametrize("turns", [ANTHROPIC, CONVERSE], ids=["anthropic", "converse"])
def test_calls_and_results_in_blocks_belong_to_the_messages_that_made_them(turns: list[dict[str, Any]]) -> None:
    talk = read({"system": "You keep a hotel.", "messages": turns})
    assert [(message.role, message.text) for message in talk.messages] == [
        ("user", "Is a room free?"),
        ("assistant", "I look."),
        ("assistant", "Room 7 is yours."),
        ("user", "Thanks."),
    ]
    looked = [("rooms", {"nights": 2}, {"free": 3}, None), ("prices", {}, None, "no prices today")]
    assert calls(talk) == [[], looked, [("book", {"room": 7}, "booked", None)], []]
    assert not [finding for finding in check(talk) if finding.level == "error"]


def test_requests_of_the_messages_api_have_their_system_text_and_answer() -> None:
    response = {"type": "message", "role": "assistant", "content": ANTHROPIC[5]["content"], "stop_reason": "end_turn"}
    usage = {"input_tokens": 40, "output_tokens": 9}
    system = [{"type": "text", "text": "You keep a hotel."}]
    request = {"model": "m", "system": system, "messages": ANTHROPIC[:5]}
    talk = read({"request": request, "response": {**response, "usage": usage}})
    assert [message.text for message in talk.messages] == ["Is a room free?", "I look.", "Room 7 is yours."]
    assert [len(made) for made in calls(talk)] == [0, 2, 1]
    assert talk.extra["asides"][0]["system"] == "You keep a hotel."


def test_calls_of_a_servers_tools_have_their_results_in_the_same_message() -> None:
    call = {"type": "mcp_tool_use", "id": "m1", "name": "rooms", "server_name": "hotel", "input": {"nights": 2}}
    result = {"type": "mcp_tool_result", "tool_use_id": "m1", "content": [{"type": "text", "text": "7"}]}
    text = {"type": "text", "text": "Room 7 is free."}
    for content in ([call, result, text], [text, call, result]):
        turns = [{"role": "user", "content": "Is a room free?"}, {"role": "assistant", "content": content}]
        Path("log.jsonl").write_text(json.dumps({"messages": turns}), encoding="utf-8")
        (talk,) = load("log.jsonl")
        (made,) = talk.messages[1].tool_calls
        assert (made.name, made.arguments, made.result, made.error) == ("rooms", {"nights": 2}, "7", None)
        assert talk.messages[1].text == "Room 7 is free."
        assert not talk.messages[1].parts
