"""Dialogues of a speaker and a text: each side is read, with its calls and annotations."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, load, messages
from duologue.data.formats.messages import asides, further
from duologue.data.loading import Loaded

TALK = [("user", "A table for two?"), ("assistant", "At seven."), ("user", "Fine.")]


def file(*values: Any, name: str = "dialogues.json", **how: Any) -> Path:
    path = Path(name)
    path.write_text("\n".join(json.dumps(value, **how) for value in values), encoding="utf-8")
    return path


def words(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def read(*values: Any) -> Loaded:
    """The conversations, which are written as lines of messages without a loss, and read back equal."""
    loaded = load(file(*values))
    assert loaded.kind == "dialogues"
    assert messages.write(loaded, "again.jsonl") == []
    again = load("again.jsonl")
    assert again.kind == "messages"
    assert [(one.id, one.messages, asides(one), further(one)) for one in loaded] == [
        (one.id, one.messages, asides(one), further(one)) for one in again
    ]
    return loaded


def turns(speaker: str, text: str, user: str, assistant: str, **more: Any) -> list[dict[str, Any]]:
    return [{speaker: user if role == "user" else assistant, text: words, **more} for role, words in TALK]


DIALOGUES: dict[str, dict[str, Any]] = {
    "taskmaster": {"conversation_id": "d1", "utterances": turns("speaker", "text", "USER", "ASSISTANT", segments=[])},
    "sgd": {"dialogue_id": "d1", "turns": turns("speaker", "utterance", "USER", "SYSTEM", frames=[])},
    "sdialog": {"id": "d1", "turns": turns("speaker", "text", "User", "Bot"), "events": None},
    "dialoguekit": {"conversation_id": "d1", "conversation": turns("participant", "utterance", "USER", "AGENT")},
    "a service": {"session_id": "d1", "log": turns("sender", "message", "customer", "support_agent", time=3)},
    "roles": {"id": "d1", "dialog": turns("role", "content", "user", "assistant")},
    "authors": {"id": "d1", "messages": [{"author": {"role": who}, "text": text} for who, text in TALK]},
    "history": {"id": "d1", "history": turns("role", "content", "user", "assistant")},
}


@pytest.mark.parametrize("name", DIALOGUES)
@pytest.mark.parametrize("form", ["one", "list", "by id", "in a list under a key"])
def test_a_dialogue_is_read_alone_in_a_list_by_its_id_and_below_a_key(name: str, form: str) -> None:
    value = DIALOGUES[name]
    shapes = {"one": value, "list": [value], "by id": {"d1": value}, "in a list under a key": {"dialogues": [value]}}
    if (name, form) == ("history", "one"):
        del value["id"], value["history"][0]  # alone it would be RecLLMSim's
        value |= {"id": "d1", "history": [{"role": "user", "content": TALK[0][1]}, *value["history"]]}
    (conversation,) = read(shapes[form])
    assert (conversation.id, words(conversation)) == ("d1", TALK)


def test_annotations_and_names_are_further_keys_of_their_message() -> None:
    value = DIALOGUES["a service"]
    (conversation,) = read({**value, "shop": "tea"})
    assert conversation.messages[0].extra == {"sender": "customer", "time": 3}
    assert further(conversation)["shop"] == "tea"


def test_system_is_the_assistant_only_where_no_other_speaker_is() -> None:
    spoken = [{"speaker": "system", "text": "Be brief."}, *turns("speaker", "text", "user", "bot")]
    (conversation,) = read({"turns": spoken})
    assert words(conversation) == TALK
    assert [aside["system"] for aside in asides(conversation)] == ["Be brief."]
    (conversation,) = read({"turns": turns("role", "text", "user", "system")})
    assert len(asides(conversation)) == 1


def test_unknown_speakers_are_named_and_not_guessed(fault: Callable[..., str]) -> None:
    line = fault(load, file({"turns": turns("speaker", "text", "Ann", "Bo")}))
    assert "line 1: 'Ann', 'Bo': neither user nor assistant by name" in line
    assert "--log-format" in line
    assert "line 1: 'Bo': neither" in fault(load, file({"turns": turns("speaker", "text", "user", "Bo")}))


PUBLISHED: dict[str, Any] = {
    "crosswoz": {
        "8246": {"goal": [], "messages": [{"role": "usr", "content": "A?"}, {"role": "sys", "content": "B."}]}
    },
    "qrecc": [{"Context": [], "Question": "A?", "Truth_answer": "B.", "Conversation_no": 8246, "Turn_no": 1}],
    "wildchat": {
        "conversation_hash": "8246",
        "conversation": [{"role": "user", "content": "A?", "hashed_ip": "h"}, {"role": "assistant", "content": "B."}],
    },
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_conversations_of_published_data_sets_have_their_ids(name: str) -> None:
    Path("set.json").write_text(json.dumps(PUBLISHED[name]))
    (talk,) = load("set.json")
    assert (talk.id, str(talk)) == ("8246", "user: A?\nassistant: B.")


def test_rows_of_topiocqa_are_one_conversation_in_the_order_of_their_turns() -> None:
    row = {"Conversation_no": 0, "Topic": "t", "Context": []}
    rows = [{**row, "Turn_no": turn, "Question": f"{turn}?", "Answer": f"{turn}."} for turn in (2, 1, 10)]
    Path("set.json").write_text(json.dumps(rows))
    (talk,) = load("set.json")
    assert [message.text for message in talk.messages] == ["1?", "1.", "2?", "2.", "10?", "10."]
