"""A line of a log of requests: its request, its response, the conversation that it names and its further keys."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from ..files.json_values import as_value
from ..formats.other_requests import endpoint_of
from ..formats.turns import FURTHER_KEYS, HOLDERS, role_of
from ..records import as_object

IDS = ("conversation_id", "thread_id", "session_id", "chat_id", "dialog_id", "dialogue_id")
"""Keys that name the conversation of a line."""

LISTS = ("messages", "conversation", "conversations", "turns", "trajectory")
_OF_RESPONSE = ("response", "completion", "output", "preferred_output", "response_body")
_OF_REPLY = ("reply", "answer")
"""Keys of a text that is the response if the line's last message is a user's: else it may be any other answer."""
_OF_REQUEST = ("request", "body", "input", "request_body", "params")
_BODIES = ("body", "inputBodyJson", "outputBodyJson")
"""Keys of a request or a response for its content: of OpenAI's Batch API and of Bedrock's invocation logs."""
FURTHER_OF_REQUEST = ("model", "error", "metadata", "user", "safety_identifier", "requestMetadata")
"""Keys of a request or its response that become further keys of the line: what was called, and who is the user."""
_READ_OF_REQUEST = (*LISTS, *_BODIES, "system", "instructions", "input", "prompt", "previous_response_id")
_READ_OF_RESPONSE = (
    *LISTS, *_BODIES, *HOLDERS, *FURTHER_KEYS, "object", "type", "role", "message", "choices", "output", "usage",
    "stop_reason", "stopReason", "incomplete_details", "instructions", "previous_response_id",
)  # fmt: skip
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_MOST_NAMED = 40
"""Most keys that a note names."""

Unread: TypeAlias = Mapping[str, tuple[str, ...]]
"""The keys of which nothing is kept, of a `request` and of its `response`."""


@dataclass(frozen=True)
class LoggedLine:
    """A line of a log of requests."""

    value: Mapping[str, Any]
    request: Mapping[str, Any]
    """The request that the line holds, or the line itself."""
    response: Any
    """None without one."""
    conversation: str
    """The conversation that the line names; empty without a name."""
    own: str
    """The line's own id, which may name the call or the conversation."""
    endpoint: str
    """The last part of the address that was called; empty if the line has none."""
    more: Mapping[str, Any]
    """Further keys of the line, and those of the request and the response that are kept (`FURTHER_OF_REQUEST`)."""
    unread: Unread

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "LoggedLine":
        """The parts of a line."""
        requests = [inner for key in _OF_REQUEST if isinstance(inner := value.get(key), Mapping)]
        request = next((inner for inner in map(_body, requests) if isinstance(inner, Mapping)), value)
        response = value if _is_response(value) else next((value[key] for key in _OF_RESPONSE if value.get(key)), None)
        if response is None and "message" in as_object(value.get("result")):  # of Anthropic's batches
            response = value["result"]["message"]
        reply = "" if response is not None else _reply_key(value)
        response = value[reply] if reply else response
        answered = {"result"} if response is not None and "message" in as_object(value.get("result")) else set[str]()
        answered |= {"content", "role", "type"} if response is value else set[str]()
        answered |= {reply} if reply else set[str]()
        taken = {*LISTS, *answered, *_OF_REQUEST, *_OF_RESPONSE, "choices", "usage", "object", *IDS}
        own = value.get("custom_id") or value.get("id")
        body = _body(response) if isinstance(response, Mapping) else response
        more = {key: inner for key, inner in value.items() if key not in taken}
        for holder in (request, as_object(body)):
            if holder is not value:
                more |= {key: holder[key] for key in FURTHER_OF_REQUEST if holder.get(key)}
        return cls(
            value=value,
            request=request,
            response=body,
            conversation=identifier(value) or identifier(request),
            own=str(own) if isinstance(own, str | int) and not isinstance(own, bool) else "",
            endpoint=endpoint_of(value),
            more=more,
            unread={
                "request": unread(value, (*requests[:1], request), _READ_OF_REQUEST),
                "response": unread(value, (as_object(response), as_object(body)), _READ_OF_RESPONSE),
            },
        )


def unread(line: Mapping[str, Any], holders: Iterable[Mapping[str, Any]], read: Iterable[str]) -> tuple[str, ...]:
    """The keys with a value of which nothing is kept.

    `holders` are parts of the line; one that is the line itself has none.
    """
    not_lost = {*read, *FURTHER_OF_REQUEST, *IDS}
    keys = (key for holder in holders if holder is not line for key, inner in holder.items() if inner not in _NOTHING)
    return tuple(dict.fromkeys(key for key in keys if key not in not_lost))


def unread_notes(calls: Iterable[Unread]) -> Iterator[str]:
    """A line with the names of the keys that no conversation has, for requests and for responses."""
    names: dict[str, dict[str, None]] = {}
    counts = Counter[str]()
    for part, keys in (item for call in calls for item in call.items()):
        names.setdefault(part, {}).update(dict.fromkeys(keys))
        counts[part] += bool(keys)
    for part, count in counts.items():
        if count:
            listed = [" ".join(name.split())[:40] for name in islice(names[part], _MOST_NAMED)]
            more = f" and {len(names[part]) - _MOST_NAMED} more" if len(names[part]) > _MOST_NAMED else ""
            yield f"left out of {count} {part}{'s' * (count > 1)}: {', '.join(listed)}{more}"


def _is_response(value: Mapping[str, Any]) -> bool:
    """Whether a line is a response itself: of Chat Completions, of Responses, or of Anthropic's Messages."""
    of_messages = value.get("type") == "message" and "stop_reason" in value
    return "choices" in value or value.get("object") == "response" or of_messages


def _body(holder: Mapping[str, Any]) -> Any:
    bodies = (as_value(holder.get(key)) for key in _BODIES)
    return next((body for body in bodies if isinstance(body, Mapping | list)), holder)


def is_answered(value: Mapping[str, Any]) -> bool:
    """Whether the line has a response."""
    return any(value.get(key) for key in (*_OF_RESPONSE, "choices")) or bool(_reply_key(value))


def _reply_key(value: Mapping[str, Any]) -> str:
    """The key of the text that answers the line's messages; empty without one."""
    listed = value.get("messages")
    last = as_object(listed[-1]) if isinstance(listed, list) and listed else {}
    keys = _OF_REPLY if role_of(last.get("role")) == "user" else ()
    return next((key for key in keys if isinstance(value.get(key), str) and value[key]), "")


def identifier(value: Mapping[str, Any]) -> str:
    """The id of the conversation that a line, its metadata or its request names; empty without one."""
    for holder in (value, as_object(value.get("metadata"))):
        for key in IDS:
            if isinstance(name := holder.get(key), str | int) and not isinstance(name, bool) and str(name):
                return str(name)
    return ""


def usage_of(holder: Mapping[str, Any]) -> dict[str, int]:
    """The tokens that a response reports, in the names of Chat Completions, Responses, LangChain or Bedrock."""
    usage = next((inner for key in ("usage", "usage_metadata") if isinstance(inner := holder.get(key), Mapping)), {})
    names = {
        "input_tokens": ("prompt_tokens", "input_tokens", "inputTokens"),
        "output_tokens": ("completion_tokens", "output_tokens", "outputTokens"),
    }
    counts = {
        name: next((int(usage[key]) for key in keys if isinstance(usage.get(key), int | float)), None)
        for name, keys in names.items()
    }
    return {name: count for name, count in counts.items() if count is not None}
