"""Exports of ChatGPT, which are trees, and spans whose messages stand in events."""

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
    assert conversation.messages[2].parts[0].file_id == "file-service://file-1"
    assert "1 message of other branches" in "".join(loaded.notes)


def test_without_a_current_node_the_last_children_are_followed_and_a_loop_of_parents_ends(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    tree = {key: value for key, value in TREE.items() if key != "current_node"}
    path.write_text(json.dumps(tree))
    assert load(path).conversations[0].messages[-1].text == "That one."
    looped = {"mapping": {"a": node("a", "b", "user", "Hi", "b"), "b": node("b", "a", "assistant", "Ho", "a")}}
    path.write_text(json.dumps(looped))
    assert len(load(path).conversations[0].messages) == 2
    path.write_text(json.dumps({"mapping": {"a": {"message": None, "parent": None, "children": []}}}))
    loaded = load(path)
    assert (len(loaded), loaded.notes) == (0, ("1 conversation without a message left out",))


@pytest.mark.parametrize(("key", "value"), [("parent", ["a"]), ("children", [["a"]]), ("children", 3), ("parent", {})])
def test_names_that_are_no_texts_lead_nowhere(tmp_path: Path, key: str, value: Any) -> None:
    path = tmp_path / "one.json"
    broken = {**node("a", "", "user", "Hi"), key: value}
    path.write_text(json.dumps({"mapping": {"a": broken}, "current_node": ["a"]}))
    assert str(load(path).conversations[0]) == "user: Hi"


@pytest.mark.parametrize("kind", ["thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"])
def test_what_a_model_thinks_and_is_told_beside_the_messages_is_not_said(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "one.json"
    aside = node("b", "a", "assistant", {"content_type": kind, "parts": ["Hm."], "text": "Hm."}, "c")
    mapping = {"a": node("a", "", "user", "Hi", "b"), "b": aside, "c": node("c", "b", "assistant", "Ho")}
    path.write_text(json.dumps({"mapping": mapping, "current_node": "c"}))
    assert str(load(path).conversations[0]) == "user: Hi\nassistant: Ho"


def test_a_part_of_an_unknown_kind_is_kept_beside_the_others(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    parts = [{"content_type": "tether_quote", "url": "x"}, {"url": "y"}, "Hi"]
    mapping = {"a": node("a", "", "user", {"content_type": "multimodal_text", "parts": parts})}
    path.write_text(json.dumps({"mapping": mapping, "current_node": "a"}))
    (message,) = load(path).conversations[0].messages
    assert message.text == "Hi"
    assert [part.type for part in message.parts] == ["other", "other"]


def event(name: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "attributes": attributes}


EVENTS = {
    "plain": [
        event("gen_ai.system.message", content="Be short.", role="system"),
        event("gen_ai.user.message", content="Is there tea?"),
        event("gen_ai.choice", message='{"role": "assistant", "content": "Yes."}', index=0, finish_reason="stop"),
        event("gen_ai.choice", message='{"content": "No."}', index=1),
    ],
    "as content": [
        event("gen_ai.user.message", **{"gen_ai.event.content": '{"role": "user", "content": "Is there tea?"}'}),
        event("gen_ai.choice", **{"gen_ai.event.content": '{"index": 0, "message": {"content": "Yes."}}'}),
    ],
    "whole": [
        event("gen_ai.content.prompt", **{"gen_ai.prompt": '[{"role": "user", "content": "Is there tea?"}]'}),
        event("gen_ai.content.completion", **{"gen_ai.completion": '[{"role": "assistant", "content": "Yes."}]'}),
    ],
}


@pytest.mark.parametrize("events", EVENTS.values(), ids=EVENTS)
def test_the_messages_of_a_spans_events_are_read(tmp_path: Path, events: Any) -> None:
    path = tmp_path / "spans.json"
    span = {"name": "chat m", "context": {"trace_id": "1"}, "attributes": {"gen_ai.operation.name": "chat"}}
    path.write_text(json.dumps({**span, "events": events}))
    loaded = load(path)
    assert loaded.kind == "opentelemetry"
    assert str(loaded.conversations[0]) == "user: Is there tea?\nassistant: Yes."


def test_an_event_without_content_and_calls_is_no_message(tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    span = {"name": "chat m", "context": {"trace_id": "1"}, "attributes": {"gen_ai.operation.name": "chat"}}
    empty = [event("gen_ai.assistant.message"), event("gen_ai.user.message", tool_calls="none")]
    path.write_text(json.dumps({**span, "events": [EVENTS["plain"][1], *empty, EVENTS["plain"][2]]}))
    assert str(load(path).conversations[0]) == "user: Is there tea?\nassistant: Yes."
