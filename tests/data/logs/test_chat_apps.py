"""Exports of chat applications: the branch that is shown, calls with their results, and the lines of SillyTavern."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, DataError, Loaded, load
from duologue.data.checks import check
from duologue.data.formats import messages


def loaded(value: Any, *, lines: bool = False, name: str = "chats.json") -> Loaded:
    text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value, indent=1)
    Path(name).write_text(text, encoding="utf-8")
    return load(name)


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def node(name: str, parent: str | None, role: str, content: str) -> dict[str, Any]:
    return {"id": name, "parentId": parent, "role": role, "content": content, "timestamp": 1}


NODES = [
    node("1", None, "user", "Is the ferry on time?"),
    node("2", "1", "assistant", "No."),
    node("3", "1", "assistant", "Ten minutes late."),
    node("4", "3", "user", "And the bus?"),
    node("5", "4", "assistant", "On time."),
]
SHOWN = [
    ("user", "Is the ferry on time?"),
    ("assistant", "Ten minutes late."),
    ("user", "And the bus?"),
    ("assistant", "On time."),
]


@pytest.mark.parametrize("is_listed", [True, False])
def test_the_branch_of_open_webui_that_is_shown_is_read(is_listed: bool) -> None:
    history = {"messages": {one["id"]: one for one in NODES}, "currentId": "5"}
    chat = {"title": "Ferry", "history": history} | ({"messages": NODES} if is_listed else {})
    source = loaded([{"id": "c1", "chat": chat, "user_id": "ann"}])
    assert (source.kind, [said(one) for one in source]) == ("chat_apps", [SHOWN])
    assert source[0].id == "c1"
    assert source.notes == ("1 message of other branches (edited or asked for again) left out",)


CALL = {"type": "tool_call", "tool_call": {"id": "t", "name": "ferries", "args": '{"pier": 3}', "output": "10"}}
CHAT = [
    {"messageId": "1", "parentMessageId": "0", "isCreatedByUser": True, "sender": "User", "text": "When?"},
    {"messageId": "2", "parentMessageId": "1", "isCreatedByUser": False, "sender": "Guide", "text": "Later."},
    {
        "messageId": "3",
        "parentMessageId": "1",
        "isCreatedByUser": False,
        "sender": "Guide",
        "text": "",
        "content": [{"type": "think", "think": "Look."}, CALL, {"type": "text", "text": "At ten."}],
    },
]


@pytest.mark.parametrize("form", ["export", "nested", "messages", "lines"])
def test_the_messages_of_libre_chat_are_read_with_their_calls(form: str) -> None:
    chat = [message | {"conversationId": "k"} for message in CHAT]
    nested = [chat[0] | {"children": chat[1:]}]
    value = {"conversationId": "k", "title": "Ferry", "messages": nested if form == "nested" else chat}
    source = loaded(value if form in ("export", "nested") else chat, lines=form == "lines")
    (talk,) = source
    assert (talk.id, said(talk)) == ("k", [("user", "When?"), ("assistant", "At ten.")])
    (call,) = talk.messages[1].tool_calls
    assert (call.name, call.arguments, call.result) == ("ferries", {"pier": 3}, "10")
    assert any("1 message of other branches" in note for note in source.notes)


@pytest.mark.parametrize("header", [[{"user_name": "Ann", "character_name": "Iris", "chat_metadata": {}}], []])
def test_the_lines_of_silly_tavern_are_one_chat(header: list[dict[str, Any]]) -> None:
    lines = [
        {"name": "Iris", "is_user": False, "is_system": False, "mes": "Welcome to the pier."},
        {"name": "System", "is_user": False, "is_system": True, "mes": "A note."},
        {"name": "Ann", "is_user": True, "is_system": False, "mes": "When?"},
        {"name": "Iris", "is_user": False, "is_system": False, "mes": "At ten.", "swipes": ["Soon.", "At ten."]},
    ]
    (talk,) = loaded([*header, *lines], lines=True)
    assert said(talk) == [("assistant", "Welcome to the pier."), ("user", "When?"), ("assistant", "At ten.")]


def test_a_chat_is_written_as_messages_and_read_again() -> None:
    source = loaded({"conversationId": "k", "messages": CHAT})
    assert not [finding for finding in check(source[0]) if finding.level == "error"]
    messages.write(source, "out.jsonl")
    (again,) = load("out.jsonl")
    assert (said(again), again.messages[1].tool_calls) == (said(source[0]), source[0].messages[1].tool_calls)


def test_a_value_that_is_no_chat_is_named() -> None:
    with pytest.raises(DataError, match=r"chats.json: \[1\]: is not a chat of the application"):
        loaded([{"id": "c1", "chat": {"history": {"messages": {"1": NODES[0]}, "currentId": "1"}}}, 3])


def test_calls_in_blocks_of_haystack_are_read_with_their_results() -> None:
    origin = {"tool_name": "ferries", "arguments": {"pier": 3}, "id": "t"}
    turns = [
        {"role": "user", "meta": {}, "name": None, "content": [{"text": "When?"}]},
        {"role": "assistant", "meta": {}, "name": None, "content": [{"tool_call": origin}]},
        {"role": "tool", "content": [{"tool_call_result": {"result": "ten", "origin": origin, "error": False}}]},
        {"role": "assistant", "meta": {}, "name": None, "content": [{"text": "At ten."}]},
    ]
    (talk,) = loaded({"messages": turns})
    assert said(talk) == [("user", "When?"), ("assistant", "At ten.")]
    (call,) = talk.messages[1].tool_calls
    assert (call.name, call.arguments, call.result, call.error) == ("ferries", {"pier": 3}, "ten", None)


@pytest.mark.parametrize("step", [1, -1])
def test_lines_and_rows_from_the_newest_to_the_oldest_are_turned_round(step: int) -> None:
    lines = [
        {"thread_id": "k", "role": role, "content": text, "created_at": f"2025-05-01T10:00:0{number}Z"}
        for number, (role, text) in enumerate(SHOWN)
    ]
    (talk,) = loaded(lines[::step], lines=True, name="lines.jsonl")
    assert said(talk) == SHOWN
    rows = [
        {"id": f"r{number}", "conversation_id": "k", "query": question, "answer": answer, "created_at": number}
        for number, ((_, question), (_, answer)) in enumerate((SHOWN[:2], SHOWN[2:]))
    ]
    (talk,) = loaded(rows[::step], lines=True, name="rows.jsonl")
    assert (talk.id, said(talk)) == ("k", SHOWN)


def test_roles_that_contradict_the_names_are_refused() -> None:
    turns = [
        {"name": "user_proxy", "role": "assistant", "content": "When?"},
        {"name": "pier_agent", "role": "user", "content": "At ten."},
    ]
    with pytest.raises(DataError, match=r"contradict the names \(user_proxy: assistant, pier_agent: user\)"):
        loaded({"messages": turns})
    for name in ("agenta", "Ann"):
        assert len(loaded({"messages": [turns[0], turns[1] | {"name": name}]})) == 1
