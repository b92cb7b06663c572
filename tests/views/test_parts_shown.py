"""Images and files on pages: a line of text each, and nothing from a network."""

import base64
import json
from pathlib import Path

from duologue.data import Attempt, Conversation, Message, Part, ToolCall, load
from duologue.views import conversation_page


def talk(*parts, tool=()):
    calls = (ToolCall(name="draw", result="drawn", parts=tool),)
    draft = Attempt(text="Here.", verdict="accepted", tool_calls=calls if tool else ())
    message = Message(role="assistant", text="Here.", attempts=(draft,))
    return Conversation(id="a", scenario={}, messages=(Message(role="user", text="Look.", parts=parts), message))


HOSTILE = (
    "javascript:alert(1)",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "data:text/html,<script>alert(1)</script>",
    'https://a.b/"><script>alert(1)</script>',
    "data:image/svg+xml;base64," + base64.b64encode(b"<svg onload='alert(1)'/>").decode(),
    "data:image/png;base64," + base64.b64encode(b"<html><script>alert(1)</script>").decode(),
    "file:///etc/hostname",
    "//a.b/c.png",
)


def test_no_hostile_address_becomes_an_image_a_script_or_a_link_that_runs(tags):
    parts = tuple(Part(type="image", url=url, name=f"{url}<b>", mime_type=url) for url in HOSTILE)
    page = conversation_page(talk(*parts))
    assert "img" not in {name for name, _ in tags(page).tags}
    assert "script" not in {name for name, _ in tags(page).tags}
    assert [target for target in tags(page).targets if "alert" in target] == [HOSTILE[3]]
    assert "<script>" not in page
    assert 'href="javascript' not in page
    assert 'href="data:' not in page
    assert "src=" not in page


def test_the_calls_of_a_file_that_is_read_are_folded_and_are_no_rejected_drafts():
    call = {"id": "1", "function": {"name": "look_up", "arguments": "{}"}}
    turns = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "12A"},
        {"role": "assistant", "content": "In 12A."},
    ]
    Path("chat.jsonl").write_text(json.dumps({"messages": turns}) + "\n")
    page = conversation_page(load("chat.jsonl").conversations[0])
    assert "1 tool call: look_up" in page
    assert "did not pass" not in page
    assert "draft and prompt" not in page
