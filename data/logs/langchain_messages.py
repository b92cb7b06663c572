"""Messages of LangChain as turns: as `messages_to_dict`, `dumpd` and `model_dump` write them, and chunks of a stream."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..formats.turns import turns_of
from ..records import as_object, is_object

_KINDS = frozenset("human ai system tool function chat remove developer".split())
_TYPED = frozenset("type role content tool_calls tool_call_chunks".split())
"""Keys of a message that its turn holds under the names of OpenAI's form."""
REMOVE_ALL = "__remove_all__"
"""The id of the message that removes all before it."""


def is_message(value: Any) -> bool:
    """Whether a value is surely a message of LangChain: its class or its `type` names it."""
    if not is_object(value):
        return False
    kind, name = value.get("type"), value.get("id")
    if kind == "constructor":
        path = name if isinstance(name, list) and name and is_object(value.get("kwargs")) else [""]
        return str(path[-1]).endswith(("Message", "MessageChunk"))
    content = value.get("data") if is_object(value.get("data")) else value
    typed = isinstance(kind, str) and (kind in _KINDS or kind.endswith(("Message", "MessageChunk")))
    return typed and "content" in as_object(content) and ("role" not in value or kind == "chat")


def list_of(value: Any) -> list[Any]:
    """The messages of a list whose first is one of LangChain, or of a single one; empty for other values."""
    listed = value if isinstance(value, list) else [value]
    return listed if listed and is_message(listed[0]) else []


def fields(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a message, whichever way it was written."""
    inner = message.get("kwargs") if message.get("type") == "constructor" else message.get("data")
    return inner if is_object(inner) else message


def turns(messages: Iterable[Any]) -> list[Any]:
    """The turns of messages, with their further fields; what is not a message stays as it is."""
    listed: list[Any] = []
    for message in messages:
        own = turns_of(message)
        if len(own) == 1 and is_message(message):
            more = {
                key: value
                for key, value in fields(message).items()
                if key not in _TYPED and value not in (None, "", [], {})
            }
            own = [{**own[0], **{key: value for key, value in more.items() if key not in own[0]}}]
        listed += own or [message]
    return listed


def usage(messages: Iterable[Any]) -> dict[str, int]:
    """The tokens that the messages report, added."""
    counts: dict[str, int] = {}
    for message in messages:
        reported = as_object(fields(as_object(message)).get("usage_metadata"))
        for key in ("input_tokens", "output_tokens"):
            if isinstance(reported.get(key), int):
                counts[key] = counts.get(key, 0) + reported[key]
    return counts


def added(messages: list[Any], new: Iterable[Any]) -> list[Any]:
    """The messages with new ones, as a graph's state adds them.

    One with the id of another replaces it, removes it, or is its next chunk.
    """
    listed = list(messages)
    for message in new:
        inner = fields(as_object(message))
        name, kind = inner.get("id"), inner.get("type")
        place = next((at for at, old in enumerate(listed) if name and fields(as_object(old)).get("id") == name), None)
        if kind == "remove":
            listed = [] if name == REMOVE_ALL else [old for at, old in enumerate(listed) if at != place]
        elif place is None:
            listed.append(message)
        elif str(kind).endswith("Chunk"):
            listed[place] = _grown(fields(as_object(listed[place])), inner)
        else:
            listed[place] = message
    return listed


def _grown(chunk: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """A chunk with the next one of its message."""
    old, new = chunk.get("content"), more.get("content")
    both: Any = old + new if isinstance(old, str) and isinstance(new, str) else None
    if both is None:
        blocks = [
            [{"type": "text", "text": part}] if isinstance(part, str) and part else part or [] for part in (old, new)
        ]
        both = [block for part in blocks if isinstance(part, list) for block in part]
    calls: dict[Any, dict[str, Any]] = {}
    for piece in (*(chunk.get("tool_call_chunks") or ()), *(more.get("tool_call_chunks") or ())):
        call = calls.setdefault(piece.get("index"), {"name": "", "args": "", "id": None, "index": piece.get("index")})
        call["name"] += piece.get("name") or ""
        call["args"] += piece.get("args") or ""
        call["id"] = call["id"] or piece.get("id")
    rest = {key: value for key, value in more.items() if value not in (None, "", [], {})}
    listed = list(calls.values())
    return {
        **chunk,
        **rest,
        "content": both,
        "tool_call_chunks": listed,
        "tool_calls": listed,
        "invalid_tool_calls": [],
    }
