"""What a record says of itself: labels to print, usage, faults, tool calls."""

import pytest
from pydantic import ValidationError

from duologue.data import Attempt, Conversation, Message, ToolCall, Usage, count
from duologue.data.records import NodeInfo, Provenance


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
