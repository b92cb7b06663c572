"""Logs of LangChain and LangGraph: lists of messages, states and checkpoints of threads.

The shapes are those of `langchain_core.messages` and `langchain_core.load`, of LangGraph's `StateSnapshot`, of its
checkpoints (`channel_values`), and of its server's thread states (`values`, `next`, `config` or `checkpoint`,
`metadata`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..files.json import STRICT, Broken, dumps, elements
from ..formats.messages import numbered
from ..formats.source import ConversationStream, Format, Source
from ..formats.turns import turns_of
from ..records import as_object, is_object
from .dialogues import identifier

_KINDS = frozenset("human ai system tool function chat remove developer".split())
_TYPED = frozenset("type role content tool_calls tool_call_chunks".split())
"""Keys of a message that its turn holds under the names of OpenAI's form."""
_NOTHING: tuple[Any, ...] = (None, "", [], {})


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


class _State(NamedTuple):
    """The messages of a thread at one time, with further keys."""

    messages: list[Any]
    thread: str
    time: tuple[str, int, int]
    """Sorts the states of a thread: when it was written, its step, its number of messages."""
    inner: bool
    """Whether it is the state of a subgraph."""
    more: Mapping[str, Any]


def read(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """A conversation for each list of messages and each thread; DataError for another value.

    Of a thread's states the newest counts; a note counts the messages that only earlier ones hold.
    """
    threads: dict[str, list[_State]] = {}
    lists: list[dict[str, Any]] = []
    alone: list[Any] = []
    """Messages a line, which are one conversation."""

    def add(value: Any) -> bool:
        if _is_message(value):
            alone.append(value)
        elif (state := _state(value)) is not None:
            threads.setdefault(state.thread or f"\0{len(threads)}", []).append(state)
        elif (listed := _listed(value)) is not None:
            lists.append(_value(*listed))
        else:
            return False
        return True

    problem = "has no messages of LangChain: give them under 'messages' or 'values'"
    for _ in broken.of_form(elements(path, broken), add, path, problem):
        pass
    earlier = empty = 0
    newest_ones: list[dict[str, Any]] = []
    for states in threads.values():
        newest = max((state for state in states if not state.inner), key=lambda state: state.time, default=states[0])
        earlier += len({_key(one) for state in states for one in state.messages} - {*map(_key, newest.messages)})
        empty += not newest.messages
        newest_ones += [_value(newest.messages, {**newest.more, "id": newest.thread})] if newest.messages else []
    yield from numbered(path, [*newest_ones, *lists, *([_value(alone, {})] if alone else [])])
    notes = [f"{earlier} message{'' if earlier == 1 else 's'} only of earlier states"] if earlier else []
    return (*notes, *([f"{empty} thread{'' if empty == 1 else 's'} without messages"] if empty else []))


def _key(message: Any) -> str:
    return str(_fields(message).get("id") or dumps(message))


def _listed(value: Any) -> tuple[list[Any], Mapping[str, Any]] | None:
    """The messages of a list, of an object with `messages`, or of a prompt, with the further keys."""
    if isinstance(value, list):
        return (listed, {}) if (listed := _list_of(value)) else None
    holder = as_object(value.get("kwargs")) if as_object(value).get("type") == "constructor" else as_object(value)
    listed = _list_of(holder.get("messages"))
    if not listed:
        return None
    name = identifier(value)
    more = {key: inner for key, inner in holder.items() if key != "messages"}
    return listed, {**more, **({"id": name} if name and not isinstance(more.get("id"), str) else {})}


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
    step = metadata.get("step")
    time = value.get("created_at") or checkpoint.get("ts") or configured.get("checkpoint_id") or checkpoint.get("id")
    more = {key: inner for key, inner in value.items() if key not in ("values", "checkpoint", "channel_values", "id")}
    others = {key: inner for key, inner in channels.items() if key != "messages"}
    return _State(
        listed,
        next((str(holder["thread_id"]) for holder in holders if holder.get("thread_id")), ""),
        (str(time or ""), step if isinstance(step, int) else -2, len(listed)),
        any(holder.get("checkpoint_ns") for holder in holders),
        {**more, **({"state": others} if others else {})},
    )


def _recognised(source: Source) -> bool:
    first = source.first
    if _is_message(first) or _listed(first) is not None:
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
    skips=True,
)
