"""Records: what they refuse, what they derive, and that nothing is lost on paper."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from duologue.data import Attempt, Conversation, Message, Span, Usage, count, record_lines
from duologue.data.records import (
    FAULTS,
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
    timing=st.builds(Timing, seconds=st.none() | st.floats(0, 1e6)),
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
    assert Conversation.model_validate(plain) == conversation
    assert record_lines.line(Conversation.model_validate(plain)) == record_lines.line(conversation)


def test_every_line_has_every_key_of_the_schema() -> None:
    empty, full = Conversation(id="a", scenario={}).plain(), talk("user").plain()
    assert list(empty) == list(full) == list(Conversation.model_fields)
    assert empty["schema_version"] == SCHEMA


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


@pytest.mark.parametrize("version", [SCHEMA + 1, "1", None, True])
def test_a_schema_that_this_version_does_not_know_is_refused_by_name(
    version: object, fault: Callable[..., str]
) -> None:
    path = Path("records.jsonl")
    path.write_text(json.dumps({"schema_version": version, "id": "a", "scenario": {}}), encoding="utf-8")
    assert fault(record_lines.read, path).startswith("records.jsonl: line 1: schema_version")


GOOD = b'{"schema_version": 3, "id": "a", "scenario": {}}\n'


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (GOOD + b'{"id": "b", "scenario": {}', "line 2"),
        (GOOD + b"\n" + b"nonsense", "line 3"),
        (GOOD + b'{"id": "b", "scenario": {"a": NaN}}', "line 2"),
        (GOOD + b'{"id": "b"}', "line 2: scenario"),
        (GOOD + b'{"id": 7, "scenario": {}}', "line 2: id"),
        (
            GOOD + b'{"id": "b", "scenario": {}, "messages": [{"role": "system", "text": "a"}]}',
            "line 2: messages.0.role",
        ),
        (GOOD + b'{"id": "b", "scenario": {}, "stop": "bored"}', "line 2: stop"),
        (GOOD + b'{"id": "b", "scenario": {}, "a\\nb": 1}', "line 2"),
        (GOOD + b"[1]", "line 2"),
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


def test_records_that_cannot_be_written_leave_the_file_that_was_there() -> None:
    path = Path("records.jsonl")
    record_lines.write([talk("user")], path)
    before = path.read_bytes()
    broken = talk("user").model_copy(update={"extra": {"a": float("nan")}})
    with pytest.raises(ValueError, match="JSON"):
        record_lines.write([talk("user", "assistant"), broken], path)
    assert path.read_bytes() == before
    assert [file.name for file in Path().iterdir()] == ["records.jsonl"]


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ([], []),
        (["user", "assistant"], [(1, 1)]),
        (["user", "assistant", "user", "assistant"], [(1, 1), (1, 1)]),
        (["assistant", "user", "assistant"], [(0, 1), (1, 1)]),
        (["user", "user", "assistant"], [(2, 1)]),
        (["user", "assistant", "assistant", "user"], [(1, 2), (1, 0)]),
        (["user"], [(1, 0)]),
        (["assistant"], [(0, 1)]),
        (["assistant", "assistant", "user", "user"], [(0, 2), (2, 0)]),
    ],
)
def test_exchanges_begin_where_the_user_speaks_after_the_assistant(
    roles: list[str], expected: list[tuple[int, int]]
) -> None:
    exchanges = talk(*roles).exchanges
    assert [(len(exchange.user), len(exchange.assistant)) for exchange in exchanges] == expected


def draft(verdict: str, name: str = "", tokens: int | None = None) -> Attempt:
    usage = None if tokens is None else Usage(input_tokens=tokens, output_tokens=1)
    return Attempt(text="a", verdict=verdict, prompt=PromptRecord(name=name), usage=usage)


def test_a_message_knows_its_rejected_drafts_and_the_prompt_of_the_one_that_stands() -> None:
    message = message_of("user", "a", draft("rejected", "first"), draft("accepted", "second"))
    assert [attempt.prompt.name for attempt in message.rejected if attempt.prompt] == ["first"]
    assert message.prompt is not None
    assert message.prompt.name == "second"
    assert not message.fallback


def test_tokens_of_every_draft_count_also_of_those_never_said() -> None:
    conversation = Conversation(
        id="a",
        scenario={},
        messages=(
            message_of("user", "a", draft("rejected", tokens=10), draft("accepted", tokens=20)),
            message_of("assistant"),
        ),
        unsaid=(Unsaid(role="assistant", after=1, attempts=(draft("rejected", tokens=40), draft("rejected"))),),
    )
    assert conversation.usage == Usage(input_tokens=70, output_tokens=3, calls=3)
    assert conversation.usage.tokens == 73
    assert talk("user").usage == Usage.none()


def test_every_stop_reason_has_its_fault() -> None:
    assert {reason for reason, fault in FAULTS.items() if fault != "none"} == {
        "user_rejected",
        "assistant_rejected",
        "user_timeout",
        "agent_interrupted",
        "agent_timeout",
        "agent_limit",
        "model_failed",
    }


@pytest.mark.parametrize(
    ("settings", "label"),
    [
        ({}, "Mine"),
        ({"model": {"spec": "openai:m", "arguments": {"temperature": 0.5, "top_p": 1}}}, "openai:m?temperature=0.5&top_p=1"),
        ({"model": {"spec": "offline"}}, "offline"),
        ({"model": {"class": "Parrot", "arguments": {"model": "p-1"}}}, "p-1"),
        ({"model": {"class": "Parrot", "arguments": {}}}, "Parrot"),
        ({"replays": "quac.json"}, "replay:quac.json"),
        ({"agent": "clerk", "view": {"name": "plain"}}, "clerk"),
        ({"function": {"name": "reply", "source": "x"}}, "reply"),
    ],
)  # fmt: skip
def test_a_node_has_a_label_to_print(settings: dict[str, object], label: str) -> None:
    node = NodeInfo.of("assistant", {"name": "Mine", **settings})
    assert node.label == label
    assert node.flat() == {"name": "Mine", **settings}


@pytest.mark.parametrize(
    ("stop", "own", "fault", "by_itself", "finished"),
    [
        (None, {}, None, False, False),
        ("max_turns", {}, "none", True, True),
        ("user_rejected", {}, "user", True, True),
        ("user_timeout", {}, "user", True, True),
        ("agent_timeout", {}, "assistant", True, True),
        ("budget", {}, "none", False, True),
        ("cancelled", {}, "none", False, False),
        ("model_failed", {}, "infrastructure", False, False),
        ("airline:transferred", {"airline:transferred": "assistant"}, "assistant", True, True),
        ("airline:no_database", {"airline:no_database": "infrastructure"}, "infrastructure", False, False),
        ("airline:transferred", {}, None, True, True),
    ],
)
def test_a_record_knows_whose_fault_its_stop_is_and_whether_it_is_finished(
    stop: str | None, own: dict[str, str], fault: str | None, by_itself: bool, finished: bool
) -> None:
    origin = Provenance(cast="airline", stop_reasons=own)
    record = Conversation(id="a", scenario={}, stop=stop, provenance=origin)
    assert (record.fault, record.ended_by_itself, record.finished) == (fault, by_itself, finished)
    if not own:
        assert record.model_copy(update={"provenance": None}).fault == fault


@pytest.mark.parametrize("stop", ["bored", "airline:", ":transferred", "Airline:gone", "airline:gone away", "a:b:c"])
def test_a_stop_that_is_neither_the_cores_nor_well_formed_is_refused(stop: str) -> None:
    with pytest.raises(ValidationError):
        Conversation(id="a", scenario={}, stop=stop)


def test_tool_calls_of_a_message_are_those_of_the_draft_that_stands() -> None:
    first, second = (ToolCall(name=name, arguments={"n": 1}, result=[1]) for name in ("look_up", "change"))
    rejected = Attempt(text="a", verdict="rejected", tool_calls=(first,))
    accepted = Attempt(number=2, text="b", verdict="accepted", tool_calls=(second, first))
    message = Message(role="assistant", text="b", attempts=(rejected, accepted))
    assert [call.name for call in message.tool_calls] == ["change", "look_up"]
    assert Message(role="assistant", text="sorry", attempts=(rejected,)).tool_calls == ()
    counts = count([Conversation(id="a", scenario={}, messages=(message,))])
    assert (counts.side("assistant").tool_calls, counts.side("user").tool_calls) == (3, 0)


def test_a_record_shows_itself_in_one_line_with_the_begin_of_its_text() -> None:
    drafts = (
        Attempt(number=1, text="no " * 500, verdict="rejected", reason="empty"),
        Attempt(number=2, text="Yes.\nNow", verdict="accepted"),
    )
    question = Message(role="user", text="Where is it?\n" * 500)
    reply = Message(role="assistant", text="Yes.\nNow", attempts=drafts)
    whole = Conversation(id="1", scenario={"kind": "call"}, messages=(question, reply) * 20)
    assert repr(reply) == "Message(assistant: 'Yes. Now', 2 drafts)"
    assert repr(drafts[1]) == "Attempt(2, accepted: 'Yes. Now')"
    for value in (question, drafts[0], *whole.exchanges):
        assert len(repr(value)) < 200
        assert "\n" not in repr(value)
    assert len(repr(whole.messages)) < 4000
