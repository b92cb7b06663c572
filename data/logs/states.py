"""Logs of LangChain and LangGraph: lists of messages, rows of a stored history, states and checkpoints of threads.

The shapes are those of `langchain_core.messages` and `langchain_core.load`, of LangGraph's `StateSnapshot`, of its
checkpoints (`channel_values`), and of its server's thread states (`values`, `next`, `config` or `checkpoint`,
`metadata`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ..files.broken_lines import of_form
from ..files.json_files import dumps
from ..files.json_values import as_value, elements
from ..formats.detection import ConversationStream, Format, Source
from ..formats.turns import turns_of
from ..records import as_object, is_object
from .calls import numbered
from .key_names import IDS, identifier

_KINDS = frozenset("human ai system tool function chat remove developer".split())
_TYPED = frozenset("type role content tool_calls tool_call_chunks".split())
"""Keys of a message that its turn holds under the names of OpenAI's form."""
_SESSIONS = ("SessionId", "sessionId")
_NOTHING: tuple[Any, ...] = (None, "", [], {})


# --- Messages


def _is_message(value: Any) -> bool:
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


def _list_of(value: Any) -> list[Any]:
    """The messages of a list whose first is one of LangChain, or of a single one; empty for other values."""
    listed = value if isinstance(value, list) else [value]
    return listed if listed and all(map(is_object, listed)) and _is_message(listed[0]) else []


def _fields(message: Any) -> Mapping[str, Any]:
    """The fields of a message, whichever way it was written."""
    message = as_object(message)
    inner = message.get("kwargs") if message.get("type") == "constructor" else message.get("data")
    return inner if is_object(inner) else message


def _value(messages: Iterable[Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """A line of messages with their further fields and the tokens that they report."""
    listed: list[Any] = []
    used: dict[str, int] = {}
    for message in messages:
        fields, own = _fields(message), turns_of(message)
        if len(own) == 1 and _is_message(message):
            taken = {*_TYPED, *own[0]}
            own[0] |= {key: value for key, value in fields.items() if key not in taken and value not in _NOTHING}
        listed += own or [message]
        reported = as_object(fields.get("usage_metadata"))
        for key in ("input_tokens", "output_tokens"):
            if isinstance(reported.get(key), int):
                used[key] = used.get(key, 0) + reported[key]
    rest = {key: value for key, value in more.items() if key != "messages" and value not in _NOTHING}
    return {**rest, "messages": listed, **({"usage": used} if used and "usage" not in rest else {})}


# --- Files


@dataclass(frozen=True)
class _State:
    """The messages of a thread at one time, with further keys."""

    messages: list[Any]
    thread: str
    time: tuple[str, int, int]
    """Sorts the states of a thread: when it was written, its step, its number of messages."""
    inner: bool
    """Whether it is the state of a subgraph."""
    more: Mapping[str, Any]


def read(path: str | Path) -> ConversationStream:
    """A conversation for each list of messages, each session, and each thread; DataError for another value.

    Of a thread's states the newest counts; a note counts the messages that only earlier ones hold.
    """
    found: dict[str, list[Any]] = {}
    """A line of messages under a name of its own, or the states of a thread."""
    rows: dict[str, list[Any]] = {}
    """Messages by their session; those without one under an empty name."""

    def add(value: Any) -> bool:
        if _is_message(value):
            rows.setdefault("", []).append(value)
        elif (row := _row(value)) is not None:
            rows.setdefault(row[0], []).append(row[1])
        elif (state := _state(value)) is not None:
            found.setdefault(state.thread or f"\0{len(found)}", []).append(state)
        elif (listed := _listed(value)) is not None:
            found[f"\0{len(found)}"] = [_value(*listed)]
        else:
            return False
        return True

    for _ in of_form(elements(path), add, path, "has no messages of LangChain: give them under 'messages' or 'values'"):
        pass
    earlier = empty = 0
    values: list[dict[str, Any]] = []
    for listed in found.values():
        states = [state for state in listed if isinstance(state, _State)]
        if not states:
            values += listed
            continue
        newest = max((state for state in states if not state.inner), key=lambda state: state.time, default=states[0])
        earlier += _only_before(states, newest)
        empty += not newest.messages
        values += [_value(newest.messages, {**newest.more, "id": newest.thread})] if newest.messages else []
    yield from numbered(path, chain(values, (_value(listed, {"id": name}) for name, listed in rows.items())))
    notes = [f"{earlier} message{'' if earlier == 1 else 's'} only of earlier states"] if earlier else []
    return (*notes, *([f"{empty} thread{'' if empty == 1 else 's'} without messages"] if empty else []))


def _only_before(states: Iterable[_State], newest: _State) -> int:
    def key(message: Any) -> str:
        return str(_fields(message).get("id") or dumps(message))

    return len({key(one) for state in states for one in state.messages} - {key(one) for one in newest.messages})


def _listed(value: Any) -> tuple[list[Any], Mapping[str, Any]] | None:
    """The messages of a list, of an object with `messages`, or of a prompt, with the further keys."""
    if isinstance(value, list):
        return (listed, {}) if (listed := _list_of(value)) else None
    if not isinstance(value, Mapping):
        return None
    holder = as_object(value.get("kwargs")) if value.get("type") == "constructor" else value
    listed = _list_of(holder.get("messages")) if isinstance(holder.get("messages"), list) else []
    if not listed:
        return None
    name = identifier(value)
    more = {key: inner for key, inner in holder.items() if key != "messages"}
    return listed, {**more, **({"id": name} if name and not isinstance(more.get("id"), str) else {})}


def _row(value: Any) -> tuple[str, dict[str, Any]] | None:
    """The session and the message of a row of a stored history, with the row's further keys; None without them."""
    if not isinstance(value, Mapping):
        return None
    name = identifier(value) or next((str(value[key]) for key in _SESSIONS if value.get(key)), "")
    for key in ("message", "History"):
        message: Any = as_value(value.get(key))
        if name and _is_message(message):
            more = {at: inner for at, inner in value.items() if at not in (key, *IDS, *_SESSIONS)}
            more |= {at: inner for at, inner in _fields(message).items() if inner is not None}
            if message["type"] == "constructor":
                return name, {**message, "kwargs": more}
            return name, {"type": message["type"], "data": more}
    return None


def _state(value: Any) -> _State | None:
    """The state of a thread, or a checkpoint of one, with or without what stands around it."""
    if not isinstance(value, Mapping):
        return None
    checkpoint = value if "channel_values" in value else as_object(value.get("checkpoint"))
    values = value["values"] if isinstance(value.get("values"), Mapping) else checkpoint.get("channel_values")
    channels = as_object(values)
    listed = _list_of(channels.get("messages"))
    empty = "channel_values" in checkpoint or ("messages" in channels and "next" in value)
    if not listed and (channels.get("messages") or not empty):
        return None
    configured = as_object(as_object(value.get("config")).get("configurable"))
    metadata = as_object(value.get("metadata"))
    holders = (configured, as_object(value.get("checkpoint")), value, metadata)
    thread = next((str(holder["thread_id"]) for holder in holders if holder.get("thread_id")), "")
    step = metadata.get("step")
    time = value.get("created_at") or checkpoint.get("ts") or configured.get("checkpoint_id") or checkpoint.get("id")
    more = {key: inner for key, inner in value.items() if key not in ("values", "checkpoint", "channel_values", "id")}
    others = {key: inner for key, inner in channels.items() if key != "messages"}
    return _State(
        listed,
        thread,
        (str(time or ""), step if isinstance(step, int) else -2, len(listed)),
        any(holder.get("checkpoint_ns") for holder in holders),
        {**more, **({"state": others} if others else {})},
    )


def _recognised(source: Source) -> bool:
    first = source.first
    if _is_message(first) or _row(first) is not None or _listed(first) is not None:
        return True
    state = _state(first)
    return state is not None and bool(state.messages or state.thread)


FORMAT = Format(
    "langchain",
    "messages of LangChain, and states and checkpoints of LangGraph",
    _recognised,
    read,
    sign="messages with a `type` such as `human` or `ai`, or of a `constructor`: by themselves, in a list, under `messages`, "
    "`values` or `channel_values`",
)
