"""Schema 2 of the record: what is new in it, and that schema 1 is still read."""

import json
from pathlib import Path

import pytest

from duologue.data import Attempt, Conversation, Message, ToolCall, Usage, count, record_lines
from duologue.data.records import NodeInfo, Provenance

FIXTURES = Path(__file__).parents[1] / "fixtures"


def without_empty(value: object) -> object:
    """A JSON value without what is empty, which a newer schema may add."""
    if isinstance(value, dict):
        return {key: new for key, inner in value.items() if (new := without_empty(inner)) not in (None, {}, [], 0)}
    return [without_empty(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["simquac", "recllmsim"])
def test_a_line_of_schema_1_loads_with_everything_that_it_says(name: str) -> None:
    path = FIXTURES / f"record_1_{name}.jsonl"
    old = json.loads(path.read_text(encoding="utf-8"))
    (record,) = record_lines.read(path)
    new = json.loads(record_lines.line(record))
    assert Conversation.from_plain(new) == record
    assert (old["schema_version"], new["schema_version"]) == (1, 2)
    nodes = new["provenance"].pop("nodes")
    words = new["provenance"].pop("words")
    flat = {place: {"name": node["name"], **node["settings"]} for place, node in nodes.items()}
    assert flat | words == old["provenance"].pop("nodes")
    assert without_empty({**new, "schema_version": 1}) == without_empty(old)


def test_what_spoke_in_a_record_of_schema_1_can_be_printed() -> None:
    (record,) = record_lines.read(FIXTURES / "record_1_simquac.jsonl")
    assert record.provenance is not None
    assert record.provenance.nodes["assistant"].label == "offline?misbehave=0.4"
    assert record.provenance.nodes["assistant"].role == "assistant"
    assert record.provenance.nodes["question_validator"].label == "QuestionValidator"
    assert record.provenance.nodes["stop"].role is None
    assert record.provenance.words == {"fallback": "I cannot find the answer."}
    assert record.timing.nodes["user_simulator"].runs == 4
    assert any(attempt.verdict == "rejected" for attempt in record.attempts())


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


def test_cached_and_reasoning_tokens_are_added_and_are_parts_of_the_others() -> None:
    one = Usage(input_tokens=10, output_tokens=5, cached_tokens=4, reasoning_tokens=3)
    both = one + Usage(input_tokens=1, cached_tokens=1)
    assert (both.cached_tokens, both.reasoning_tokens, both.tokens, both.calls) == (5, 3, 16, 2)


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
    with pytest.raises(ValueError, match="or a cast's own reason such as hotel:transferred"):
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
