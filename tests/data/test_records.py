"""Records: what they refuse, what they derive, and that nothing is lost on paper."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from duologue.data import FAULTS, Attempt, Conversation, DataError, Message, Span, Usage, record_lines
from duologue.data.files import json_files
from duologue.data.records import (
    SCHEMA,
    Failure,
    NodeInfo,
    PromptRecord,
    Provenance,
    Timing,
    ToolCall,
    Unsaid,
)
from tests.data.talks import message_of, roles, talk

ODD = [
    "",
    " ",
    "\n",
    "\r\n",
    "\u2028",
    "\u2029",
    "\x85",
    "\x1c",
    "\x00",
    "\ud800",
    "\udfff",
    "{{ a }}",
    "<b>",
    '"',
    "İ",
    "🙂",
]
texts = (
    st.text(st.characters(), max_size=8)
    | st.sampled_from(ODD)
    | st.tuples(st.text(max_size=3), st.sampled_from(ODD)).map("".join)
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**20, 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)
objects = st.dictionaries(texts, values, max_size=2)
counts = st.integers(0)
usages = st.builds(
    Usage, input_tokens=counts, output_tokens=counts, cached_tokens=counts, reasoning_tokens=counts, calls=counts
)
tool_calls = st.builds(ToolCall, name=texts, arguments=objects, result=values, error=st.none() | texts)
prompts = st.builds(PromptRecord, name=texts, digest=texts, text=texts)
attempts = st.builds(
    Attempt,
    number=st.integers(0, 9),
    text=texts,
    raw=st.none() | texts,
    cleaned=st.tuples() | st.tuples(texts),
    verdict=st.sampled_from(["accepted", "rejected", "observed", "unjudged"]),
    reason=st.none() | texts,
    notes=st.tuples() | st.tuples(texts),
    prompt=st.none() | prompts,
    usage=st.none() | usages,
    finish_reason=st.none() | texts,
    model=st.none() | texts,
    reasoning=st.none() | texts,
    tool_calls=st.lists(tool_calls, max_size=1).map(tuple),
    kept=objects,
)
messages = st.builds(
    Message,
    role=roles,
    text=texts,
    spans=st.lists(st.builds(Span, text=texts, start=st.integers()), max_size=2).map(tuple),
    attempts=st.lists(attempts, max_size=2).map(tuple),
    stored=st.booleans(),
    labels=objects,
    extra=objects,
)
conversations = st.builds(
    Conversation,
    id=texts,
    scenario=objects,
    ordinal=st.integers(0, 3),
    repeat=st.integers(0, 3),
    messages=st.lists(messages, max_size=3).map(tuple),
    unsaid=st.lists(
        st.builds(Unsaid, role=roles, after=st.integers(0, 9), attempts=st.tuples(attempts)), max_size=1
    ).map(tuple),
    stop=st.none() | st.sampled_from([*FAULTS, "airline:transferred"]),
    failure=st.none() | st.builds(Failure, node=texts, error=texts),
    provenance=st.none()
    | st.builds(
        Provenance,
        cast=texts,
        nodes=st.dictionaries(texts, st.builds(NodeInfo.of, texts, objects), max_size=1),
        stop_reasons=st.just({}) | st.just({"airline:transferred": "assistant"}),
        limits=objects,
        data=texts,
    ),
    timing=st.builds(
        Timing,
        seconds=st.none() | st.floats(0, 1e6),
        nodes=st.dictionaries(texts, st.floats(0, 9), max_size=1),
    ),
    memory=st.dictionaries(roles, objects, max_size=1),
    labels=objects,
    extra=objects,
)


@pytest.mark.heavy
@given(st.lists(conversations, max_size=2))
def test_records_that_were_written_are_read_as_they_were(given_records: list[Conversation]) -> None:
    path = Path("records.jsonl")
    record_lines.write(given_records, path)
    assert record_lines.read(path) == given_records
    assert path.read_bytes().count(b"\n") == len(given_records)


@pytest.mark.heavy
@given(conversations)
def test_a_record_is_plain_json_and_comes_back_from_it(conversation: Conversation) -> None:
    plain = json.loads(json.dumps(conversation.plain()))
    assert Conversation.from_plain(plain) == conversation
    assert record_lines.line(Conversation.from_plain(plain)) == record_lines.line(conversation)


@pytest.mark.parametrize("odd", ODD)
def test_odd_characters_neither_end_a_line_nor_change(odd: str) -> None:
    conversation = Conversation(id="a", scenario={odd: odd}, messages=(message_of("user", f"a{odd}b"),))
    path = Path("records.jsonl")
    record_lines.write([conversation, conversation], path)
    assert record_lines.read(path) == [conversation, conversation]


def test_people_can_read_what_is_written() -> None:
    path = Path("records.jsonl")
    record_lines.write([Conversation(id="a", scenario={}, messages=(message_of("user", "长城 ß"),))], path)
    assert "长城 ß" in path.read_text(encoding="utf-8")


def test_every_line_has_every_key_of_the_schema() -> None:
    empty, full = Conversation(id="a", scenario={}).plain(), talk("user").plain()
    assert list(empty) == list(full) == list(Conversation.model_fields)
    assert empty["schema_version"] == SCHEMA


def test_blank_lines_and_a_byte_order_mark_are_no_records() -> None:
    path = Path("records.jsonl")
    line = record_lines.line(talk("user"))
    path.write_bytes(b"\xef\xbb\xbf\n" + line.encode() + b"\r\n  \n" + line.encode().rstrip())
    assert record_lines.read(path) == [talk("user"), talk("user")]


def test_records_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        talk("user").id = "b"
    with pytest.raises(ValidationError):
        talk("user").messages[0].text = "b"


@pytest.mark.parametrize(
    "unknown",
    [
        {"surprise": 1},
        {"messages": [{"role": "user", "text": "a", "surprise": 1}]},
        {"messages": [{"role": "user", "text": "a", "spans": [{"text": "a", "start": 0, "end": 1}]}]},
        {"provenance": {"cast": "a", "surprise": 1}},
    ],
)
def test_keys_that_a_record_does_not_know_are_refused(unknown: dict[str, Any], fault: Callable[..., str]) -> None:
    path = Path("records.jsonl")
    path.write_text(json.dumps({"id": "a", "scenario": {}} | unknown), encoding="utf-8")
    assert fault(record_lines.read, path).startswith("records.jsonl: line 1")


@pytest.mark.parametrize("version", [SCHEMA + 1, SCHEMA - 1, 0, -1, "1", None, True, 1.0])
def test_a_schema_that_this_version_does_not_know_is_refused_by_name(
    version: object, fault: Callable[..., str]
) -> None:
    path = Path("records.jsonl")
    path.write_text(json.dumps({"schema_version": version, "id": "a", "scenario": {}}), encoding="utf-8")
    line = fault(record_lines.read, path)
    assert line.startswith("records.jsonl: line 1: schema_version")
    assert repr(version) in line


GOOD = b'{"schema_version": 2, "id": "a", "scenario": {}}\n'


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (GOOD + b'{"id": "b", "scenario": {}', "line 2"),
        (GOOD + b"\n" + b"nonsense", "line 3"),
        (GOOD + b'{"id": "b", "scenario": {"a": NaN}}', "line 2"),
        (GOOD + b'{"id": "b", "scenario": {"a": -Infinity}}', "line 2"),
        (GOOD + b'{"id": "b"}', "line 2: scenario"),
        (GOOD + b'{"id": 7, "scenario": {}}', "line 2: id"),
        (
            GOOD + b'{"id": "b", "scenario": {}, "messages": [{"role": "system", "text": "a"}]}',
            "line 2: messages.0.role",
        ),
        (GOOD + b'{"id": "b", "scenario": {}, "stop": "bored"}', "line 2: stop"),
        (GOOD + b'{"id": "b", "scenario": {}, "a\\nb": 1}', "line 2"),
        (GOOD + b"[1]", "line 2"),
        (GOOD + b'"text"', "line 2"),
        (GOOD + b"null", "line 2"),
        (GOOD + b'{"id": "\xff"}', "byte"),
    ],
)
def test_a_line_that_is_no_record_is_named_in_one_line(content: bytes, place: str, fault: Callable[..., str]) -> None:
    path = Path("records.jsonl")
    path.write_bytes(content)
    line = fault(record_lines.read, path)
    assert line.startswith("records.jsonl: ")
    assert place in line
    assert "\n" not in line
    assert "attribute" not in line


def nested(depth: int) -> Path:
    """A file with one record that holds a list in a list in a list."""
    path = Path("records.jsonl")
    path.write_text('{"id": "a", "scenario": {"a": ' + "[" * depth + "]" * depth + "}}", encoding="utf-8")
    return path


def test_nesting_that_is_not_too_deep_comes_back() -> None:
    (conversation,) = record_lines.read(nested(100))
    record_lines.write([conversation], "again.jsonl")
    assert record_lines.read("again.jsonl") == [conversation]


@pytest.mark.parametrize("depth", [500, 5_000, 100_000])
def test_deep_nesting_is_refused_in_one_line(depth: int, fault: Callable[..., str]) -> None:
    line = fault(record_lines.read, nested(depth))
    assert line.startswith("records.jsonl: ")
    assert "\n" not in line


def test_records_that_cannot_be_written_leave_the_file_that_was_there() -> None:
    path = Path("records.jsonl")
    record_lines.write([talk("user")], path)
    before = path.read_bytes()
    broken = talk("user").model_copy(update={"labels": {"a": float("nan")}})
    with pytest.raises(ValueError, match="JSON"):
        record_lines.write([talk("user", "assistant"), broken], path)
    assert path.read_bytes() == before
    assert [file.name for file in Path().iterdir()] == ["records.jsonl"]


def test_a_place_that_cannot_be_written_is_one_line_and_leaves_nothing() -> None:
    Path("file").write_text("", encoding="utf-8")
    Path("folder").mkdir()
    for place in ("file/records.jsonl", "folder"):
        with pytest.raises(DataError, match=r"cannot be written|is a folder") as caught:
            json_files.write_text(place, "a")
        assert str(caught.value).startswith(f"{place}: ")
    assert sorted(file.name for file in Path().rglob("*")) == ["file", "folder"]


def test_without_its_times_a_record_is_otherwise_the_same() -> None:
    conversation = talk("user").model_copy(update={"timing": Timing(seconds=1.5)})
    assert conversation.without_timing() == talk("user")
