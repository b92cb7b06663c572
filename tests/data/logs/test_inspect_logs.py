"""Logs of Inspect that are written and read again by its own library: nothing of a record is lost."""

import sys
from pathlib import Path

import pytest

from duologue.data import Attempt, Conversation, DataError, Message, Part, Span, ToolCall, Usage, domains, load
from duologue.data.records import Failure, Timing, Unsaid, bare, labels_from
from duologue.errors import MissingExtraError

PICTURE = Part(type="image", url="https://e.org/a.png", mime_type="image/png")
ROOMS = ToolCall(name="rooms", arguments={"nights": 2}, result={"rooms": [1, None]})
TALK = Conversation(
    id="talk/1",
    scenario={"kind": "support", "goal": "a room", "success": {"solved": True}},
    messages=(
        Message(role="user", text="Où ? 营业吗 \u2028 <b>&amp;</b>", parts=(PICTURE, Part(type="file", name="f-1"))),
        Message(
            role="assistant",
            text="Two.",
            spans=(Span(text="Two", start=4),),
            attempts=(
                Attempt(text="No.", verdict="rejected", reason="too_short", tool_calls=(ROOMS,)),
                Attempt(
                    number=2,
                    text="Two.",
                    verdict="accepted",
                    model="m",
                    usage=Usage(input_tokens=9, output_tokens=3),
                    reasoning="I count.",
                    tool_calls=(ROOMS, ToolCall(name="rooms", error="no room left")),
                ),
            ),
        ),
    ),
    unsaid=(Unsaid(role="user", after=2, attempts=(Attempt(text="?", verdict="rejected"),)),),
    labels=labels_from({"solved": True, "scores": {"tone": {"value": 4, "reason": "kind"}}}),
    failure=Failure(node="user", error="gone", frames=("a.py:1",)),
    timing=Timing(started="2026-01-02T03:04:05+00:00", seconds=2.5),
)


def test_without_inspect_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    Path("log.json").write_text('{"version": 2, "status": "success", "eval": {}, "samples": []}')
    with pytest.raises((MissingExtraError, ModuleNotFoundError), match="inspect"):
        load("log.json")


@pytest.mark.parametrize("name", ["out.eval", "out.json"])
def test_a_conversation_comes_back_as_it_was_and_inspect_has_its_messages_and_scores(name: str) -> None:
    log = pytest.importorskip("inspect_ai.log")
    half = TALK.model_copy(update={"id": "half", "messages": (Message(role="user", text="\ud83d"),)})
    assert domains.targets()["inspect"]([TALK, half], Path(name)) == []
    loaded = load(name)
    assert (loaded.kind, loaded.notes) == ("inspect", ())
    assert sorted(loaded, key=lambda talk: talk.id) == sorted([TALK, half], key=lambda talk: talk.id)
    sample = next(one for one in log.read_eval_log(name).samples if one.id == TALK.id)
    assert [message.role for message in sample.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert (sample.scores["tone"].value, sample.scores["tone"].explanation) == (4, "kind")
    assert sample.model_usage["m"].output_tokens == 3


def test_a_message_that_was_edited_in_the_log_is_read_and_the_record_is_not() -> None:
    log = pytest.importorskip("inspect_ai.log")
    domains.targets()["inspect"]([TALK], Path("out.json"))
    edited = log.read_eval_log("out.json")
    edited.samples[0].messages[-1].content = "Three."
    log.write_eval_log(edited, "out.json")
    loaded = load("out.json")
    assert loaded[0].messages[-1].text == "Three."
    assert [(call.name, call.error) for call in loaded[0].messages[-1].tool_calls][1] == ("rooms", "no room left")
    assert bare(loaded[0].labels) == {"solved": True, "tone": 4}
    assert "are read by their messages" in loaded.notes[0]


def test_what_is_no_log_is_one_line() -> None:
    pytest.importorskip("inspect_ai.log")
    Path("log.json").write_text('{"version": 2, "status": "success", "eval": {}}')
    with pytest.raises(DataError, match="is not a log that Inspect can read"):
        load("log.json")
