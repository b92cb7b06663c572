"""Lines of a log that are left out and counted: embeddings, moderation and the like."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..records import as_object

_CHATS = ("completions", "responses", "messages", "converse", "converse-stream", "chat", "generate")
_OTHERS = {
    "embeddings": "embedding", "moderations": "moderation", "rerank": "reranking", "speech": "speech",
    "transcriptions": "transcription", "translations": "transcription", "generations": "image", "edits": "image",
    "variations": "image",
}  # fmt: skip
_URLS = ("url", "path", "endpoint", "route", "request_url")
_ADDRESS = re.compile(r"^https?://|/v\d|/openai/|/api/")
_HOLDERS = ("request", "body", "request_body")
_RESPONSES = ("response", "response_body", "output")


def endpoint_of(value: Mapping[str, Any]) -> str:
    """The last part of the address that a line or its request names; empty if it is unknown."""
    for holder in (value, *(as_object(value.get(key)) for key in _HOLDERS)):
        for key in _URLS:
            if isinstance(url := holder.get(key), str) and _ADDRESS.search(url):
                last = url.partition("?")[0].rstrip("/").rpartition("/")[2]
                if last in _CHATS or last in _OTHERS:
                    return last
    return ""


def other_request(value: Any) -> str:
    """What a line requests, such as `embedding`; empty if it may be a reply."""
    if not isinstance(value, Mapping) or isinstance(value.get("messages"), list):
        return ""
    if kind := _OTHERS.get(endpoint_of(value)):
        return kind
    request, response = _first_object(value, _HOLDERS), _first_object(value, _RESPONSES)
    response = as_object(response.get("body")) or response
    listed = next((inner for key in ("data", "results") if isinstance(inner := response.get(key), list)), [])
    first = as_object(listed[0] if listed else None)
    if "input" in request and ("encoding_format" in request or "embedding" in str(request.get("model", ""))):
        return "embedding"
    if first.get("object") == "embedding" and (response.get("object") == "list" or "input" in request):
        return "embedding"
    return "moderation" if "flagged" in first and "category_scores" in first else ""


def _first_object(value: Mapping[str, Any], keys: Sequence[str]) -> Mapping[str, Any]:
    """The first object under one of the keys, or the value itself."""
    return next((as_object(value[key]) for key in keys if isinstance(value.get(key), Mapping)), value)


def is_bare_text(value: Any) -> bool:
    """Whether a line has a text under `input` or `output` as its only words, as evaluations and spans have."""
    return isinstance(value, Mapping) and any(isinstance(value.get(key), str) for key in ("input", "output"))


def is_failed(value: Any) -> bool:
    """Whether a line, its response or what that holds is only an error, as lines of a batch may be."""
    holders = [as_object(value)]
    for key in (*_RESPONSES, "result", "body"):
        holders += [as_object(holder.get(key)) for holder in tuple(holders)]
    return any(isinstance(holder.get("error"), Mapping | str) and bool(holder["error"]) for holder in holders)


class OtherRequests(Counter[str]):
    """Counts the lines that were left out because they are not conversations."""

    def without(self, values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """The places and values that are not such lines."""
        for place, value in values:
            if kind := other_request(value):
                self[kind] += 1
            else:
                yield place, value

    def notes(self) -> tuple[str, ...]:
        """A line with the number of each kind; none if nothing was left out."""
        counts = ", ".join(f"{kind} {count}" for kind, count in self.items())
        return (f"left out, not conversations: {counts}",) if counts else ()
