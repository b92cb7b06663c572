"""Traces of MLflow, as `Trace.to_dict`, `mlflow traces get` and the page of traces write them.

A trace has `info` (`trace_id` or `request_id`, `trace_metadata`, `tags`, `assessments`) and under `data` its `spans`.
Their attributes are JSON texts: `mlflow.spanInputs`, `mlflow.spanOutputs`, `mlflow.spanType`, `mlflow.chat.messages`
("Trace data structure", mlflow.org/docs).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.json_values import as_value
from ..formats.detection import ConversationStream, Format, Source
from ..formats.turns import turns_of
from ..records import as_list, as_object, is_object
from .calls import LoggedCall, counts, read_traces, turns_of_step

_CALLS = ("CHAT_MODEL", "LLM")


def read(path: str | Path) -> ConversationStream:
    """A conversation for each session, or for each trace without one; DataError if no span holds messages."""
    return read_traces(
        path,
        lambda value: bool(_traces(value)) or "traces" in as_object(value),
        lambda value: (call for trace in _traces(value) for call in _of_trace(trace)),
        "holds MLflow traces without messages: let the tracing log inputs and outputs",
    )


def _traces(value: Any) -> list[Mapping[str, Any]]:
    listed = value.get("traces") if is_object(value) else None
    return [trace for trace in (listed if isinstance(listed, list) else [value]) if _is_trace(trace)]


def _of_trace(trace: Mapping[str, Any]) -> Iterator[LoggedCall]:
    info = trace["info"]
    trace_id = str(info.get("trace_id") or info.get("request_id") or "")
    details = {
        key: value
        for name in ("tags", "request_metadata", "trace_metadata")
        for key, value in as_object(info.get(name)).items()
    }
    session = str(details.get("mlflow.trace.session") or details.get("session_id") or "")
    begun = str(info.get("request_time") or info.get("timestamp_ms") or "")
    user = details.get("mlflow.trace.user") or details.get("user_id")
    labels = dict(_assessments(info.get("assessments")))
    for span in trace["data"]["spans"]:
        attributes = {key: as_value(value) for key, value in as_object(as_object(span).get("attributes")).items()}
        kind = str(attributes.get("mlflow.spanType") or "").strip('"')
        outer = is_object(span) and not (span.get("parent_id") or span.get("parent_span_id"))
        if not outer and kind not in _CALLS:
            continue  # tools and steps in between repeat the messages
        usage = as_object(attributes.get("mlflow.chat.tokenUsage")) if kind in _CALLS else {}
        used = counts(usage, ("input_tokens",), ("output_tokens",))
        more: dict[str, Any] = {"labels": labels} if outer and labels else {}
        more |= {"user": user} if user else {}
        yield LoggedCall(
            _turns(attributes, outer=outer),
            session,
            trace_id,
            begun,
            outer and kind not in _CALLS,
            used,
            more,
        )


def _assessments(listed: Any) -> Iterator[tuple[str, Any]]:
    for one in as_list(listed):
        name = one.get("assessment_name", one.get("name")) if is_object(one) else None
        value = as_object(as_object(one).get("feedback")).get("value")
        if isinstance(name, str) and value is not None:
            yield name, value


def _turns(attributes: Mapping[str, Any], *, outer: bool) -> list[dict[str, Any]]:
    return turns_of(attributes.get("mlflow.chat.messages")) or turns_of_step(
        attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs"), outer=outer
    )


def _is_trace(value: Any) -> bool:
    return (
        is_object(value)
        and is_object(value.get("info"))
        and isinstance(as_object(value.get("data")).get("spans"), list)
    )


def _recognised(source: Source) -> bool:
    return bool(_traces(source.first))


FORMAT = Format("mlflow", "traces of MLflow", _recognised, read, sign="`info`, and `data` of `spans`")
