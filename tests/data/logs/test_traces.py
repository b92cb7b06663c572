"""Traces: runs and spans of agents, and that nothing is said twice."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from duologue.data import load
from duologue.data.formats.messages import further
from duologue.data.records import bare
from tests.data.logs.museum_log import ASKED, LAST, MORE, TALK, TOLD, file, only, spoken_lines

HUMAN = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "When does it open?", "type": "human"}}  # fmt: skip


AI = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "At nine.", "type": "ai", "tool_calls": []}}  # fmt: skip


def run(number: int, kind: str, inputs: Any, outputs: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": f"run-{number}",
        "run_type": kind,
        "name": "step",
        "inputs": inputs,
        "outputs": outputs,
        "start_time": f"2025-05-01T10:00:0{number}",
    } | more


def test_runs_of_langsmith_are_conversations_by_thread_and_say_nothing_twice() -> None:
    thread = {"extra": {"metadata": {"thread_id": "t1"}}, "session_id": "the project"}
    path = file(
        # the newest first, as the client lists them
        run(5, "chain", {"messages": [{"type": "human", "content": "And on Sundays?"}]}, {"messages": [{"type": "human", "content": "When does it open?"}, {"type": "ai", "content": "At nine."}, {"type": "human", "content": "And on Sundays?"}, {"type": "ai", "content": "It is closed."}]}, trace_id="run-5", feedback_stats={"helpful": {"n": 1, "avg": 1.0}}, **thread),
        run(2, "llm", {"messages": [[HUMAN]]}, {"generations": [[{"text": "At nine.", "message": AI}]]}, trace_id="run-1", parent_run_id="run-1", prompt_tokens=7, completion_tokens=2),
        run(3, "llm", {"messages": [{"role": "user", "content": "Make a title for: opening hours"}]}, {"role": "assistant", "content": "Opening hours"}, trace_id="run-1", parent_run_id="run-1"),
        run(1, "chain", {"messages": [HUMAN]}, {"messages": [HUMAN, AI]}, trace_id="run-1", **thread),
    )  # fmt: skip
    loaded = load(path)
    (conversation,) = loaded.conversations
    assert (loaded.kind, conversation.id, spoken_lines(conversation)) == ("langsmith", "t1", TALK)
    assert bare(conversation.labels) == {"helpful": 1.0}
    assert further(conversation)["usage"] == {"input_tokens": 7, "output_tokens": 2}
    assert further(conversation)["name"] == "step"


def test_anthropic_messages_and_tool_calls_of_langsmith_are_read() -> None:
    call = {"type": "ai", "content": "", "tool_calls": [{"name": "hours", "args": {"day": "Sunday"}, "id": "c1"}]}
    path = file(
        run(1, "llm", {"system": "Be brief.", "messages": [ASKED]}, {"role": "assistant", "content": [{"type": "text", "text": "At nine."}]}, trace_id="x"),
        run(2, "chain", {"messages": [MORE]}, {"messages": [{"type": "human", "content": "And on Sundays?"}, call, {"type": "tool", "content": "closed", "tool_call_id": "c1"}, {"type": "ai", "content": "It is closed."}]}, trace_id="y"),
    )  # fmt: skip
    x, y = load(path).conversations
    assert (spoken_lines(x), spoken_lines(y)) == (TALK[:2], TALK[2:])
    (calling,) = y.messages[-1].tool_calls
    assert (calling.name, calling.arguments, calling.result) == ("hours", {"day": "Sunday"}, "closed")


def parts(turn: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": turn["role"], "parts": [{"type": "text", "content": turn["content"]}]} | more


def span(trace: str, number: int, attributes: dict[str, Any]) -> dict[str, Any]:
    """A span of OTLP; a value that is no text, number or flag as OTLP nests it."""

    def typed(value: Any) -> dict[str, Any]:
        match value:
            case str():
                return {"stringValue": value}
            case int():
                return {"intValue": str(value)}
            case list():
                return {"arrayValue": {"values": [typed(item) for item in value]}}
            case _:
                return {
                    "kvlistValue": {"values": [{"key": key, "value": typed(inner)} for key, inner in value.items()]}
                }

    pairs = [{"key": key, "value": typed(value)} for key, value in attributes.items()]
    return {"traceId": trace, "spanId": str(number), "name": "chat m-1", "startTimeUnixNano": str(number), "attributes": pairs}  # fmt: skip


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


@pytest.mark.parametrize("as_text", [True, False])
def test_spans_of_the_genai_conventions_are_conversations_by_id(as_text: bool) -> None:
    written = json.dumps if as_text else lambda value: value
    first = {
        "gen_ai.conversation.id": "conv",
        "gen_ai.system_instructions": written([{"type": "text", "content": "You answer for a museum."}]),
        "gen_ai.input.messages": written([parts(ASKED)]),
        "gen_ai.output.messages": written([parts(TOLD, finish_reason="stop")]),
        "gen_ai.usage.input_tokens": 7,
    }
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "hours", "arguments": {"day": 7}}], "finish_reason": "tool_call"}  # fmt: skip
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "closed"}]}
    history = [parts(ASKED), parts(TOLD), parts(MORE)]
    second = {"gen_ai.conversation.id": "conv", "gen_ai.input.messages": written(history), "gen_ai.output.messages": written([call])}  # fmt: skip
    third = second | {"gen_ai.input.messages": written([*history, call, result]), "gen_ai.output.messages": written([parts(LAST)]), "gen_ai.response.finish_reasons": ["length"]}  # fmt: skip
    path = file(otlp(span("b", 3, third), span("b", 2, second)), otlp(span("a", 1, first)))
    conversation = only(path)
    assert (load(path).kind, conversation.id, spoken_lines(conversation)) == ("opentelemetry", "conv", TALK)
    (calling,) = conversation.messages[-1].tool_calls
    assert (calling.name, calling.arguments, calling.result) == ("hours", {"day": 7}, "closed")
    assert further(conversation)["usage"] == {"input_tokens": 7}
    assert conversation.messages[-1].extra["finish_reason"] == "length"


def test_what_the_console_exporter_writes_is_read_and_openinference_too() -> None:
    attributes = {
        "openinference.span.kind": "LLM",
        "session.id": "s",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When does it open?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.text": "At nine.",
        "llm.token_count.prompt": 7,
    }
    context = {"trace_id": "0x1", "span_id": "0x2"}
    one = {"name": "llm", "context": context, "parent_id": None, "start_time": "2025-05-01T10:00:00Z", "attributes": attributes, "events": []}  # fmt: skip
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": {"gen_ai.input.messages": json.dumps([parts(MORE)]), "gen_ai.output.messages": json.dumps([parts(LAST)])}}  # fmt: skip
    two = one | {"attributes": {"session.id": "s"}, "events": [event], "context": {"trace_id": "0x3"}, "start_time": "2025-05-01T10:00:01Z"}  # fmt: skip
    path = file(one, {"name": "GET /", "context": context, "attributes": {"http.route": "/"}}, two, indent=4)
    assert (only(path).id, spoken_lines(only(path))) == ("s", TALK)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (otlp(span("a", 1, {"http.route": "/"})), "capture message content"),
        (run(1, "tool", {"x": 1}, {"y": 2}), "export them with inputs and outputs"),
        ({"a": 1}, "known format (it begins with a); the smallest line"),
        ([1, 2], "--log-format MODULE:NAME"),
        ({"mapping": {"a": {"message": None}, "b": 3}}, "(it begins with mapping)"),
    ],
)
def test_a_file_without_messages_is_told_in_one_line(value: Any, problem: str, fault: Callable[..., str]) -> None:
    assert problem in fault(load, file(value))


@pytest.mark.parametrize("inside", [True, False])
def test_a_span_may_have_an_event_for_each_message(inside: bool) -> None:
    def event(name: str, told: dict[str, Any]) -> dict[str, Any]:
        plain = {key: one if isinstance(one, str) else json.dumps(one) for key, one in told.items()}
        return {"name": name, "attributes": {"gen_ai.event.content": json.dumps(told)} if inside else plain}

    call = {"id": "c1", "type": "function", "function": {"name": "hours", "arguments": '{"day": 7}'}}
    told = event("gen_ai.choice", {"index": "0", "finish_reason": "stop", "message": {"content": "It is closed."}})
    events = [
        event("gen_ai.system.message", {"content": "You answer for a museum."}),
        event("gen_ai.user.message", {"content": MORE["content"]}),
        event("gen_ai.assistant.message", {"tool_calls": [call]}),
        event("gen_ai.tool.message", {"id": "c1", "content": "closed"}),
        told,
    ]
    conversation = only(file(otlp(span("a", 1, {"gen_ai.operation.name": "chat"}) | {"events": events})))
    assert spoken_lines(conversation) == TALK[2:]
    (calling,) = conversation.messages[-1].tool_calls
    assert (calling.name, calling.arguments, calling.result) == ("hours", {"day": 7}, "closed")


MODEL_SPAN = {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Open?"}  # fmt: skip
OF_PHOENIX = {"context": {"trace_id": "t"}, "attributes": MODEL_SPAN}
FAILED: dict[str, Any] = {
    "langsmith": run(1, "chain", {"messages": [ASKED]}, None, error="busy"),
    "langfuse": {"id": "o", "traceId": "t", "type": "GENERATION", "level": "ERROR", "statusMessage": "busy", "input": [ASKED], "output": None},
    "otlp": otlp(span("a", 1, {"gen_ai.input.messages": json.dumps([ASKED])}) | {"status": {"code": 2, "message": "busy"}}),
    "type alone": otlp(span("a", 1, {"gen_ai.input.messages": json.dumps([ASKED]), "error.type": "busy"})),
    "console": OF_PHOENIX | {"status": {"status_code": "ERROR", "description": "busy"}},
    "phoenix": {"data": [OF_PHOENIX | {"status_code": "ERROR", "events": [{"name": "exception", "attributes": {"exception.message": "busy"}}]}]},
    "mlflow": {"info": {"trace_id": "t"}, "data": {"spans": [{"attributes": {"mlflow.spanInputs": {"question": "Open?"}}, "status": {"code": "STATUS_CODE_ERROR", "message": "busy"}}]}},
}  # fmt: skip


@pytest.mark.parametrize("name", FAILED)
def test_the_error_of_a_failed_call_is_kept(name: str) -> None:
    assert only(file(FAILED[name])).extra["error"] == "busy"


def test_a_call_that_was_tried_again_in_its_trace_has_not_failed() -> None:
    again = OF_PHOENIX | {
        "start_time": "2",
        "attributes": MODEL_SPAN | {"llm.output_messages.0.message.role": "assistant"},
    }
    talk = only(file(OF_PHOENIX | {"status_code": "ERROR", "start_time": "1"}, again))
    assert "error" not in talk.extra


def test_calls_of_tools_in_attributes_with_numbers_are_calls() -> None:
    name = "gen_ai.completion.0.message.tool_calls.0.function"
    asked = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "When does it open?"}
    said = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "At nine."}
    called = {f"{name}.name": "hours", f"{name}.arguments": '{"day": 1}'}
    (call,) = only(file(otlp(span("a", 1, asked | said | called)))).messages[-1].tool_calls
    assert (call.name, call.arguments) == ("hours", {"day": 1})


def test_calls_of_a_trace_whose_messages_no_other_has_are_counted() -> None:
    def spans(*words: tuple[str, str]) -> dict[str, Any]:
        messages = [
            {
                "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": asked}]}],
                "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}],
            }
            for asked, answer in words
        ]
        texts = ({name: json.dumps(value) for name, value in inner.items()} for inner in messages)
        return otlp(*(span("t", number, inner) for number, inner in enumerate(texts)))

    assert len(load(file(spans(("Open?", "At nine."), ("Open?", "At nine."))))) == 1
    assert load("log.jsonl").notes == ()
    loaded = load(file(spans(("Open?", "At nine."), ("A poem?", "Roses."), ("A song?", "La."))))
    assert len(loaded) == 1
    assert loaded.notes == ("2 calls of a trace with messages of their own left out",)


def test_texts_of_mlflow_are_json_and_instructions_of_bedrock_may_be_blocks() -> None:
    attributes = {"mlflow.spanInputs": '{"question": "When does it open?"}', "mlflow.spanOutputs": '"At nine."'}
    trace = {"info": {"trace_id": "t"}, "data": {"spans": [{"name": "agent", "attributes": attributes}]}}
    assert spoken_lines(only(file(trace))) == TALK[:2]
    messages = [{"role": turn["role"], "content": [{"text": turn["content"]}]} for turn in (ASKED, TOLD)]
    talk = only(file({"system": [{"text": "Be brief."}], "messages": messages}))
    assert (spoken_lines(talk), talk.extra["asides"]) == (TALK[:2], [{"at": 0, "system": "Be brief."}])
