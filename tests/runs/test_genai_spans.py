"""Spans of records are those of OpenTelemetry's conventions for generative AI, and hold texts only where asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Attempt, Conversation, Message, ToolCall, Usage, load
from duologue.data.attempts import PromptRecord
from duologue.data.records import Failure, NodeInfo, Provenance, Timing
from duologue.runs.genai_spans import EVENT, otlp, spans, trace_id
from tests.data.generated import conversations
from tests.runs.genai_conventions import EVALUATION, NAMES, TEXTS, schema_of

SECRET = "sk-very-secret"
MODEL = {"model": {"spec": "google_genai:gemini-9?temperature=0", "arguments": {"api_key": SECRET}}}
NODES = {"user_simulator": NodeInfo(name="u", label="offline", settings={"model": {"spec": "offline"}}), "assistant": NodeInfo(name="a", label="x", settings=MODEL)}  # fmt: skip
BAD = Attempt(number=1, text="Private words.", verdict="rejected", reason="too_long", explanation="Private reason.")
GOOD = Attempt(
    number=2,
    text="Room 7.",
    verdict="accepted",
    usage=Usage(input_tokens=9, output_tokens=4, cached_tokens=3),
    model="gemini-9-001",
    finish_reason="stop",
    prompt=PromptRecord(name="assistant/answer", text="Private prompt."),
    tool_calls=(ToolCall(name="rooms", arguments={"who": "Private person"}, result="Private room"), ToolCall(name="book", error=f"HTTPError: {SECRET}")),
)  # fmt: skip
TALK = Conversation(
    id="stay",
    scenario={"goal": "Private goal."},
    messages=(
        Message(role="user", text="Private question?", attempts=(Attempt(text="Private question?", verdict="accepted"),)),
        Message(role="assistant", text="Room 7.", attempts=(BAD, GOOD)),
    ),
    stop="model_failed",
    failure=Failure(node="assistant", error=f"TimeoutError: {SECRET}"),
    provenance=Provenance(cast="hotel", nodes=NODES),
    timing=Timing(started="2026-01-02T03:04:05+00:00", seconds=2.5),
    labels={"scores": {"success": {"value": False, "reason": "Private."}, "tone": {"value": 0.5}, "odd": {"error": f"KeyError: {SECRET}"}}, "mood": "calm"},
)  # fmt: skip


def checked(talk: Conversation, contents: bool) -> None:
    """The spans fit the conventions' schema, form one tree, and lie within the spans around them."""
    jsonschema = pytest.importorskip("jsonschema")
    listed = spans(talk, contents=contents)
    by_id = {span.id: span for span in listed}
    assert len(by_id) == len(listed)
    assert [span.parent for span in listed if span.parent not in by_id] == [""]
    for span in listed:
        operation = str(span.attributes["gen_ai.operation.name"])
        attributes = {key: json.loads(value) if key in TEXTS else value for key, value in span.attributes.items()}
        jsonschema.validate(attributes, schema_of(operation))
        assert span.name == f"{operation} {attributes.get(NAMES[operation], '')}".strip()
        assert span.kind == ("client" if operation == "chat" else "internal")
        assert span.begin <= span.end
        around = by_id.get(span.parent, span)
        assert around.begin <= span.begin <= span.end <= around.end
        for event in span.events:
            jsonschema.validate(event, EVALUATION)


@pytest.mark.heavy
@pytest.mark.parametrize("contents", [False, True])
def test_spans_fit_the_conventions(contents: bool) -> None:
    checked(TALK, contents)
    for talk in conversations(200):
        checked(talk, contents)


def test_a_conversation_is_a_workflow_of_agents_that_chat_and_execute_tools() -> None:
    listed = spans(TALK)
    assert [span.name for span in listed] == [
        "invoke_workflow hotel", "invoke_agent user", "chat", "invoke_agent assistant", "chat gemini-9",
        "chat gemini-9", "execute_tool rooms", "execute_tool book",
    ]  # fmt: skip
    root, _, _, agent, rejected, sent, rooms, book = listed
    assert (root.attributes["error.type"], root.attributes["duologue.stop"]) == ("TimeoutError", "model_failed")
    assert [event["gen_ai.evaluation.name"] for event in root.events] == ["success", "tone", "odd"]
    assert [event.get("gen_ai.evaluation.score.value") for event in root.events] == [0.0, 0.5, None]
    assert agent.attributes["gen_ai.usage.input_tokens"] == 9
    assert (sent.attributes["gen_ai.provider.name"], sent.attributes["gen_ai.response.model"]) == (
        "gcp.gemini",
        "gemini-9-001",
    )
    assert rejected.events[0]["gen_ai.evaluation.score.label"] == "rejected"
    assert rejected.events[0]["gen_ai.evaluation.explanation"] == "too_long"
    assert ("error.type" in rooms.attributes, book.attributes["error.type"]) == (False, "HTTPError")
    assert (root.begin, root.end - root.begin) == (1767323045_000_000_000, 2_500_000_000)


def test_texts_are_exported_only_where_asked_for_and_secrets_never() -> None:
    without, whole = json.dumps(otlp(TALK)), json.dumps(otlp(TALK, contents=True))
    assert "Private" not in without
    assert "Room 7." not in without
    assert all(f"Private {word}" in whole for word in ("question?", "words.", "prompt.", "person", "room", "reason."))
    assert SECRET not in without
    assert SECRET not in whole.replace(f"HTTPError: {SECRET}", "")  # the tool's answer, a text of the conversation
    assert "Private goal." not in whole


def test_a_viewer_finds_what_was_heard_and_said_at_the_conversation_each_turn_and_each_draft() -> None:
    root, opening, _, agent, rejected, sent, rooms, _ = spans(TALK, contents=True)
    heard = json.loads(str(root.attributes["gen_ai.input.messages"]))
    assert [message["role"] for message in heard] == ["user", "assistant", "tool", "tool"]
    (call, _), (result,) = heard[1]["parts"], heard[2]["parts"]
    assert (call["name"], call["arguments"]) == ("rooms", {"who": "Private person"})
    assert result == {"type": "tool_call_response", "id": call["id"], "response": "Private room"}
    assert rooms.attributes["gen_ai.tool.call.id"] == call["id"]
    assert json.loads(str(root.attributes["gen_ai.output.messages"]))[0]["parts"][0]["content"] == "Room 7."
    assert "gen_ai.input.messages" not in opening.attributes
    inputs = {span.attributes["gen_ai.input.messages"] for span in (agent, rejected, sent)}
    assert [json.loads(str(text)) for text in inputs] == [heard[:1]]
    later = spans(TALK.model_copy(update={"messages": TALK.messages * 2}), contents=True)
    agent, chat = (next(span for span in reversed(later) if span.name.startswith(name)) for name in ("invoke", "chat"))
    sizes = [len(json.loads(str(span.attributes["gen_ai.input.messages"]))) for span in (agent, chat)]
    assert sizes == [1, 6]  # an agent has what is new to it, a call of a model all of it, with its calls and results


def test_what_is_exported_with_texts_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text(json.dumps(otlp(TALK, contents=True)))
    (talk,) = load(tmp_path / "spans.jsonl")
    assert [(turn.role, turn.text) for turn in talk.messages] == [(turn.role, turn.text) for turn in TALK.messages]
    assert [call.name for call in talk.messages[1].tool_calls] == ["rooms", "book"]
    assert talk.messages[1].tool_calls[0] == TALK.messages[1].tool_calls[0]


def test_the_ids_are_the_same_each_time_and_others_in_another_run() -> None:
    assert otlp(TALK) == otlp(TALK)
    later = TALK.model_copy(update={"timing": Timing(started="2026-01-02T03:05:05+00:00")})
    assert trace_id(later) != trace_id(TALK)
    assert {span.id for span in spans(later)}.isdisjoint(span.id for span in spans(TALK))
    sessions = [{span.attributes["session.id"] for span in spans(talk)} for talk in (TALK, later)]
    assert sessions == [{trace_id(TALK)}, {trace_id(later)}]


def test_a_line_of_otlp_has_typed_values_and_events() -> None:
    (resource,) = otlp(TALK)["resourceSpans"]
    listed: list[dict[str, Any]] = resource["scopeSpans"][0]["spans"]
    assert {span["traceId"] for span in listed} == {trace_id(TALK)}
    sent = {entry["key"]: entry["value"] for entry in listed[5]["attributes"]}
    assert sent["gen_ai.usage.input_tokens"] == {"intValue": "9"}
    assert sent["gen_ai.response.finish_reasons"] == {"arrayValue": {"values": [{"stringValue": "stop"}]}}
    assert [event["name"] for event in listed[0]["events"]] == [EVENT] * 3
    assert [span["status"] for span in (listed[0], listed[6], listed[7])] == [{"code": 2}, {}, {"code": 2}]
