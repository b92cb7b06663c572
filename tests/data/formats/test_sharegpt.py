"""ShareGPT files."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Conversation, DataError, Message, load, messages
from duologue.data.formats.turns import SHAREGPT_RESULTS, SPEAKERS
from duologue.data.people import topic_key

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


values = st.none() | st.integers() | st.text(max_size=3)
turns = st.builds(
    lambda role, value, more: {"from": role, "value": value} | more,
    st.sampled_from([*SPEAKERS, "function_call", *SHAREGPT_RESULTS, "system"]),
    st.text(max_size=4),
    st.dictionaries(st.sampled_from(["weight", "loss", "role"]), values, max_size=2),
)
talks = st.builds(
    lambda turns, more: more | {"conversations": turns},
    st.lists(turns, max_size=4),
    st.dictionaries(st.sampled_from(["id", "model", "messages_of"]), values, max_size=3),
)


@given(st.lists(talks, min_size=1, max_size=3))
def test_what_was_read_is_written_again(given_talks: list[dict[str, Any]]) -> None:
    written = [
        json.dumps(messages.SHAREGPT_FORM.written(conversation))
        for conversation in messages.read_sharegpt(put(given_talks))
    ]
    assert written == [json.dumps(talk) for talk in given_talks]


def test_turns_of_the_system_and_of_tools_are_no_messages() -> None:
    aside = [{"from": role, "value": "Be kind."} for role in ("system", "function_call", "observation")]
    (read,) = messages.read_sharegpt(put([{"conversations": [*aside, *TURNS]}]))
    assert [message.role for message in read.messages] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("talk", "place"),
    [
        ({"conversations": [{"from": "narrator", "value": "a"}]}, "[0], message 0: needs 'from'"),
        ({"conversations": [{"from": "gpt", "value": 1}]}, "[0], message 0: needs 'from'"),
        ({"conversations": [*TURNS, "a"]}, "[0], message 2: needs 'from'"),
    ],
)
def test_a_broken_turn_is_named_with_its_place(talk: Any, place: str) -> None:
    with pytest.raises(DataError) as caught:
        load(put([talk]))
    assert str(caught.value).startswith(f"talks.json: {place}")


def test_labels_and_the_topic_of_a_line_are_read_as_in_messages_and_written_again() -> None:
    turns = [TURNS[0], {**TURNS[1], "satisfaction": 4}]
    path = put([{"id": "a", "topic": "tea", "conversations": turns, "labels": {"mood": "calm"}}])
    before = json.loads(path.read_text())
    (talk,) = messages.read_sharegpt(path)
    assert (talk.labels, [message.labels for message in talk.messages]) == ({"mood": "calm"}, [{}, {"satisfaction": 4}])
    assert messages.write_sharegpt([talk], path) == []
    assert json.loads(path.read_text()) == before
    assert topic_key(talk) is not None
