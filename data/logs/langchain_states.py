"""Logs of LangChain and LangGraph: lists of messages, states of threads, checkpoints, and streams of a graph.

The shapes are those of `langchain_core.messages` and `langchain_core.load`, and of LangGraph's `StateSnapshot`. Also
those of its checkpoints (`channel_values`), its stream modes `values`, `updates` and `messages`, and its server's
thread states (`values`, `next`, `config` or `checkpoint`, `metadata`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from ..files.broken_lines import of_form
from ..files.json_files import dumps
from ..files.json_values import as_value, elements
from ..formats.detection import ConversationStream, Format, Source
from ..formats.spooled import SpooledGroups, whole
from ..records import as_object
from . import langchain_messages as langchain
from .completions import numbered
from .logged_lines import IDS, identifier

_SESSIONS = ("SessionId", "sessionId")
_OF_VALUE = "\0value "
_MODES = ("values", "updates", "messages")


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


@dataclass
class _Streamed:
    """What the stream of a graph's run added up to."""

    thread: str = ""
    whole: list[Any] = field(default_factory=list[Any])
    """The messages of the last state."""
    updates: list[Any] = field(default_factory=list[Any])
    pieces: list[Any] = field(default_factory=list[Any])
    """Messages and chunks of models."""

    @property
    def messages(self) -> list[Any]:
        return self.whole or self.updates or self.pieces


@dataclass
class _Reading:
    """What the values of a file add up to."""

    conversations: SpooledGroups = field(default_factory=SpooledGroups)
    """Values with `messages`, each under a name of its own (`_OF_VALUE`), and the states of each thread."""
    rows: SpooledGroups = field(default_factory=SpooledGroups)
    """Messages by their session; those without one under an empty name."""
    stream: _Streamed = field(default_factory=_Streamed)

    def add(self, value: Any) -> bool:
        """Read a value; False if it is of another form."""
        if langchain.is_message(value):
            self.rows.add("", value)
        elif (row := _row(value)) is not None:
            self.rows.add(*row)
        elif isinstance(value, list) and _streamed(value, self.stream):
            return True
        elif (state := _state(value)) is not None:
            self.conversations.add(state.thread or f"\0{len(self.conversations)}", vars(state))
        elif (listed := _listed(value)) is not None:
            self.conversations.add(f"{_OF_VALUE}{len(self.conversations)}", _value(*listed))
        else:
            return _streamed(value, self.stream)
        return True


def one_by_one(path: str | Path) -> ConversationStream:
    """A conversation for each list of messages, each thread, and the stream of a run; DataError for another value.

    Of a thread's states the newest counts; a note counts the messages that only earlier ones hold.
    """
    reading, counts = _Reading(), Counter[str]()
    problem = "has no messages of LangChain: give them under 'messages' or 'values'"
    for _ in of_form(elements(path), reading.add, path, problem):
        pass
    stream = reading.stream
    yield from numbered(
        path,
        chain(
            _of_threads(reading.conversations, counts),
            (_value(listed, {"id": name}) for name, listed in reading.rows),
            [_value(stream.messages, {"id": stream.thread})] if stream.messages else [],
        ),
    )
    earlier, empty = counts["earlier"], counts["empty"]
    notes = [f"{earlier} message{'' if earlier == 1 else 's'} only of earlier states"] if earlier else []
    notes += [f"{empty} thread{'' if empty == 1 else 's'} without messages"] if empty else []
    lost = stream.updates and not stream.whole
    return (*notes, *(["a stream of updates: without the input of the run"] if lost else []))


def _of_threads(conversations: SpooledGroups, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The values of conversations, with the newest state of each thread; what that does not hold is counted."""
    for name, listed in conversations:
        if name.startswith(_OF_VALUE):
            yield from listed
            continue
        states = [_State(**state) for state in listed]
        newest = max((state for state in states if not state.inner), key=lambda state: state.time, default=states[0])
        counts["earlier"] += _only_before(states, newest)
        if newest.messages:
            yield _value(newest.messages, {**newest.more, "id": newest.thread})
        else:
            counts["empty"] += 1


def _value(messages: list[Any], more: Mapping[str, Any]) -> dict[str, Any]:
    used = langchain.usage(messages)
    rest = {key: value for key, value in more.items() if key != "messages" and value not in (None, "", [], {})}
    return {**rest, "messages": langchain.turns(messages), **({"usage": used} if used and "usage" not in rest else {})}


def _only_before(states: list[_State], newest: _State) -> int:
    def key(message: Any) -> str:
        return str(langchain.fields(as_object(message)).get("id") or dumps(message))

    last = {key(message) for message in newest.messages}
    return len({key(message) for state in states for message in state.messages} - last)


def _listed(value: Any) -> tuple[list[Any], Mapping[str, Any]] | None:
    """The messages of a list, of an object with `messages`, or of a prompt, with the further keys."""
    if isinstance(value, list):
        listed = langchain.list_of(value)
        return (listed, {}) if listed else None
    if not isinstance(value, Mapping):
        return None
    holder = as_object(value.get("kwargs")) if value.get("type") == "constructor" else value
    listed = langchain.list_of(holder.get("messages")) if isinstance(holder.get("messages"), list) else []
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
        if name and langchain.is_message(message):
            more = {at: inner for at, inner in value.items() if at not in (key, *IDS, *_SESSIONS)}
            more |= {at: inner for at, inner in langchain.fields(message).items() if inner is not None}
            if message["type"] == "constructor":
                return name, {**message, "kwargs": more}
            return name, {"type": message["type"], "data": more}
    return None


def _state(value: Any) -> _State | None:
    """The state of a thread, or a checkpoint of one, with or without what stands around it."""
    if not isinstance(value, Mapping):
        return None
    checkpoint = value if "channel_values" in value else as_object(value.get("checkpoint"))
    channels = as_object(
        value["values"] if isinstance(value.get("values"), Mapping) else checkpoint.get("channel_values")
    )
    listed = langchain.list_of(channels.get("messages"))
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


def _streamed(value: Any, stream: _Streamed) -> bool:
    """Read a piece of a stream; False for another value."""
    mode, piece = _mode(value)
    if mode == "values":
        stream.whole = langchain.list_of(as_object(piece).get("messages")) or stream.whole
    elif mode == "messages":
        new = piece[:1] if _with_metadata(piece) else piece
        stream.thread = stream.thread or (str(piece[1].get("thread_id") or "") if new is not piece else "")
        stream.pieces = langchain.added(stream.pieces, langchain.list_of(new))
    elif mode == "updates":
        for messages in _updates(piece):
            stream.updates = langchain.added(stream.updates, messages)
    elif mode == "metadata":
        stream.thread = stream.thread or str(as_object(piece).get("thread_id") or "")
    return bool(mode)


def _mode(value: Any) -> tuple[str, Any]:
    """The mode of a piece of a stream, and what it holds; empty for another value."""
    if isinstance(value, list):
        if len(value) in (2, 3) and value[-2] in _MODES:
            return value[-2], value[-1]
        return ("messages", value) if _with_metadata(value) else ("", None)
    if isinstance(value, Mapping) and isinstance(event := value.get("event"), str) and "data" in value:
        name = event.partition("|")[0].partition("/")[0]
        return name if name in _MODES else "metadata", value["data"]
    return ("updates", value) if any(True for _ in _updates(value)) else ("", None)


def _with_metadata(piece: Any) -> bool:
    return (
        isinstance(piece, list)
        and len(piece) == 2
        and langchain.is_message(piece[0])
        and "langgraph_node" in as_object(piece[1])
    )


def _updates(value: Any) -> Iterator[list[Any]]:
    """The messages that each node of an update adds; none of a value that is not one."""
    nodes = list(value.values()) if isinstance(value, Mapping) else []
    if all(node is None or isinstance(node, Mapping | list) for node in nodes):
        for node in nodes:
            for update in node if isinstance(node, list) else [node]:
                if listed := langchain.list_of(as_object(update).get("messages")):
                    yield listed


def _recognised(source: Source) -> bool:
    first = source.first
    if isinstance(source.value, list) and isinstance(first, str):
        first = source.value  # a line that is a pair of mode and data
    if langchain.is_message(first) or _row(first) is not None or _listed(first) is not None:
        return True
    if _streams_messages(source, first):
        return True
    state = _state(first)
    return state is not None and bool(state.messages or state.thread)


def _streams_messages(source: Source, first: Any) -> bool:
    """Whether one of the first pieces of a stream holds messages: a stream may begin with its metadata."""
    stream = _Streamed()
    pieces = source.beginning if isinstance(first, Mapping) else (first,)
    return bool(_mode(first)[0]) and all(_streamed(piece, stream) for piece in pieces) and bool(stream.messages)


read = whole(one_by_one)
FORMAT = Format(
    "langchain",
    "messages of LangChain, and states, checkpoints and streams of LangGraph",
    _recognised,
    read,
    one_by_one=one_by_one,
    sign="messages with a `type` such as `human` or `ai`, or of a `constructor`: by themselves, in a list, under `messages`, "
    "`values`, `channel_values` or a node's name",
)
