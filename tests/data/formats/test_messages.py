"""JSON lines of `messages`."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Conversation, DataError, Message, load, messages
from duologue.data.formats.messages import further
from duologue.data.records import Attempt, Record, Span, Unsaid, Usage, bare, labels_from

texts = st.text(st.characters(), max_size=8) | st.sampled_from(["", "\u2028", "\ud800", "\r\n"])
talks = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=4)


def lines(*values: Any) -> Path:
    """A file with these values, one a line."""
    path = Path("chat.jsonl")
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def talks_in(path: Path) -> list[Conversation]:
    return list(messages.read(path))


def turn(content: str = "a", role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content} | more


@given(st.lists(talks, max_size=3))
def test_what_both_sides_said_comes_back_in_order(given_talks: list[list[tuple[str, str]]]) -> None:
    path = Path("chat.jsonl")
    conversations = [
        Conversation(
            id=f"talk {number}",
            scenario={},
            messages=tuple(Message(role=role, text=text) for role, text in talk),
        )
        for number, talk in enumerate(given_talks)
    ]
    assert messages.write(conversations, path) == []
    read = talks_in(path)
    assert [conversation.id for conversation in read] == [conversation.id for conversation in conversations]
    assert [conversation.messages for conversation in read] == [conversation.messages for conversation in conversations]


def test_what_was_said_and_not_stored_is_left_out() -> None:
    path = Path("chat.jsonl")
    texts = (Message(role="user", text="Who?"), Message(role="user", text="Bye!", stored=False))
    messages.write([Conversation(id="a", scenario={}, messages=texts)], path)
    assert [message.text for message in talks_in(path)[0].messages] == ["Who?"]


DRAFT = Attempt(text="Who?", verdict="accepted", usage=Usage(output_tokens=2))
LOST: dict[str, tuple[type[Record], Any]] = {
    "what it is about, why it ended and how it was made": (Conversation, {"stop": "max_turns"}),
    "further keys of the source": (Conversation, {"extra": {"mood": "glad"}}),
    "turns without a stored message": (Conversation, {"unsaid": (Unsaid(role="user", after=1, attempts=()),)}),
    "spans and labels": (Message, {"spans": (Span(text="Who", start=0),)}),
    "drafts: rejected ones, prompts, reasoning, tokens, notes": (
        Message,
        {"attempts": (DRAFT.model_copy(update={"verdict": "rejected"}),)},
    ),
}


def with_one(record: type[Record], fields: dict[str, Any]) -> Conversation:
    """A conversation of which this alone is no stored word."""
    message = Message(role="user", text="Who?")
    if record is Message:
        message, fields = message.model_copy(update=fields), {}
    return Conversation(id="a", scenario={}, messages=(message,)).model_copy(update=fields)


@pytest.mark.parametrize("what", LOST)
@pytest.mark.parametrize("write", [messages.write, messages.write_sharegpt])
def test_each_kind_of_thing_that_is_left_out_is_listed_alone(what: str, write: Any) -> None:
    conversation = with_one(*LOST[what])
    assert write([conversation] * 2, Path("out.jsonl")) == [f"{what}, of 2 conversations"]


contents = texts | st.lists(st.builds(lambda text: {"type": "text", "text": text}, texts), max_size=2)
values = st.none() | st.integers() | st.text(max_size=3)
noted = values | st.dictionaries(st.sampled_from(["rating", "x"]), values, max_size=2)
turns = st.builds(
    lambda role, content, more: {"role": role, "content": content} | more,
    st.sampled_from(["user", "assistant", "system", "tool", "function"]),
    contents,
    st.dictionaries(st.sampled_from(["name", "tool_calls", "weight", "labels", "intent"]), noted, max_size=2),
)
objects = st.builds(
    lambda turns, more: more | {"messages": turns},
    st.lists(turns, max_size=4),
    st.dictionaries(
        st.sampled_from(["id", "user", "task", "topic", "labels", "rating", "asides", "system"]), noted, max_size=3
    ),
)


@given(st.lists(objects, min_size=1, max_size=3))
def test_what_was_read_is_written_and_read_again_with_every_further_key(given_lines: list[dict[str, Any]]) -> None:
    read = talks_in(lines(*given_lines))
    messages.write(read, "again.jsonl")
    again = talks_in(Path("again.jsonl"))
    assert [talk.messages for talk in again] == [talk.messages for talk in read]
    assert [(talk.labels, talk.unsaid) for talk in again] == [(talk.labels, talk.unsaid) for talk in read]
    assert [further(talk) for talk in again] == [further(talk) for talk in read]


def test_what_a_line_tells_besides_can_be_had() -> None:
    (conversation,) = talks_in(lines({"id": "a", "messages": [turn()], "user": "ann", "source": {"b": None}}))
    assert further(conversation).items() >= {"user": "ann", "source": {"b": None}}.items()


def test_what_stands_under_labels_and_what_the_analyses_know_are_labels_and_nothing_else_is() -> None:
    answer = turn("Tea.", "assistant", satisfaction=4, name="Ann", weight=1, created_at=2, note="good", model="m")
    judged = turn("Rice.", "assistant", satisfaction=1, labels={"satisfaction": 5, "tone": ["calm"]})
    line = {"messages": [turn(), answer, judged], "rating": {"detail": 2}, "labels": {"mood": "fine"}, "user": "ann"}
    (conversation,) = talks_in(lines(line))
    assert bare(conversation.labels) == {"rating": {"detail": 2}, "mood": "fine"}
    of_messages = [bare(message.labels) for message in conversation.messages]
    assert of_messages == [{}, {"satisfaction": 4}, {"satisfaction": 5, "tone": ["calm"]}]


def test_labels_that_were_given_since_are_written_too() -> None:
    (read,) = talks_in(lines({"id": "a", "messages": [turn(satisfaction=4)], "labels": {"mood": "fine"}}))
    judged = read.model_copy(update={"labels": labels_from({"mood": "sad"})})
    for write in (messages.write, messages.write_sharegpt):
        assert write([judged], "again.jsonl") == []
        (again,) = load("again.jsonl")
        assert (bare(again.labels), bare(again.messages[0].labels)) == ({"mood": "sad"}, {"satisfaction": 4})


def test_calls_and_results_of_tools_are_those_of_the_next_message() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]}
    talk = [turn("Rain?"), call, {"role": "tool", "tool_call_id": "1", "content": None}, turn("No.", "assistant")]
    (conversation,) = talks_in(lines({"messages": talk}))
    assert [message.text for message in conversation.messages] == ["Rain?", "No."]
    (looked,) = conversation.messages[1].tool_calls
    assert (looked.name, looked.result, looked.error) == ("f", None, None)
    assert load("chat.jsonl").notes == ()
    (unanswered,) = talks_in(lines({"messages": talk[:3]}))
    assert [(one.role, one.after) for one in unanswered.unsaid] == [("assistant", 1)]
    spoken = call | {"content": "Let me look."}
    (conversation,) = talks_in(lines({"messages": [turn("Rain?"), spoken]}))
    assert conversation.messages[1].text == "Let me look."


def test_the_words_of_a_content_in_parts_are_its_text() -> None:
    parts = [
        {"type": "text", "text": "What "},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "is it?"},
    ]
    talk = [turn() | {"content": parts}, turn() | {"content": parts[1:2]}]
    (conversation,) = talks_in(lines({"messages": talk}))
    assert [message.text for message in conversation.messages] == ["What is it?", ""]
    assert [[part.url for part in message.parts] for message in conversation.messages] == [["x"], ["x"]]


def test_what_a_system_message_instructs_is_said_by_neither_side_and_comes_back_at_its_place() -> None:
    talk = [turn("Be brief.", "system"), turn("Who?"), turn("Cite.", "system"), turn("I.", "assistant")]
    (conversation,) = talks_in(lines({"id": "a", "messages": talk}))
    assert [message.text for message in conversation.messages] == ["Who?", "I."]
    messages.write([conversation], "again.jsonl")
    assert json.loads(Path("again.jsonl").read_text()) == {"id": "a", "messages": talk}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([turn()], "line 2"),
        ({"id": "a"}, "line 2"),
        ({"messages": "a"}, "line 2"),
        ({"messages": None}, "line 2"),
        ({"messages": [turn(), "a"]}, "line 2, message 1"),
        ({"messages": [turn(), turn(role="narrator")]}, "line 2, message 1"),
        ({"messages": [turn(), {"role": "system"}]}, "line 2, message 1"),
        ({"messages": [{"role": "user"}]}, "line 2, message 0"),
        ({"messages": [{"content": "a"}]}, "line 2, message 0"),
        ({"messages": [{"role": ["user"], "content": "a"}]}, "line 2, message 0"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "line 2, message 0"),
    ],
)
def test_a_line_that_is_no_conversation_is_named(value: Any, place: str) -> None:
    with pytest.raises(DataError) as caught:
        talks_in(lines({"messages": [turn()]}, value))
    assert str(caught.value).startswith(f"chat.jsonl: {place}: ")
    assert "\n" not in str(caught.value)
