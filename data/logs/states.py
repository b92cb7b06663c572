"""Logs of LangChain and LangGraph: lists of messages, states and checkpoints of threads.

The shapes are those of `langchain_core.messages` and `langchain_core.load`, of LangGraph's `StateSnapshot`, of its
checkpoints (`channel_values`), and of its server's thread states (`values`, `next`, `config` or `checkpoint`,
`metadata`).
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import DataError, at
from ..files.json import STRICT, Broken, dumps, elements
from ..formats.messages import Line, conversations, identifier, turns_of
from ..formats.source import ConversationStream, Format, Source
from ..records import as_object, is_object
from .calls import usage_of

_KINDS = frozenset("human ai system tool function chat remove developer".split())


class _State(NamedTuple):
    """Messages of a thread at one time, or a list of messages, with further keys."""

    messages: list[Any]
    more: Mapping[str, Any]
    thread: str = ""
    time: tuple[str, int, int] = ("", 0, 0)
    """Sorts the states of a thread: when it was written, its step, its number of messages."""
    inner: bool = False
    """Whether it is the state of a subgraph."""


def read(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """A conversation for each list of messages and each thread; DataError for another value.

    Of a thread's states the newest counts; a note counts the messages that only earlier ones hold. Messages that stand one
    a line are one conversation.
    """
    threads: dict[str, list[_State]] = {}
    alone: list[Any] = []

    def add(value: Any) -> bool:
        if _is_message(value):
            alone.append(value)
            return True
        state = _state(value) or _listed(value)
        if state is not None:
            threads.setdefault(state.thread or f"\0{len(threads)}", []).append(state)
        return state is not None

    for place, value in elements(path, broken):
        if not add(value):
            with broken.reading(place):
                raise DataError(
                    f"{at(path, place)}: has no messages of LangChain: give them under 'messages' or 'values'"
                )
    lines: list[Line] = []
    earlier = empty = 0
    for states in [*threads.values(), *([[_State(alone, {})]] if alone else [])]:
        newest = max((state for state in states if not state.inner), key=lambda state: state.time, default=states[0])
        earlier += len({_key(one) for state in states for one in state.messages} - {*map(_key, newest.messages)})
        empty += not newest.messages
        lines += [_line(newest, len(lines) + 1)] if newest.messages else []
    yield from conversations(path, lines)
    notes = [f"{earlier} message{'' if earlier == 1 else 's'} only of earlier states"] if earlier else []
    return (*notes, *([f"{empty} thread{'' if empty == 1 else 's'} without messages"] if empty else []))


def _line(state: _State, number: int) -> Line:
    turns = turns_of(state.messages)
    used = Counter[str]()
    for turn in turns:
        used.update(usage_of({"usage": turn.further.get("usage_metadata")}))
    named = {"id": state.thread} if state.thread else {}
    return Line(f"conversation {number}", turns, {**({"usage": dict(used)} if used else {}), **state.more, **named})


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
    """The messages of a list whose first is one of LangChain; empty for other values."""
    return value if isinstance(value, list) and value and all(map(is_object, value)) and _is_message(value[0]) else []


def _key(message: Any) -> str:
    inner = message.get("kwargs") if message.get("type") == "constructor" else message.get("data")
    return str((inner if is_object(inner) else message).get("id") or dumps(message))


def _listed(value: Any) -> _State | None:
    """The messages of a list, of an object with `messages`, or of a prompt, with the further keys."""
    if isinstance(value, list):
        return _State(listed, {}) if (listed := _list_of(value)) else None
    holder = as_object(value.get("kwargs")) if as_object(value).get("type") == "constructor" else as_object(value)
    listed = _list_of(holder.get("messages"))
    if not listed:
        return None
    name = identifier(value)
    more = {key: inner for key, inner in holder.items() if key != "messages"}
    return _State(listed, {**({"id": name} if name else {}), **more})


def _state(value: Any) -> _State | None:
    """The state of a thread, or a checkpoint of one, with or without what stands around it."""
    if not is_object(value):
        return None
    checkpoint = value if "channel_values" in value else as_object(value.get("checkpoint"))
    values = value["values"] if is_object(value.get("values")) else checkpoint.get("channel_values")
    channels = as_object(values)
    listed = _list_of(channels.get("messages"))
    empty = "channel_values" in checkpoint or ("messages" in channels and "next" in value)
    if not listed and (channels.get("messages") or not empty):
        return None
    configured = as_object(as_object(value.get("config")).get("configurable"))
    metadata = as_object(value.get("metadata"))
    holders = (configured, as_object(value.get("checkpoint")), value, metadata)
    step = metadata.get("step")
    time = value.get("created_at") or checkpoint.get("ts") or configured.get("checkpoint_id") or checkpoint.get("id")
    more = {key: inner for key, inner in value.items() if key not in ("values", "checkpoint", "channel_values", "id")}
    others = {key: inner for key, inner in channels.items() if key != "messages"}
    return _State(
        listed,
        {**more, **({"state": others} if others else {})},
        next((str(holder["thread_id"]) for holder in holders if holder.get("thread_id")), ""),
        (str(time or ""), step if isinstance(step, int) else -2, len(listed)),
        any(holder.get("checkpoint_ns") for holder in holders),
    )


def _recognised(source: Source) -> bool:
    state = _state(source.first)
    return (
        _is_message(source.first)
        or _listed(source.first) is not None
        or (state is not None and bool(state.messages or state.thread))
    )


FORMAT = Format("langchain", "messages of LangChain, and states and checkpoints of LangGraph", _recognised, read)
