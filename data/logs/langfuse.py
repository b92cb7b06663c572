"""Traces and observations exported from Langfuse, as JSON or JSON lines.

The shapes: a trace with `observations` and `scores`, `trace` and `observations` side by side, a session with `traces`,
and a page of the public API (`data`, `meta`). Also single observations as "Export data from the UI" (langfuse.com/docs)
gives them: `traceId`, `type`, `parentObservationId`, `startTime`, `input`, `output`, `usageDetails`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.json_values import as_value
from ..formats.detection import ConversationStream, Format, Source
from ..records import as_list, as_object, is_object
from .calls import LoggedCall, counts, read_traces, turns_of_step

_TYPES = (
    "GENERATION SPAN EVENT AGENT TOOL CHAIN RETRIEVER EVALUATOR EMBEDDING GUARDRAIL".split()  # observations
)
_OF_TRACE = ("observations", "bookmarked", "htmlPath", "projectId", "sessionId")


def read(path: str | Path) -> ConversationStream:
    """A conversation for each session, or for each trace without one; DataError if nothing holds messages."""
    nothing = "holds Langfuse traces without messages: export them with input and output"
    return read_traces(path, _is_own, lambda value: _calls(value, {}), nothing)


def _is_own(value: Any) -> bool:
    return any(key in as_object(value) for key in ("traceId", "trace", "traces", "data", "input", "output", *_OF_TRACE))


def _calls(value: Any, trace: Mapping[str, Any]) -> Iterator[LoggedCall]:
    if not is_object(value):
        return
    if "traceId" in value:
        yield from _observation(value, trace)
        return
    if is_object(inner := value.get("trace")):
        value = {**inner, "observations": value.get("observations", []), "scores": value.get("scores", [])}
    for key in ("traces", "data"):
        for row in as_list(value.get(key)):
            yield from _calls({"sessionId": value["id"], **row} if key == "traces" and is_object(row) else row, {})
    if "input" in value or "output" in value:
        yield _trace(value)
    for row in as_list(value.get("observations")):
        if is_object(row):
            yield from _observation({"traceId": value.get("id"), **row}, value)


def _trace(trace: Mapping[str, Any]) -> LoggedCall:
    more = {key: trace[key] for key in ("name", "userId", "tags", "timestamp") if trace.get(key)}
    scores = {
        score["name"]: score.get("value")
        for score in as_list(trace.get("scores"))
        if is_object(score) and isinstance(score.get("name"), str)
    }
    if scores:
        more["labels"] = scores
    session, name = (str(trace.get(key) or "") for key in ("sessionId", "id"))
    return LoggedCall(_turns(trace, outer=True), session, name, str(trace.get("timestamp") or ""), True, {}, more)


def _observation(row: Mapping[str, Any], trace: Mapping[str, Any]) -> Iterator[LoggedCall]:
    """The call of a model, or of the step around all others; tools and steps in between repeat the messages."""
    kind = row.get("type")
    top = not row.get("parentObservationId")
    outer = top and not trace
    if kind != "GENERATION" and not outer:
        return
    trace_id = str(row.get("traceId") or "")
    # Calls beside each other, with nothing around them, follow one another: each is a step of the conversation.
    alone = top and kind == "GENERATION" and not _turns(trace, outer=True)
    usage = as_object(row.get("usageDetails")) or as_object(row.get("usage")) or row
    used = counts(usage, ("input", "promptTokens", "inputTokens"), ("output", "completionTokens", "outputTokens"))
    session = trace.get("sessionId") or row.get("sessionId") or (trace_id if alone else "")
    more = {"model": model} if (model := row.get("model") or row.get("providedModelName")) else {}
    yield LoggedCall(
        _turns(row, outer=outer),
        str(session),
        f"{trace_id}/{row.get('id')}" if alone else trace_id,
        str(row.get("startTime") or ""),
        outer and kind != "GENERATION",
        used if kind == "GENERATION" else {},
        more,
    )


def _turns(row: Mapping[str, Any], *, outer: bool) -> list[dict[str, Any]]:
    return turns_of_step(as_value(row.get("input")), as_value(row.get("output")), outer=outer)


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    for key in ("traces", "data"):
        if isinstance(first.get(key), list) and first[key]:
            first = as_object(first[key][0])
    return _is_row(first) or _is_row(as_object(first.get("trace")))


def _is_row(row: Mapping[str, Any]) -> bool:
    if "traceId" in row:
        return row.get("type") in _TYPES and ("input" in row or "output" in row)
    inner = [one for one in as_list(row.get("observations")) if is_object(one)]
    return any(one.get("type") in _TYPES for one in inner) or (
        "id" in row and ("input" in row or "output" in row) and any(key in row for key in _OF_TRACE)
    )


FORMAT = Format(
    "langfuse",
    "traces and observations exported from Langfuse",
    _recognised,
    read,
    sign="`traceId` and `type` of an observation, or `input` and `output` of a trace beside `observations` or `sessionId`",
)
