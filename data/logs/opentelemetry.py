"""Spans of OpenTelemetry that hold the messages of calls to models.

Files: OTLP as JSON or JSON lines (`resourceSpans`, "OpenTelemetry Protocol File Exporter"). Also the objects that the
console exporter of the Python SDK writes one after another (`ReadableSpan.to_json`).

Attributes: those of the semantic conventions for generative AI (docs/gen-ai/gen-ai-spans.md), also on the event
`gen_ai.client.inference.operation.details`: `gen_ai.conversation.id`, `gen_ai.system_instructions`,
`gen_ai.input.messages`, `gen_ai.output.messages`. Those of OpenInference, flat or nested as Phoenix exports them:
`llm.input_messages.N.message.role`, `session.id`; `input.value` and `output.value` where there are no messages. Also
the older `gen_ai.prompt.N.role`. Without any of these, the older events with messages (`gen_ai.user.message`, `gen_ai.choice`, `gen_ai.content.prompt`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.json_values import as_value
from ..formats.detection import ConversationStream, Format, Source
from ..formats.turns import Turn, turns_of
from ..records import as_list, as_object
from .calls import LoggedCall, counts, inputs_of, outputs_of, read_traces

_SPANS = ("resourceSpans", "resource_spans")
_INDEXED = re.compile(
    r"(?:llm\.(?P<way>input|output)_messages|gen_ai\.(?P<old>prompt|completion))\.(?P<number>\d+)\.(?:message\.)?(?P<key>.+)"
)
_CALL = re.compile(r"tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_NESTED = ("llm.input_messages", "llm.output_messages")
_PART = re.compile(r"contents\.(\d+)\.message_content\.text")
_SENT = ("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens")
_RECEIVED = ("gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens")
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_EVENT_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_WHOLE_EVENTS = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}
_THREADS = ("gen_ai.conversation.id", "session.id")
_USERS = ("user.id", "enduser.id", "langfuse.user.id")


def read(path: str | Path) -> ConversationStream:
    """A conversation for each conversation id, or for each trace without one; DataError if no span holds messages."""
    nothing = "holds spans without messages: let the instrumentation capture message content"
    return read_traces(path, _has_spans, lambda value: map(_call, _spans(value)), nothing)


def _has_spans(value: Any) -> bool:
    keys = as_object(value).keys()
    return bool(keys & {*_SPANS, "attributes", "events", "context"}) or any(_is_column(key) for key in keys)


def _is_column(key: str) -> bool:
    return key.startswith("attributes.")


def _spans(value: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, Mapping):
        return
    resources = next((value[key] for key in _SPANS if isinstance(value.get(key), list)), None)
    if resources is None:
        if "attributes" in value or "events" in value or any(_is_column(key) for key in value):
            yield value
        return
    for resource in resources:
        scopes = resource.get("scopeSpans", resource.get("scope_spans")) if isinstance(resource, Mapping) else None
        for scope in as_list(scopes):
            spans = scope.get("spans") if isinstance(scope, Mapping) else None
            yield from (span for span in as_list(spans) if isinstance(span, Mapping))


def _call(span: Mapping[str, Any]) -> LoggedCall | None:
    attributes = _span_attributes(span)
    events = [event for event in as_list(span.get("events")) if isinstance(event, Mapping)]
    for event in events:
        if event.get("name") == "gen_ai.client.inference.operation.details":
            attributes = _attributes(event.get("attributes")) | attributes
    operation = attributes.get("gen_ai.operation.name")
    if operation == "execute_tool":
        return None
    sent, received = _messages(attributes)
    if not sent and not received:
        sent, received = _of_events(events)
    if not sent and not received:
        return None
    reasons = as_value(attributes.get("gen_ai.response.finish_reasons"))
    if received and isinstance(reasons, list) and reasons:
        received = [*received[:-1], {"finish_reason": reasons[0]} | received[-1]]
    names = {**span, **as_object(span.get("context"))}
    kind = str(attributes.get("openinference.span.kind", "LLM"))
    is_call = operation not in ("invoke_agent", "invoke_workflow") and kind == "LLM"  # an agent sums up its calls
    more = {"model": _first(attributes, *_MODELS), "user": _first(attributes, *_USERS)}
    return LoggedCall(
        sent + received,
        str(_first(attributes, *_THREADS)),
        str(_first(names, "traceId", "trace_id", "context.trace_id")),
        str(_first(span, "startTimeUnixNano", "start_time", "start_time_unix_nano")),
        not is_call and not _first(span, "parentSpanId", "parent_id", "parent_span_id"),
        counts(attributes, _SENT, _RECEIVED) if is_call else {},
        {key: value for key, value in more.items() if value},
    )


def _first(holder: Mapping[str, Any], *keys: str) -> Any:
    return next((holder[key] for key in keys if holder.get(key)), "")


def _span_attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span by dotted name, also where they are nested or columns of the span."""
    columns = {key.removeprefix("attributes."): value for key, value in span.items() if key.startswith("attributes.")}
    return dict(_dotted(columns | _attributes(span.get("attributes"))))


def _dotted(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = f"{before}{key}"
        if name.startswith(_NESTED) and isinstance(value, list):
            value = {str(number): item for number, item in enumerate(value)}
        if isinstance(value, Mapping) and not name.endswith((".arguments", ".value")):
            yield from _dotted(value, f"{name}.")
        else:
            yield name, value


def _attributes(attributes: Any) -> dict[str, Any]:
    """The attributes by name: of an object, or of OTLP's list of keys and typed values."""
    if isinstance(attributes, Mapping):
        return dict(attributes)
    pairs = as_list(attributes)
    return {
        str(pair["key"]): _plain(pair.get("value")) for pair in pairs if isinstance(pair, Mapping) and "key" in pair
    }


def _plain(value: Any) -> Any:
    """A value of OTLP's `AnyValue` as JSON."""
    if not isinstance(value, Mapping):
        return value
    kind, inner = next(iter(value.items()), ("", None))
    match kind:
        case "intValue":  # a text in OTLP's JSON, because its numbers have 64 bits
            text = str(inner)
            return int(text) if text.lstrip("-").isdigit() else None
        case "arrayValue":
            return [_plain(item) for item in (inner or {}).get("values", [])]
        case "kvlistValue":
            return _attributes((inner or {}).get("values", []))
        case _:
            return inner


def _messages(attributes: Mapping[str, Any]) -> tuple[list[Turn], list[Turn]]:
    """What was sent and what came back."""
    sent = turns_of(as_value(attributes.get("gen_ai.input.messages")))
    received = turns_of(as_value(attributes.get("gen_ai.output.messages")))
    system = as_value(attributes.get("gen_ai.system_instructions"))
    if system:
        parts = system if isinstance(system, list) else [system]
        sent = [*turns_of({"role": "system", "parts": parts}), *sent]
    if sent or received:
        return sent, received
    indexed: dict[str, dict[int, dict[str, Any]]] = {"input": {}, "output": {}}
    for name, value in attributes.items():
        if match := _INDEXED.fullmatch(name):
            way = match["way"] or ("input" if match["old"] == "prompt" else "output")
            _put(indexed[way].setdefault(int(match["number"]), {}), match["key"], value)
    of_way = {way: [by_number[number] for number in sorted(by_number)] for way, by_number in indexed.items()}
    sent, received = (turns_of([_turn(message) for message in of_way[way]]) for way in ("input", "output"))
    if not sent and not received:  # texts alone, as some write the older names
        sent = inputs_of(as_value(attributes.get("gen_ai.prompt")), True)
        received = outputs_of(as_value(attributes.get("gen_ai.completion")), True)
    if not sent and not received and "openinference.span.kind" in attributes:
        outer = attributes["openinference.span.kind"] in ("AGENT", "CHAIN", "LLM")
        sent = inputs_of(as_value(attributes.get("input.value")), outer)
        received = outputs_of(as_value(attributes.get("output.value")), outer)
    return sent, received


def _put(message: dict[str, Any], key: str, value: Any) -> None:
    if match := _CALL.fullmatch(key):
        message.setdefault("calls", {}).setdefault(int(match[1]), {})[match[2]] = value
    elif match := _PART.fullmatch(key):
        message.setdefault("texts", {})[int(match[1])] = str(value)
    else:
        message[key] = value


def _turn(message: Mapping[str, Any]) -> dict[str, Any]:
    texts, calls = message.get("texts", {}), message.get("calls", {})
    turn = {key: value for key, value in message.items() if key not in ("texts", "calls")}
    if "content" not in turn:
        turn["content"] = "".join(texts[number] for number in sorted(texts)) if texts else None
    return turn | ({"tool_calls": [calls[number] for number in sorted(calls)]} if calls else {})


def _of_events(events: Iterable[Mapping[str, Any]]) -> tuple[list[Turn], list[Turn]]:
    """What was sent and what came back in a span's events, as the conventions had them before 1.37.

    An event is named for its role, and `gen_ai.choice` for a reply. Its body stands in the event's attributes, as JSON in
    the attribute `gen_ai.event.content`, or under `body`.
    """
    sent: list[Turn] = []
    received: list[Turn] = []
    for event in events:
        name, attributes = str(event.get("name")), _attributes(event.get("attributes"))
        inner, body = as_value(attributes.get("gen_ai.event.content")), as_value(event.get("body"))
        body = {**attributes, **as_object(body), **as_object(inner)}
        if role := _EVENT_ROLES.get(name):
            sent += _event_turns(role, body)
        elif name == "gen_ai.choice" and str(body.get("index", 0)) == "0":
            inner = as_value(body.get("message"))
            message = inner if isinstance(inner, Mapping) else {"content": inner} if inner else body
            reason = {"finish_reason": body["finish_reason"]} if body.get("finish_reason") else {}
            received += [turn | reason for turn in _event_turns("assistant", message)]
        elif key := _WHOLE_EVENTS.get(name):
            (sent if name.endswith("prompt") else received).extend(turns_of(as_value(body.get(key))))
    return sent, received


def _event_turns(role: str, body: Mapping[str, Any]) -> list[Turn]:
    message = {"role": role, "content": body.get("content")}
    if isinstance(calls := as_value(body.get("tool_calls")), list):
        message["tool_calls"] = calls
    if role == "tool":
        message["tool_call_id"] = body.get("id")
    return turns_of(message) if message["content"] is not None or "tool_calls" in message else []


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    is_span = "attributes" in first or any(key.startswith("attributes.") for key in first)
    traced = any(key in first for key in ("context", "trace_id", "traceId", "context.trace_id"))
    return any(key in first for key in _SPANS) or (is_span and traced)


FORMAT = Format(
    "opentelemetry",
    "OpenTelemetry spans (OTLP JSON, console exporter)",
    _recognised,
    read,
    sign="`resourceSpans`, or `context` and `attributes` of a span",
)
