"""Lines of Anthropic, OpenAI and LangChain, session traces and tables, as the packages that take them read them."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from duologue.data import Attempt, Conversation, Message, ToolCall, domains, kind_of, load
from tests.data.generated import conversations

TALKS = [talk for talk in conversations(400) if talk.messages]
ROOMS = ToolCall(name="rooms", arguments={"nights": 2}, result=["room 7"])
DOWN = ToolCall(name="rooms", arguments={}, error="the desk is closed")
TALK = Conversation(
    id="stay",
    scenario={"kind": "hotel", "title": "Rooms", "goal": "two nights"},
    messages=(
        Message(role="user", text="Any rooms?"),
        Message(
            role="assistant",
            text="Room 7.",
            attempts=(Attempt(text="Room 7.", verdict="unjudged", tool_calls=(ROOMS, DOWN)),),
        ),
    ),
    extra={"asides": [{"at": 0, "system": "Be brief."}]},
)


def lines(name: str, talks: list[Conversation]) -> list[dict[str, Any]]:
    domains.targets()[name](talks, Path("out.jsonl"))
    return [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]


def consumed(value: Any) -> Any:
    """A value with its lazily validated lists read to their ends."""
    if isinstance(value, Mapping):
        return {key: consumed(inner) for key, inner in value.items()}
    return (
        value
        if isinstance(value, str | bytes) or not hasattr(value, "__iter__")
        else [consumed(item) for item in value]
    )


@pytest.mark.heavy
def test_lines_for_anthropic_are_of_the_types_of_its_package() -> None:
    types = pytest.importorskip("anthropic.types")
    turn = TypeAdapter(types.MessageParam)
    for line in lines("anthropic", TALKS):
        assert [consumed(turn.validate_python(message)) for message in line["messages"]] == line["messages"]
    (line,) = lines("anthropic", [TALK])
    calls, results = line["messages"][1]["content"], [turn["content"][0] for turn in line["messages"][2:4]]
    assert line["system"] == "Be brief."
    assert [(call["name"], call["input"]) for call in calls] == [("rooms", {"nights": 2}), ("rooms", {})]
    assert [result.get("is_error", False) for result in results] == [False, True]


def test_lines_for_responses_are_of_the_types_of_openais_package() -> None:
    from openai.types.responses import ResponseInputItem

    item_type = TypeAdapter(ResponseInputItem)
    for line in lines("responses", TALKS):
        for item in line["body"]["input"]:
            read = item_type.validate_python(item)
            assert type(read).__name__ in (
                "EasyInputMessage",
                "ResponseFunctionToolCall",
                "FunctionCallOutput",
                "Message",
            )
    (line,) = lines("responses", [TALK])
    assert (line["custom_id"], line["url"]) == ("stay", "/v1/responses")
    kinds = [item["type"] for item in line["body"]["input"]]
    assert kinds == ["message", "message", *2 * ["function_call"], *2 * ["function_call_output"], "message"]


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")
def test_lines_for_langchain_are_loaded_as_its_messages() -> None:
    from langchain_core.load import load as loaded_from
    from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

    def loaded(value: Any) -> Any:
        return loaded_from(value, allowed_objects="messages")

    for line in lines("langchain", TALKS[:60]):
        assert all(isinstance(loaded(message), BaseMessage) for message in line["messages"])
    (line,) = lines("langchain", [TALK])
    _, _, calling, first, second, last = (loaded(message) for message in line["messages"])
    assert isinstance(calling, AIMessage)
    assert [(call["name"], call["args"]) for call in calling.tool_calls] == [("rooms", {"nights": 2}), ("rooms", {})]
    assert isinstance(first, ToolMessage)
    assert (first.content, first.status, second.status) == ('["room 7"]', "success", "error")
    assert (last.type, last.content) == ("ai", "Room 7.")


def test_a_table_has_a_row_for_each_message_call_and_result() -> None:
    assert "labels" not in domains.targets()["csv"]([TALK], Path("out.csv"))
    with open("out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["role"] for row in rows] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert {row["conversation_id"] for row in rows} == {"stay"}
    assert [call["function"]["name"] for call in json.loads(rows[2]["tool_calls"])] == ["rooms", "rooms"]
    assert [row["status"] for row in rows[3:5]] == ["success", "error"]
    assert load("out.csv")[0].messages[1].tool_calls == (ROOMS, DOWN)


def test_a_session_is_a_head_and_messages_as_the_hub_reads_them() -> None:
    odd = TALK.model_copy(update={"id": "a/b: ../c"})
    losses = domains.targets()["sessions"]([TALK, odd], Path("out"))
    assert [line for line in losses if "tool" in line]
    one, two = sorted(Path("out").iterdir(), key=lambda file: len(file.name))
    assert (one.name, two.parent) == ("stay.jsonl", Path("out"))
    head, *messages = [json.loads(line) for line in one.read_text(encoding="utf-8").split("\n")[:-1]]
    assert head == {"type": "session", "harness": "duologue", "id": "stay", "name": "Rooms"}
    assert {line["type"] for line in messages} == {"message"}
    roles = [line["message"]["role"] for line in messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant"]
    calls = messages[2]["message"]["toolCalls"]
    assert [line["message"]["toolCallId"] for line in messages[3:5]] == [call["id"] for call in calls]
    assert json.loads(calls[0]["function"]["arguments"]) == {"nights": 2}
    assert all(isinstance(line["message"]["content"], str) for line in messages)
    assert (kind_of(one), load(two)[0].id) == ("sessions", "a/b: ../c")


@pytest.mark.parametrize("name", ["anthropic", "responses", "langchain"])
def test_what_was_written_is_written_again_as_it_was(name: str) -> None:
    first = lines(name, TALKS)
    assert lines(name, list(load("out.jsonl"))) == first
