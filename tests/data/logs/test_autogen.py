"""Messages of AutoGen: results of tasks and messages alone, with the calls of tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError, load


def message(source: str, content: Any, kind: str = "TextMessage") -> dict[str, Any]:
    return {"source": source, "models_usage": None, "metadata": {}, "content": content, "type": kind}


CALL = {"id": "c", "name": "ferries", "arguments": '{"pier": 3}'}
RESULT = {"call_id": "c", "name": "ferries", "content": "ten", "is_error": False}
TALK = [
    message("user", "When?"),
    message("guide", [CALL], "ToolCallRequestEvent"),
    message("guide", [RESULT], "ToolCallExecutionEvent"),
    message("guide", "Look at the pier.", "ThoughtEvent"),
    message("guide", "At ten."),
]


@pytest.mark.parametrize("form", ["result", "list", "lines"])
def test_messages_are_read_with_their_calls(form: str) -> None:
    value = {"messages": TALK, "stop_reason": "done"} if form == "result" else TALK
    text = "\n".join(map(json.dumps, TALK)) if form == "lines" else json.dumps(value)
    Path("team.json").write_text(text, encoding="utf-8")
    source = load("team.json")
    assert (source.kind, source.notes) == ("autogen", ("1 event left out, no message",))
    (talk,) = source
    assert [(one.role, one.text) for one in talk.messages] == [("user", "When?"), ("assistant", "At ten.")]
    (call,) = talk.messages[1].tool_calls
    assert (call.name, call.arguments, call.result) == ("ferries", {"pier": 3}, "ten")


def test_texts_and_images_of_one_message_are_its_words_and_parts() -> None:
    turns = [
        message("user_proxy", ["What is it?", {"data": "aGk="}], "MultiModalMessage"),
        message("critic", "A pier."),
    ]
    Path("team.json").write_text(json.dumps(turns), encoding="utf-8")
    (talk,) = load("team.json")
    assert [(one.role, one.text, [part.type for part in one.parts]) for one in talk.messages] == [
        ("user", "What is it?", ["image"]),
        ("assistant", "A pier.", []),
    ]


def test_a_value_of_another_form_is_named() -> None:
    Path("team.json").write_text(json.dumps([TALK[0], 3]), encoding="utf-8")
    with pytest.raises(DataError, match=r"team.json: \[1\]: is not a message or result of AutoGen"):
        load("team.json")
