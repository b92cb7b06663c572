"""Images, recordings and files of messages: a note of every form is read, and written again."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Attempt, Conversation, Message, Part, ToolCall, count, load, messages
from duologue.data.attachments import content_of, part_of, reference
from duologue.data.grounding import gives_no_answer

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
DATA = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{DATA}"
IMAGE = Part(type="image", mime_type="image/png", size=len(PNG))
SOUND = Part(type="audio", mime_type="audio/wav", size=3)

FORMS: list[tuple[dict[str, Any], Part]] = [
    ({"type": "image_url", "image_url": {"url": URL}}, IMAGE),
    ({"type": "image_url", "image_url": "https://a.b/c.png"}, Part(type="image", url="https://a.b/c.png")),
    ({"type": "input_image", "image_url": URL}, IMAGE),
    ({"type": "input_image", "file_id": "f1"}, Part(type="image", name="f1")),
    ({"type": "image", "base64": DATA, "mime_type": "image/png"}, IMAGE),
    ({"type": "image", "source_type": "base64", "data": DATA, "mime_type": "image/png"}, IMAGE),
    ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}, IMAGE),
    ({"type": "image", "source": {"type": "url", "url": "https://a.b"}}, Part(type="image", url="https://a.b")),
    ({"type": "image", "image": "a/b.png"}, Part(type="image", url="a/b.png")),
    ({"type": "image"}, Part(type="image")),
    ({"type": "image_generation_call", "result": DATA}, Part(type="image", size=len(PNG))),
    ({"inline_data": {"mime_type": "image/png", "data": DATA}}, IMAGE),
    ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, SOUND),
    ({"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"}, SOUND),
    ({"type": "file", "file": {"file_id": "f2"}}, Part(type="file", name="f2")),
    (
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        Part(type="file", mime_type="application/pdf", name="a.pdf", size=3),
    ),
    (
        {"type": "document", "title": "T", "source": {"type": "text", "data": "words", "media_type": "text/plain"}},
        Part(type="file", mime_type="text/plain", name="T", text="words"),
    ),
    ({"type": "media", "mime_type": "video/mp4", "file_uri": "gs://v"}, Part(type="video", url="gs://v", mime_type="video/mp4")),
    ({"type": "refusal", "refusal": "No."}, Part(type="other", name="refusal", text="No.")),
]  # fmt: skip


@pytest.mark.parametrize(("block", "part"), FORMS)
def test_every_common_form_of_a_block_is_read_and_written_so_that_nothing_is_lost(
    block: dict[str, Any], part: Part
) -> None:
    assert part_of(block) == part
    (written,) = content_of("", [part])
    assert part_of(json.loads(json.dumps(written))) == part
    assert reference(part).startswith(part.type)


@pytest.mark.parametrize("kind", ["text", "reasoning", "thinking", "tool_use", "function_call"])
def test_text_reasoning_and_tools_are_no_parts(kind: str) -> None:
    assert part_of({"type": kind, kind: "a"}) is None


DREW = ToolCall(name="draw", arguments={"what": "sky"}, result="drawn", parts=(IMAGE,))
LOOKED = ToolCall(name="look_up", arguments={}, result={"n": [1]})


def reply(text: str, *calls: ToolCall, parts: tuple[Part, ...] = ()) -> Message:
    draft = Attempt(text=text, verdict="accepted", tool_calls=calls)
    return Message(role="assistant", text=text, parts=parts, attempts=(draft,) if calls else ())


TALK = Conversation(
    id="a",
    scenario={},
    messages=(
        Message(role="user", text="What is this?", parts=(IMAGE, SOUND)),
        Message(role="user", text="", parts=(Part(type="image", url="b.png", name="B"),)),
        reply("A sky.", DREW, LOOKED, parts=(IMAGE,)),
        reply("And a cloud."),
        Message(role="user", text="Thanks."),
        reply("Here.", LOOKED),
    ),
)


def test_parts_tool_calls_and_messages_in_a_row_come_back_from_messages() -> None:
    assert messages.write([TALK], "first.jsonl") == []
    (read,) = messages.read("first.jsonl")
    assert [(m.role, m.text, m.parts, m.tool_calls) for m in read.messages] == [
        (m.role, m.text, m.parts, m.tool_calls) for m in TALK.messages
    ]
    assert "asides" not in read.extra
    assert messages.write([read], "second.jsonl") == []
    assert Path("second.jsonl").read_bytes() == Path("first.jsonl").read_bytes()


def test_counts_tell_failed_calls_and_parts_and_a_read_message_counts_no_draft() -> None:
    failed = reply("No.", ToolCall(name="f", error="late"))
    side = count([TALK.model_copy(update={"messages": (*TALK.messages, failed)})]).side("assistant")
    assert (side.tool_calls, side.failed_calls, side.parts) == (4, 1, {"image": 1})
    messages.write([TALK], "first.jsonl")
    counts = count(load("first.jsonl"))
    assert counts.side("user").parts == {"image": 2, "audio": 1}
    assert (counts.side("assistant").tool_calls, counts.side("assistant").drafts) == (3, 0)


def test_an_empty_text_with_a_tool_call_or_an_image_is_no_refusal() -> None:
    assert gives_no_answer(reply(""))
    assert not gives_no_answer(reply("", LOOKED))
    assert not gives_no_answer(reply("", parts=(IMAGE,)))
    assert gives_no_answer(reply("I cannot find the answer.", LOOKED))
