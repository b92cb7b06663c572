"""Tools in files of messages: written as OpenAI has them, read again as what neither side says."""

import json
from pathlib import Path

from duologue.data import Attempt, Conversation, Message, ToolCall, messages

LOOKED_UP = ToolCall(name="look_up", arguments={"code": "AB1"}, result={"seat": "12A", "who": "Åsa"})
REFUSED = ToolCall(name="change", arguments={}, error="too late")
TEXT = ToolCall(name="say", result="as it is")


def reply(text: str, *calls: ToolCall, stored: bool = True) -> Message:
    return Message(
        role="assistant",
        text=text,
        stored=stored,
        attempts=(
            Attempt(text="no", verdict="rejected", tool_calls=(TEXT,)),
            Attempt(number=2, text=text, verdict="accepted", tool_calls=calls),
        ),
    )


TALK = Conversation(
    id="a",
    scenario={},
    messages=(
        Message(role="user", text="Where do I sit?"),
        reply("In 12A.", LOOKED_UP, REFUSED),
        Message(role="user", text="Thanks."),
        reply("", TEXT),
        reply("Bye.", TEXT, stored=False),
    ),
)


def test_a_message_with_tools_is_written_as_its_calls_their_results_and_its_text() -> None:
    written = messages.FORM.written(TALK)["messages"]
    assert written[1:5] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"code": "AB1"}'}},
                {"id": "call_2", "type": "function", "function": {"name": "change", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": '{"seat": "12A", "who": "Åsa"}'},
        {"role": "tool", "tool_call_id": "call_2", "content": "too late"},
        {"role": "assistant", "content": "In 12A."},
    ]
    assert [turn.get("tool_call_id") for turn in written[6:]] == [None, "call_3", None]
    assert written[7]["content"] == "as it is"


def test_what_was_exported_says_the_same_when_it_is_read_and_is_written_byte_for_byte() -> None:
    left_out = messages.write([TALK], "first.jsonl")
    assert [line for line in left_out if "tool" in line] == [
        "that a tool failed (errors of tools are written as results), of 1 conversation"
    ]
    (read,) = messages.read("first.jsonl")
    stored = [message for message in TALK.messages if message.stored]
    assert [(m.role, m.text) for m in read.messages] == [(m.role, m.text) for m in stored]
    messages.write([read], "second.jsonl")
    assert Path("second.jsonl").read_bytes() == Path("first.jsonl").read_bytes()


def test_sharegpt_has_a_turn_for_each_call_and_each_result() -> None:
    assert "calls and results of tools, of 1 conversation" not in messages.write_sharegpt([TALK], "share.json")
    (value,) = json.loads(Path("share.json").read_text())
    speakers = [turn["from"] for turn in value["conversations"]]
    assert speakers[1:].index("function_call") < speakers[1:].index("observation") < speakers[1:].index("gpt")
    (again,) = messages.read_sharegpt("share.json")
    assert [[(call.name, call.arguments) for call in message.tool_calls] for message in again.messages] == [
        [(call.name, call.arguments) for call in message.tool_calls] for message in TALK.messages if message.stored
    ]
