"""Who sent a request, and the keys of requests and responses that no conversation has."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load
from duologue.data.formats import messages, sharegpt
from duologue.data.people.splits import named_user, with_user

ASKED = {"role": "user", "content": "When does it open?"}
TOOLS = [{"name": "hours"}]
ANTHROPIC = {"type": "message", "role": "assistant", "content": "At nine.", "stop_reason": "end_turn", "usage": {"input_tokens": 3}}  # fmt: skip
CHOICE = {"message": {"role": "assistant", "content": "At nine."}, "finish_reason": "stop"}
OUTPUT = [{"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "At nine."}]}]
BEDROCK = {"output": {"message": {"role": "assistant", "content": [{"text": "At nine."}]}}, "stopReason": "end_turn"}
LINES: dict[str, tuple[Any, Any, list[str]]] = {
    "anthropic": (
        {"model": "m", "max_tokens": 9, "tools": TOOLS, "metadata": {"user_id": "ann"}, "messages": [ASKED]},
        ANTHROPIC | {"stop_sequence": "X"},
        ["left out of 1 request: max_tokens, tools", "left out of 1 response: stop_sequence"],
    ),
    "chat": (
        {"model": "m", "max_tokens": 9, "tools": TOOLS, "user": "ann", "messages": [ASKED]},
        {"object": "chat.completion", "created": 7, "choices": [CHOICE, CHOICE]},
        ["left out of 1 request: max_tokens, tools", "left out of 1 response: created, choices after the first"],
    ),
    "responses": (
        {"model": "m", "tools": TOOLS, "safety_identifier": "ann", "input": "When does it open?"},
        {"object": "response", "id": "r", "created_at": 7, "output": OUTPUT, "tools": []},
        ["left out of 1 request: tools"],
    ),
    "bedrock": (
        {"inputBodyJson": {"messages": [ASKED], "toolConfig": {"tools": TOOLS}, "requestMetadata": {"user_id": "ann"}}},
        {"outputBodyJson": BEDROCK | {"metrics": {"latencyMs": 3}}},
        ["left out of 1 request: toolConfig", "left out of 1 response: metrics"],
    ),
}


def written(*values: Any) -> Path:
    path = Path("log.jsonl")
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", LINES)
def test_what_is_read_of_no_request_and_no_response_is_named(name: str) -> None:
    request, response, notes = LINES[name]
    loaded = load(written({"request": request, "response": response}))
    assert [message.text for message in loaded[0].messages] == ["When does it open?", "At nine."]
    assert [note for note in loaded.notes if note.startswith("left out")] == notes


@pytest.mark.parametrize("name", LINES)
def test_the_user_of_a_request_is_the_user_of_its_conversation(name: str) -> None:
    request, response, _ = LINES[name]
    loaded = load(written({"request": request, "response": response}))
    assert named_user(loaded[0]) == "ann"
    for form in (messages, sharegpt):
        form.write([with_user(loaded[0], form.FORM.kind)], "again.jsonl")
        assert named_user(load("again.jsonl")[0]) == "ann"


def test_a_request_alone_has_its_user_and_keeps_its_settings() -> None:
    request = LINES["anthropic"][0]
    loaded = load(written(request))
    assert (named_user(loaded[0]), [note for note in loaded.notes if "left out" in note]) == ("ann", [])
    messages.write(loaded, "again.jsonl")
    assert json.loads(Path("again.jsonl").read_text(encoding="utf-8")) == request


def test_a_line_without_a_request_of_its_own_loses_nothing() -> None:
    loaded = load(written({"messages": [ASKED], "max_tokens": 9, "choices": [CHOICE]}))
    assert [note for note in loaded.notes if "left out" in note] == []


def test_keys_of_several_requests_are_counted_once_by_name() -> None:
    lines = [{"request": {"messages": [ASKED | {"content": f"Is {day} open?"}], "top_p": 1, key: 2}, "response": ANTHROPIC} for day, key in (("it", "n"), ("that", "seed"))]  # fmt: skip
    assert "left out of 2 requests: top_p, n, seed" in load(written(*lines)).notes


def test_the_users_of_traces_are_read() -> None:
    llm = {"run_type": "llm", "inputs": {"messages": [ASKED]}, "outputs": CHOICE["message"]}
    span = {"name": "chat", "context": {"trace_id": "t"}, "attributes": {"user.id": "ann", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi"}}  # fmt: skip
    trace = {"id": "t", "sessionId": "s", "userId": "ann", "input": [ASKED], "output": CHOICE["message"]}
    of_mlflow = {
        "info": {"trace_id": "t", "trace_metadata": {"mlflow.trace.user": "ann"}},
        "data": {"spans": [{"attributes": {"mlflow.spanInputs": {"messages": [ASKED]}, "mlflow.spanOutputs": CHOICE["message"]}}]},
    }  # fmt: skip
    for value in ({**llm, "extra": {"metadata": {"user_id": "ann"}}}, span, trace, of_mlflow):
        (conversation,) = load(written(value))
        assert named_user(conversation) == "ann", value
