"""Every form of log holds the same conversation, and is read as it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.data import DataError, kind_of, load, messages
from duologue.data.checks import check
from duologue.data.records import bare
from tests.data.logs.logged_talks import LoggedStep, LoggedTalk, read_as
from tests.data.logs.written_logs import WITHOUT_CALLS, WITHOUT_SYSTEM, WRITERS, span

TALK = LoggedTalk(
    (
        LoggedStep("user", "Is a room free for two nights?"),
        LoggedStep("assistant", "Room 7 is.", "rooms", {"nights": 2}, "room 7"),
        LoggedStep("user", "Then take it, please."),
        LoggedStep("assistant", "It is yours."),
    ),
    system="You answer for a small hotel.",
)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1).filter(
    lambda text: text.strip() == text
)
NAMES = st.from_regex(r"[a-z][a-z_]{0,9}", fullmatch=True)


@st.composite
def talks(draw: st.DrawFn) -> LoggedTalk:
    steps = []
    for number in range(draw(st.integers(1, 4))):
        steps.append(LoggedStep("user", f"{draw(WORDS)} {number}"))
        call = draw(st.tuples(NAMES, st.dictionaries(NAMES, st.integers() | WORDS, max_size=2), WORDS) | st.none())
        steps.append(LoggedStep("assistant", f"{draw(WORDS)} {number}", *(call or ())))
    return LoggedTalk(tuple(steps), draw(WORDS))


def as_held(name: str, talk: LoggedTalk) -> LoggedTalk:
    """The conversation without what the form has no place for."""
    steps = [LoggedStep(step.role, step.text) for step in talk.steps] if name in WITHOUT_CALLS else talk.steps
    return LoggedTalk(tuple(steps), "" if name in WITHOUT_SYSTEM else talk.system)


def read(name: str, talk: LoggedTalk) -> LoggedTalk:
    kind, write = WRITERS[name]
    path = Path("log.json")
    path.write_text(json.dumps(write(talk)), encoding="utf-8")
    assert kind_of(path) == kind
    (conversation,) = load(path)
    assert not [finding.rule for finding in check(conversation) if finding.level == "error" and talk is TALK]
    messages.write([conversation], "again.jsonl")
    (again,) = load("again.jsonl")
    assert read_as(again) == read_as(conversation)
    return read_as(conversation)


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_conversation_is_read_from_each_form(name: str) -> None:
    assert read(name, TALK) == as_held(name, TALK)


@pytest.mark.parametrize("name", WRITERS)
@given(talk=talks())
@settings(max_examples=15)
def test_any_conversation_is_read_from_each_form(name: str, talk: LoggedTalk) -> None:
    expected, got = as_held(name, talk), read(name, talk)
    assert got.messages == expected.messages
    assert [call[:2] for call in got.calls] == [call[:2] for call in expected.calls]
    assert got.system == expected.system


def test_rewards_and_scores_are_labels() -> None:
    for name, label in (
        ("tau2-bench", {"reward": 0.0}),
        ("Langfuse trace", {"helpful": 1}),
    ):
        Path("log.json").write_text(json.dumps(WRITERS[name][1](TALK)), encoding="utf-8")
        assert bare(load("log.json")[0].labels) == label


def test_calls_of_a_users_own_tools_are_the_users() -> None:
    value = WRITERS["tau2-bench"][1](TALK)
    call = {"id": "u1", "name": "restart", "arguments": {}, "requestor": "user"}
    value["simulations"][0]["messages"][1:1] = [
        {"role": "user", "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "u1", "content": "done", "requestor": "user", "error": False},
    ]
    Path("log.json").write_text(json.dumps(value), encoding="utf-8")
    (talk,) = load("log.json")
    made = [call for message in talk.messages if message.role == "user" for call in message.tool_calls]
    assert [(call.name, call.result) for call in made] == [("restart", "done")]


def test_reasoning_is_no_word_of_the_message_and_stays() -> None:
    parts = [{"type": "reasoning", "content": "I think."}, {"type": "text", "content": "Yes."}]
    asked = {"role": "user", "parts": [{"type": "text", "content": "Free?"}]}
    listed = json.dumps([asked, {"role": "assistant", "parts": parts}])
    Path("log.json").write_text(json.dumps(span({"gen_ai.input.messages": listed})), encoding="utf-8")
    (talk,) = load("log.json")
    assert [message.text for message in talk.messages] == ["Free?", "Yes."]
    assert talk.messages[1].attempts[-1].reasoning == "I think."


def test_calls_beside_each_other_in_a_trace_follow_one_another() -> None:
    said = [{"role": role, "content": text} for role, text in TALK.messages]
    calls = [
        {"id": f"o{number}", "traceId": "t", "type": "GENERATION", "startTime": str(number), "input": said[number], "output": said[number + 1]}
        for number in (0, 2)
    ]  # fmt: skip
    Path("log.json").write_text(json.dumps([{"id": "t", "name": "bot", "observations": calls}]), encoding="utf-8")
    (talk,) = load("log.json")
    assert read_as(talk).messages == TALK.messages


JUNK: list[Any] = [None, 1, True, "x", "", [], {}, [[]], [{}], {"a": 1}, "[1", "attachment://d2"]


def places(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in ((*before, key), *places(inner, (*before, key)))]


@pytest.mark.parametrize("name", WRITERS)
@given(data=st.data())
@settings(max_examples=15)
def test_a_log_that_is_broken_anywhere_is_read_or_refused_in_one_line(name: str, data: st.DataObject) -> None:
    value = json.loads(json.dumps(WRITERS[name][1](TALK)))
    *way, last = data.draw(st.sampled_from(places(value)))
    holder = value
    for key in way:
        holder = holder[key]
    holder[last] = data.draw(st.sampled_from(JUNK))
    Path("log.json").write_text(json.dumps(value), encoding="utf-8")
    refusal = ""
    try:
        messages.write(list(load("log.json")), "again.jsonl")
    except DataError as error:
        refusal = str(error)
    assert "\n" not in refusal
