"""Exports of ChatGPT, which are trees."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load


def node(name: str, parent: str | None, role: str, text: Any, *children: str, **more: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    message = {"id": name, "author": {"role": role}, "content": content, "recipient": "all", **more}
    return {"id": name, "message": message, "parent": parent, "children": list(children)}


IMAGE = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
TREE: dict[str, Any] = {
    "title": "Tea",
    "conversation_id": "c1",
    "current_node": "e",
    "mapping": {
        "root": {"id": "root", "message": None, "parent": None, "children": ["s"]},
        "s": node("s", "root", "system", "", "a"),
        "a": node("a", "s", "user", "Is there tea?", "x", "b"),
        "x": node("x", "a", "assistant", "No."),
        "b": node("b", "a", "assistant", {"content_type": "code", "text": "tea()"}, "t", recipient="python"),
        "t": node("t", "b", "tool", {"content_type": "execution_output", "text": "green"}, "c"),
        "c": node("c", "t", "assistant", "Yes, green.", "d", metadata={"finish_details": {"type": "max_tokens"}}),
        "d": node("d", "c", "user", {"content_type": "multimodal_text", "parts": [IMAGE, "This one?"]}, "e"),
        "e": node("e", "d", "assistant", "That one."),
    },
}


@pytest.mark.parametrize("value", [TREE, [TREE]])
def test_the_shown_branch_of_an_export_is_the_conversation_and_other_branches_are_counted(
    tmp_path: Path, value: Any
) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(value))
    loaded = load(path)
    (conversation,) = loaded.conversations
    assert (loaded.kind, conversation.id) == ("chatgpt", "c1")
    assert str(conversation) == "user: Is there tea?\nassistant: Yes, green.\nuser: This one?\nassistant: That one."
    (call,) = conversation.messages[1].tool_calls
    assert (call.name, call.result) == ("python", "green")
    assert conversation.messages[2].parts[0].name == "file-service://file-1"
    assert "1 message of other branches" in "".join(loaded.notes)


@pytest.mark.parametrize("kind", ["thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"])
def test_what_a_model_thinks_and_is_told_beside_the_messages_is_not_said(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "one.json"
    aside = node("b", "a", "assistant", {"content_type": kind, "parts": ["Hm."], "text": "Hm."}, "c")
    mapping = {"a": node("a", "", "user", "Hi", "b"), "b": aside, "c": node("c", "b", "assistant", "Ho")}
    path.write_text(json.dumps({"mapping": mapping, "current_node": "c"}))
    assert str(load(path).conversations[0]) == "user: Hi\nassistant: Ho"
