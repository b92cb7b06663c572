"""Traces of calls to models: spans of OpenTelemetry, exports of Langfuse, LangSmith and MLflow.

OpenTelemetry: OTLP as JSON or JSON lines (`resourceSpans`), what the console exporter of the Python SDK writes, pages of
Phoenix (`data`). Read are the attributes of the semantic conventions for generative AI (`gen_ai.input.messages`,
`gen_ai.output.messages`, `gen_ai.conversation.id`, also on the event `gen_ai.client.inference.operation.details`), those of
OpenInference (`llm.input_messages.N.message.role`, `session.id`, `input.value`), and the older `gen_ai.prompt.N.role` and
events of one message each.

Langfuse: a trace with `observations` and `scores`, `trace` and `observations` side by side, a session with `traces`, a page
of the public API (`data`), single observations.

LangSmith: runs of "Run (span) data format" (docs.langchain.com/langsmith). Threads are told by `session_id`, `thread_id` or
`conversation_id` in the metadata; the `session_id` of a run itself is its project.

MLflow: `Trace.to_dict`, with `info` and under `data` the `spans`, whose attributes are JSON texts.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ..files.json import as_value
from ..formats.messages import Turn, turns_of
from ..formats.source import Format, Source
from ..records import as_list, as_object, is_object
from .calls import LoggedCall, counts, ended, inputs_of, outputs_of, traces_reader, turns_of_step, usage_of


def _first(holder: Mapping[str, Any], *keys: str) -> Any:
    return next((holder[key] for key in keys if holder.get(key)), "")


# --- OpenTelemetry

_SPANS = ("resourceSpans", "resource_spans")
_INDEXED = re.compile(
    r"(?:llm\.(?P<way>input|output)_messages|gen_ai\.(?P<old>prompt|completion))\.(?P<number>\d+)\.(?:message\.)?(?P<key>.+)"
)
_CALL = re.compile(r"tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_PART = re.compile(r"contents\.(\d+)\.message_content\.text")
_EVENT = re.compile(r"gen_ai\.(?:(system|user|assistant|tool)\.message|choice)")
_SENT = ("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens")
_RECEIVED = ("gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens")
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_USERS = ("user.id", "enduser.id", "langfuse.user.id")


def _spans(value: Any) -> list[Mapping[str, Any]] | None:
    if listed := as_list(as_object(value).get("data")):  # a page of Phoenix
        return [span for one in listed for span in _spans(one) or ()]
    if not as_object(value).keys() & {*_SPANS, "attributes", "events", "context"}:
        return None
    resources = next((value[key] for key in _SPANS if isinstance(value.get(key), list)), None)
    if resources is None:
        return [value]
    scopes = (
        scope for one in map(as_object, resources) for scope in as_list(one.get("scopeSpans", one.get("scope_spans")))
    )
    return [span for scope in scopes for span in as_list(as_object(scope).get("spans")) if is_object(span)]


def _call_of_span(span: Mapping[str, Any]) -> LoggedCall | None:
    attributes = _attributes(span.get("attributes"))
    for event in map(as_object, as_list(span.get("events"))):
        if event.get("name") == "gen_ai.client.inference.operation.details":
            attributes = _attributes(event.get("attributes")) | attributes
    operation = attributes.get("gen_ai.operation.name")
    sent, received = _messages(attributes)
    if not (sent or received):
        sent, received = _events(span)
    if operation == "execute_tool" or not (sent or received):
        return None
    reasons = as_value(attributes.get("gen_ai.response.finish_reasons"))
    if isinstance(reasons, list) and reasons:
        ended(received, reasons[0])
    kind = str(attributes.get("openinference.span.kind", "LLM"))
    is_call = operation not in ("invoke_agent", "invoke_workflow") and kind == "LLM"  # an agent sums up its calls
    more = {"model": _first(attributes, *_MODELS), "user": _first(attributes, *_USERS)}
    more["error"] = _error(span, attributes)
    return LoggedCall(
        sent + received,
        str(_first(attributes, "gen_ai.conversation.id", "session.id")),
        str(_first({**span, **as_object(span.get("context"))}, "traceId", "trace_id")),
        str(_first(span, "startTimeUnixNano", "start_time", "start_time_unix_nano")),
        not is_call and not _first(span, "parentSpanId", "parent_id", "parent_span_id"),
        counts(attributes, _SENT, _RECEIVED) if is_call else {},
        {key: value for key, value in more.items() if value},
    )


def _error(span: Mapping[str, Any], attributes: Mapping[str, Any]) -> str | None:
    """Why a span failed, by its status, else by an exception's event or its type; None for one that did not."""
    status = {**span, **as_object(span.get("status"))}
    kind, events = attributes.get("error.type"), map(as_object, as_list(span.get("events")))
    raised = [_attributes(event.get("attributes")) for event in events if event.get("name") == "exception"]
    if not kind and str(_first(status, "code", "status_code")) not in ("2", "ERROR", "STATUS_CODE_ERROR"):
        return None
    message = _first(status, "message", "description", "status_message")
    return str(message or _first(dict(*raised[-1:]), "exception.message", "exception.type") or kind or "error")


def _attributes(attributes: Any) -> dict[str, Any]:
    """The attributes by name: of an object, or of OTLP's list of keys and typed values."""
    if is_object(attributes):
        return dict(attributes)
    pairs = map(as_object, as_list(attributes))
    return {str(pair["key"]): _plain(pair.get("value")) for pair in pairs if "key" in pair}


def _plain(value: Any) -> Any:
    kind, inner = next(iter(value.items()), ("", None)) if is_object(value) else ("", value)
    match kind:
        case "intValue":  # a text in OTLP's JSON, because its numbers have 64 bits
            text = str(inner)
            return int(text) if text.lstrip("-").isdigit() else None
        case "arrayValue":
            return [_plain(item) for item in as_list(as_object(inner).get("values"))]
        case "kvlistValue":
            return _attributes(as_object(inner).get("values"))
    return inner


def _messages(attributes: Mapping[str, Any]) -> tuple[list[Turn], list[Turn]]:
    sent = turns_of(as_value(attributes.get("gen_ai.input.messages")))
    received = turns_of(as_value(attributes.get("gen_ai.output.messages")))
    if system := as_value(attributes.get("gen_ai.system_instructions")):
        parts = system if isinstance(system, list) else [system]
        sent = [*turns_of({"role": "system", "parts": parts}), *sent]
    if sent or received:
        return sent, received
    indexed: dict[str, dict[int, dict[str, Any]]] = {"input": {}, "output": {}}
    for name, value in attributes.items():
        if match := _INDEXED.fullmatch(name):
            way = match["way"] or ("input" if match["old"] == "prompt" else "output")
            _put(indexed[way].setdefault(int(match["number"]), {}), match["key"], value)
    sent, received = (turns_of([_turn(by_number[n]) for n in sorted(by_number)]) for by_number in indexed.values())
    if not sent and not received:  # texts alone, as some write the older names
        sent = inputs_of(as_value(attributes.get("gen_ai.prompt")), True)
        received = outputs_of(as_value(attributes.get("gen_ai.completion")), True)
    if not sent and not received and "openinference.span.kind" in attributes:
        outer = attributes["openinference.span.kind"] in ("AGENT", "CHAIN", "LLM")
        sent = inputs_of(as_value(attributes.get("input.value")), outer)
        received = outputs_of(as_value(attributes.get("output.value")), outer)
    return sent, received


def _events(span: Mapping[str, Any]) -> tuple[list[Turn], list[Turn]]:
    """The messages of a span's events, one each, as the conventions had them before their version 1.37."""
    sent: list[Turn] = []
    received: list[Turn] = []
    for event in map(as_object, as_list(span.get("events"))):
        if match := _EVENT.fullmatch(str(event.get("name"))):
            attributes = _attributes(event.get("attributes"))
            told = as_object(as_value(attributes.get("gen_ai.event.content"))) or attributes
            message = as_object(as_value(told.get("message"))) or told  # of a choice
            more = {"role": match[1] or "assistant", "tool_calls": as_value(message.get("tool_calls"))}
            turns = turns_of({"content": "", "tool_call_id": message.get("id"), **message, **more})
            (sent if match[1] else received).extend(turns)
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


def is_spans(source: Source) -> bool:
    """Whether a file holds spans."""
    first = as_object(source.first)
    first = as_object(next(iter(as_list(first.get("data"))), first))
    is_span = "attributes" in first
    traced = any(key in first for key in ("context", "trace_id", "traceId"))
    return any(key in first for key in _SPANS) or (is_span and traced)


OPENTELEMETRY = Format(
    "opentelemetry",
    "OpenTelemetry spans (OTLP JSON, console exporter)",
    is_spans,
    traces_reader(
        _spans,
        lambda spans: map(_call_of_span, spans),
        "holds spans without messages: let the instrumentation capture message content",
    ),
)


# --- Langfuse

_TYPES = "GENERATION SPAN EVENT AGENT TOOL CHAIN RETRIEVER EVALUATOR EMBEDDING GUARDRAIL".split()
_OF_TRACE = ("observations", "bookmarked", "htmlPath", "projectId", "sessionId")
_KEYS = {"traceId", "trace", "traces", "data", "input", "output", *_OF_TRACE}


def _of_langfuse(value: Any, trace: Mapping[str, Any]) -> Iterator[LoggedCall]:
    if not is_object(value):
        return
    if "traceId" in value:
        yield from _observation(value, trace)
        return
    if is_object(inner := value.get("trace")):
        value = {**inner, "observations": value.get("observations", []), "scores": value.get("scores", [])}
    for key in ("traces", "data"):
        for row in as_list(value.get(key)):
            yield from _of_langfuse(
                {"sessionId": value["id"], **row} if key == "traces" and is_object(row) else row, {}
            )
    if "input" in value or "output" in value:
        yield _trace(value)
    for row in as_list(value.get("observations")):
        if is_object(row):
            yield from _observation({"traceId": value.get("id"), **row}, value)


def _trace(trace: Mapping[str, Any]) -> LoggedCall:
    more = {key: trace[key] for key in ("name", "userId", "tags", "timestamp") if trace.get(key)}
    scores = [score for score in map(as_object, as_list(trace.get("scores"))) if isinstance(score.get("name"), str)]
    if scores:
        more["labels"] = {score["name"]: score.get("value") for score in scores}
    session, name = (str(trace.get(key) or "") for key in ("sessionId", "id"))
    return LoggedCall(_step(trace, outer=True), session, name, str(trace.get("timestamp") or ""), True, {}, more)


def _observation(row: Mapping[str, Any], trace: Mapping[str, Any]) -> Iterator[LoggedCall]:
    """The call of a model, or of the step around all others; tools and steps in between repeat the messages."""
    is_call = row.get("type") == "GENERATION"
    top = not row.get("parentObservationId")
    outer = top and not trace
    if not is_call and not outer:
        return
    trace_id = str(row.get("traceId") or "")
    # Calls beside each other, with nothing around them, follow one another: each is a step of the conversation.
    alone = top and is_call and not _step(trace, outer=True)
    usage = as_object(row.get("usageDetails")) or as_object(row.get("usage")) or row
    used = counts(usage, ("input", "promptTokens", "inputTokens"), ("output", "completionTokens", "outputTokens"))
    more = {"model": row.get("model") or row.get("providedModelName")}
    more |= {"error": row.get("statusMessage") or "error"} if row.get("level") == "ERROR" else {}
    yield LoggedCall(
        _step(row, outer=outer),
        str(trace.get("sessionId") or row.get("sessionId") or (trace_id if alone else "")),
        f"{trace_id}/{row.get('id')}" if alone else trace_id,
        str(row.get("startTime") or ""),
        outer and not is_call,
        used if is_call else {},
        {key: value for key, value in more.items() if value},
    )


def _step(row: Mapping[str, Any], *, outer: bool) -> list[Turn]:
    return turns_of_step(as_value(row.get("input")), as_value(row.get("output")), outer=outer)


def _is_langfuse(source: Source) -> bool:
    first = as_object(source.first)
    for key in ("traces", "data"):
        if isinstance(first.get(key), list) and first[key]:
            first = as_object(first[key][0])
    return _is_row(first) or _is_row(as_object(first.get("trace")))


def _is_row(row: Mapping[str, Any]) -> bool:
    holds = "input" in row or "output" in row
    if "traceId" in row:
        return row.get("type") in _TYPES and holds
    inner = map(as_object, as_list(row.get("observations")))
    return any(one.get("type") in _TYPES for one in inner) or (
        "id" in row and holds and any(key in row for key in _OF_TRACE)
    )


LANGFUSE = Format(
    "langfuse",
    "traces and observations exported from Langfuse",
    _is_langfuse,
    traces_reader(
        lambda value: _of_langfuse(value, {}) if as_object(value).keys() & _KEYS else None,
        lambda calls: calls,
        "holds Langfuse traces without messages: export them with input and output",
    ),
)


# --- LangSmith

_THREADS = ("session_id", "thread_id", "conversation_id")


def _runs(value: Any) -> Iterator[Mapping[str, Any]]:
    if listed := as_list(as_object(value).get("runs")):
        yield from (run for inner in listed for run in _runs(inner))
    elif _is_run(value):
        yield value
        yield from (run for child in as_list(value.get("child_runs")) for run in _runs(child))


def _is_run(value: Any) -> bool:
    return is_object(value) and "run_type" in value and ("inputs" in value or "outputs" in value)


def _call_of_run(run: Mapping[str, Any]) -> LoggedCall | None:
    kind = run.get("run_type")
    outer = not (run.get("parent_run_id") or run.get("parent_run_ids"))
    if kind not in ("llm", "chain") or (kind == "chain" and not outer):
        return None  # tools and steps in between repeat the messages of models and outer runs
    turns = turns_of_step(run.get("inputs"), run.get("outputs"), outer=outer)
    holders = (as_object(run.get("outputs")), *(turn.further for turn in turns[-1:]))
    used = counts(run, ("prompt_tokens",), ("completion_tokens",)) or next(filter(None, map(usage_of, holders)), {})
    more: dict[str, Any] = {}
    if outer:
        more = {key: run[key] for key in ("name", "tags", "error") if run.get(key)}
        if stats := as_object(run.get("feedback_stats")):
            averages = {name: as_object(value).get("avg") for name, value in stats.items()}
            more["labels"] = {name: stats[name] if average is None else average for name, average in averages.items()}
        if user := _of_metadata(run, ("user_id",)):
            more["user"] = user
    return LoggedCall(
        turns,
        _of_metadata(run, _THREADS) or str(run.get("thread_id") or ""),
        str(run.get("trace_id") or run.get("id") or ""),
        str(run.get("start_time") or ""),
        outer,
        used if kind == "llm" else {},
        more,
    )


def _of_metadata(run: Mapping[str, Any], keys: Iterable[str]) -> str:
    holders = [as_object(holder) for holder in (as_object(run.get("extra")).get("metadata"), run.get("metadata"))]
    return next((str(holder[key]) for holder in holders for key in keys if holder.get(key)), "")


def _is_langsmith(source: Source) -> bool:
    return _is_run(next(iter(as_list(as_object(source.first).get("runs"))), source.first))


LANGSMITH = Format(
    "langsmith",
    "runs exported from LangSmith",
    _is_langsmith,
    traces_reader(
        lambda value: [*_runs(value)] or None,
        lambda runs: map(_call_of_run, runs),
        "holds LangSmith runs without messages: export them with inputs and outputs",
    ),
)


# --- MLflow

_MODEL_SPANS = ("CHAT_MODEL", "LLM")


def _mlflow_traces(value: Any) -> list[Mapping[str, Any]] | None:
    listed = as_object(value).get("traces")
    traces = [
        trace
        for trace in map(as_object, listed if isinstance(listed, list) else [value])
        if is_object(trace.get("info")) and isinstance(as_object(trace.get("data")).get("spans"), list)
    ]
    return traces if traces or listed is not None else None


def _of_mlflow(trace: Mapping[str, Any]) -> Iterator[LoggedCall]:
    info = trace["info"]
    details: dict[str, Any] = {}
    for name in ("tags", "request_metadata", "trace_metadata"):
        details |= as_object(info.get(name))
    user = details.get("mlflow.trace.user") or details.get("user_id")
    labels = dict(_assessments(info.get("assessments")))
    for span in map(as_object, trace["data"]["spans"]):
        attributes = {key: _of_json(value) for key, value in as_object(span.get("attributes")).items()}
        is_call = attributes.get("mlflow.spanType") in _MODEL_SPANS
        outer = bool(span) and not (span.get("parent_id") or span.get("parent_span_id"))
        if not outer and not is_call:
            continue  # tools and steps in between repeat the messages
        usage = as_object(attributes.get("mlflow.chat.tokenUsage")) if is_call else {}
        more: dict[str, Any] = {"labels": labels} if outer and labels else {}
        sent, received = (attributes.get(f"mlflow.span{name}") for name in ("Inputs", "Outputs"))
        yield LoggedCall(
            turns_of(attributes.get("mlflow.chat.messages")) or turns_of_step(sent, received, outer=outer),
            str(details.get("mlflow.trace.session") or details.get("session_id") or ""),
            str(info.get("trace_id") or info.get("request_id") or ""),
            str(info.get("request_time") or info.get("timestamp_ms") or ""),
            outer and not is_call,
            counts(usage, ("input_tokens",), ("output_tokens",)),
            more | ({"user": user} if user else {}) | {"error": _error(span, attributes)},
        )


def _of_json(value: Any) -> Any:
    """An attribute's value, which is JSON, of a text too; one that is none stays as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _assessments(listed: Any) -> Iterator[tuple[str, Any]]:
    for one in map(as_object, as_list(listed)):
        name, value = one.get("assessment_name", one.get("name")), as_object(one.get("feedback")).get("value")
        if isinstance(name, str) and value is not None:
            yield name, value


MLFLOW = Format(
    "mlflow",
    "traces of MLflow",
    lambda source: bool(_mlflow_traces(source.first)),
    traces_reader(
        _mlflow_traces,
        lambda traces: chain.from_iterable(map(_of_mlflow, traces)),
        "holds MLflow traces without messages: let the tracing log inputs and outputs",
    ),
)
