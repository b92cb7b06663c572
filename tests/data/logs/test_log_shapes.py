"""Shapes of logged lines that are read, and calls that are joined."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import domains, load, messages
from duologue.data.formats.messages import asides, further
from duologue.data.records import bare
from tests.data.logs.museum_log import ASKED, LAST, MORE, SYSTEM, TALK, TOLD, WHOLE, answer, file, only, spoken_lines

SHAPES: dict[str, Any] = {
    "messages": {"messages": WHOLE},
    "conversation of roles": {"conversation": WHOLE},
    "conversations of roles": {"conversations": WHOLE},
    "trajectory": {"trajectory": WHOLE},
    "sharegpt": {
        "conversations": [
            {"from": who, "value": turn["content"]}
            for who, turn in zip(("system", "human", "model", "user", "bot"), WHOLE, strict=True)
        ]
    },
    "other names": {"messages": [turn | {"role": name} for turn, name in zip(WHOLE, ("developer", "human", "gpt", "Human", "AI"), strict=True)]},
    "request and response": {"request": {"messages": WHOLE[:4]}, "response": answer(LAST)},
    "messages with choices": {"messages": WHOLE[:4]} | answer(LAST),
    "batch with body": {"custom_id": "r1", "method": "POST", "body": {"messages": WHOLE[:4]}, "response": {"status_code": 200, "body": answer(LAST)}},
    "batch input": {"custom_id": "r1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": WHOLE}},
    "preference": {"input": {"messages": WHOLE[:4]}, "preferred_output": [LAST], "non_preferred_output": [TOLD]},
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["line", "list", "object over many lines", "gzip"])
def test_a_shape_is_read_as_lines_as_a_list_as_one_object_and_zipped(shape: str, form: str) -> None:
    value = SHAPES[shape]
    path = file(*([[value]] if form == "list" else [value]), indent=2 if form.startswith("object") else None)
    if form == "gzip":
        Path("zipped.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = Path("zipped.jsonl.gz")
    assert spoken_lines(only(path)) == TALK
    (aside,) = asides(only(path))
    assert aside["system"] == "You answer for a museum."


def test_a_list_of_messages_is_one_conversation() -> None:
    assert spoken_lines(only(file(WHOLE, indent=1))) == TALK


def test_one_message_a_line_is_put_together_by_the_id_of_its_conversation() -> None:
    first = [turn | {"conversation_id": "a", "timestamp": 3} for turn in (ASKED, TOLD)]
    path = file(first[0], MORE | {"conversation_id": "b"}, first[1], LAST | {"conversation_id": "b"})
    a, b = load(path).conversations
    assert (a.id, spoken_lines(a), b.id, spoken_lines(b)) == ("a", TALK[:2], "b", TALK[2:])
    assert a.messages[0].extra["timestamp"] == 3


def test_calls_that_send_the_history_again_are_one_conversation() -> None:
    path = file(
        {"request": {"messages": [SYSTEM, ASKED]}, "response": answer(TOLD, "length", usage={"prompt_tokens": 9, "completion_tokens": 2})},
        {"request": {"messages": [SYSTEM, ASKED]}, "response": answer(LAST)},
        {"request": {"messages": WHOLE[:4]}, "response": answer(LAST, usage={"prompt_tokens": 20, "completion_tokens": 3})},
    )  # fmt: skip
    joined, alone = load(path).conversations
    assert (spoken_lines(joined), spoken_lines(alone)) == (TALK, [TALK[0], TALK[3]])
    assert further(joined)["usage"] == {"input_tokens": 29, "output_tokens": 5}
    assert joined.messages[1].extra["finish_reason"] == "length"


@pytest.mark.parametrize("instructions", [(), (0,), (1,), (0, 1)])
def test_calls_that_send_only_what_is_new_are_joined_by_their_conversation(instructions: tuple[int, ...]) -> None:
    path = file(
        {"conversation_id": "c", "messages": [SYSTEM] * (0 in instructions) + [ASKED]} | answer(TOLD),
        {"conversation_id": "c", "messages": [SYSTEM] * (1 in instructions) + [MORE]} | answer(LAST),
    )
    assert (only(path).id, spoken_lines(only(path))) == ("c", TALK)
    assert len(asides(only(path))) == bool(instructions)  # once


def test_keys_beside_the_messages_are_kept() -> None:
    value = {"id": "x", "messages": WHOLE, "metadata": {"channel": "web"}, "labels": {"solved": True}, "rating": 4}
    conversation = only(file(value))
    assert bare(conversation.labels) == {"solved": True, "rating": 4}
    assert further(conversation)["metadata"] == {"channel": "web"}


def test_a_refusal_of_the_api_is_what_the_assistant_said() -> None:
    refusal = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    assert spoken_lines(only(file({"messages": [ASKED]} | answer(refusal))))[1] == "assistant: I can't help with that."


@pytest.mark.parametrize("key", ["id", "conversation_id", "conversation_hash", "session_id"])
def test_a_line_of_messages_has_its_own_id(key: str) -> None:
    assert [talk.id for talk in load(file(*({key: name, "messages": WHOLE} for name in ("a", "b"))))] == ["a", "b"]


def test_further_choices_are_counted() -> None:
    choices = [{"index": number, "message": LAST} for number in range(3)]
    loaded = load(file({"request": {"messages": WHOLE[:4]}, "response": {"choices": choices}}))
    assert any(note.startswith("2 ") for note in loaded.notes)


def test_calls_of_vercel_have_their_results_and_errors() -> None:
    states: list[dict[str, Any]] = [
        {"type": "dynamic-tool", "toolName": "a", "state": "output-available", "output": 1},
        {"type": "tool-b", "state": "output-error", "errorText": "busy"},
        {"type": "tool-c", "state": "output-denied", "approval": {"approved": False, "reason": "no"}},
    ]
    parts = [{"toolCallId": str(number), "input": {"x": 1}, **state} for number, state in enumerate(states)]
    asked = {"role": "user", "parts": [{"type": "text", "text": "Go"}]}
    talk = only(file({"id": "x", "messages": [asked, {"role": "assistant", "parts": parts}]}))
    calls = [call for draft in talk.attempts() for call in draft.tool_calls]
    assert [(one.name, one.arguments, one.result, one.error) for one in calls] == [
        ("a", {"x": 1}, 1, None), ("b", {"x": 1}, None, "busy"), ("c", {"x": 1}, None, "no"),
    ]  # fmt: skip


@pytest.mark.parametrize("parquet", [False, True])
def test_a_line_of_wildchat_has_its_id_and_its_user_and_no_address(tmp_path: Path, parquet: bool) -> None:
    said = {"role": "user", "content": "Hi", "hashed_ip": "4f2a", "header": {"user-agent": "x"}, "country": "Egypt"}
    line = {"conversation_hash": "ab12", "conversation": [said], "hashed_ip": "4f2a", "header": {"user-agent": "x"}}
    path = tmp_path / "wildchat.jsonl"
    path.write_text(json.dumps(line))
    if parquet:
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist([line]), path)
    (talk,) = load(path)
    assert (talk.id, domains.of(talk).user(talk)) == ("ab12", "4f2a")
    messages.write([talk], tmp_path / "out.jsonl")
    written = (tmp_path / "out.jsonl").read_text()
    assert "Egypt" in written
    assert "header" not in written
    assert "hashed_ip" not in written
