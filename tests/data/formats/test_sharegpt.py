"""ShareGPT files."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, DataError, Message, load, messages
from duologue.data.people import topic_key
from duologue.data.records import bare

TURNS = [{"from": "human", "value": "Tea?"}, {"from": "gpt", "value": "Yes."}]


def put(value: Any, name: str = "talks.json") -> Path:
    Path(name).write_text(json.dumps(value), encoding="utf-8")
    return Path(name)


def test_a_conversation_is_turns_from_human_and_gpt() -> None:
    said = (Message(role="user", text="Tea?"), Message(role="assistant", text="Yes."))
    talks = [Conversation(id="a", scenario={}, messages=said)]
    assert messages.write_sharegpt(talks, "talks.json") == []
    assert json.loads(Path("talks.json").read_text()) == [{"id": "a", "conversations": TURNS}]
    messages.write_sharegpt(talks, "talks.jsonl")
    assert Path("talks.jsonl").read_text() == json.dumps({"id": "a", "conversations": TURNS}) + "\n"
    for name in ("talks.json", "talks.jsonl"):
        (read,) = load(name)
        assert (load(name).kind, read.id, read.messages) == ("sharegpt", "a", said)


def test_instructions_calls_labels_and_further_keys_are_read_and_written_again() -> None:
    call = {"from": "function_call", "value": json.dumps({"name": "shelf", "arguments": {"of": "tea"}})}
    answer = {**TURNS[1], "satisfaction": 4}
    turns = [{"from": "system", "value": "Be kind."}, TURNS[0], call, {"from": "observation", "value": "full"}, answer]
    path = put([{"id": "a", "conversations": turns, "topic": "tea", "labels": {"mood": "calm"}}])
    before = json.loads(path.read_text())
    (talk,) = load(path)
    assert (bare(talk.labels), [bare(message.labels) for message in talk.messages]) == (
        {"mood": "calm"},
        [{}, {"satisfaction": 4}],
    )
    assert [(made.name, made.result) for made in talk.messages[1].tool_calls] == [("shelf", "full")]
    assert messages.write_sharegpt([talk], path) == []
    assert json.loads(path.read_text()) == before
    assert topic_key(talk) is not None


@pytest.mark.parametrize(
    ("talk", "place"),
    [
        ({"conversations": [{"from": "narrator", "value": "a"}]}, "[0], message 0: needs"),
        ({"conversations": [{"from": "gpt", "value": 1}]}, "[0], message 0: needs"),
        ({"conversations": [*TURNS, "a"]}, "[0], message 2: needs"),
    ],
)
def test_a_broken_turn_is_named_with_its_place(talk: Any, place: str) -> None:
    with pytest.raises(DataError) as caught:
        load(put([talk]))
    assert str(caught.value).startswith(f"talks.json: {place}")
