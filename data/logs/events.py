"""Single events of streamed responses, as JSON values or as text of server-sent events."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..attempts import as_object
from ..files.json_values import as_value

ANTHROPIC = frozenset(
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop".split()
)
CONVERSE = frozenset("messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop".split())
CHUNK = "chat.completion.chunk"
_OF_RESPONSES = ("response", "sequence_number", "output_index")
_SSE = ("event:", "data:", "id:", "retry:", ":")


def event_of(value: Any) -> Mapping[str, Any] | None:
    """The event of a value, which may stand under `data`; None if it is not one."""
    if not isinstance(value, Mapping):
        return None
    if _is_event(value):
        return value
    inner = value.get("data")
    if isinstance(inner, str) and inner.startswith("{"):
        inner = as_value(inner)
    return inner if isinstance(inner, Mapping) and _is_event(inner) else None


def _is_event(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    if isinstance(kind, str):
        of_responses = kind.startswith("response.") and any(key in value for key in _OF_RESPONSES)
        return kind in ANTHROPIC or of_responses or kind == "ping" or (kind == "error" and "error" in value)
    if value.get("object") == CHUNK or any(isinstance(value.get(key), Mapping) for key in CONVERSE):
        return True
    return "usage" in as_object(value.get("metadata")) and "metrics" in as_object(value.get("metadata"))


def begins_server_sent(begin: bytes) -> bool:
    """Whether the first bytes of a file may be those of server-sent events."""
    return begin.decode("utf-8-sig", "replace").lstrip().startswith(_SSE)


def is_server_sent(text: str) -> bool:
    """Whether a text is one of server-sent events whose first data is an event of a model."""
    if not text.lstrip().startswith(_SSE):
        return False
    first = next(server_sent(text), None)
    return first is not None and event_of(first) is not None


def server_sent(text: str) -> Iterator[Any]:
    """The JSON values of server-sent events, without the mark `[DONE]`; a text for data that is not JSON."""
    data: list[str] = []
    for line in (*text.splitlines(), ""):
        name, _, content = line.partition(":")
        if name == "data":
            data.append(content.removeprefix(" "))
        elif not line and data:
            written = "\n".join(data)
            data = []
            if written.strip() != "[DONE]":
                yield as_value(written)
