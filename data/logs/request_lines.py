"""Logs of requests to chat models, whichever API each line is of, and streamed events by themselves."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attempts import as_list
from ..files.broken_lines import is_skipping, readable
from ..files.json_files import read_text
from ..files.json_values import elements, has_lines
from ..formats.detection import ConversationStream, Format, Source
from ..formats.other_requests import OtherRequests, is_bare_text, is_failed, other_request
from ..formats.provider_messages import write_responses
from ..formats.refusals import unread_form
from ..formats.spooled import Spooled, SpooledGroups, whole
from . import completions, responses
from .calls import LoggedCall, spooled_calls, together
from .events import begins_server_sent, event_of, is_server_sent, server_sent
from .logged_lines import LoggedLine, identifier, is_answered, unread_notes
from .streams import assembled

_UNSPOKEN = ("thinking", "redacted_thinking", "reasoningContent")
"""Blocks of a content that are not words of the message."""


def one_by_one(path: str | Path) -> ConversationStream:
    """The conversations of a log of requests, of streamed events, or of messages one a line.

    The generator's result is the notes. DataError for a line without any, if it is not surely a request of another kind,
    which a note counts.
    """
    calls = spooled_calls()
    single = SpooledGroups()
    events: list[Mapping[str, Any]] = []
    others = OtherRequests()
    for place, value in others.without(_values(path)):
        if (event := event_of(value)) is not None:
            events.append(event)
        elif (turn := completions.turn_of(value)) is not None:
            single.add(identifier(turn), turn)
        elif (call := call_of(value)) is not None:
            calls.append(call)
        elif is_bare_text(value):
            others["text without a request"] += 1
        elif is_failed(value):
            others["failed request"] += 1
        else:
            with readable(place):
                raise DataError(
                    f"{at(path, place)}: has no messages: give 'messages' of role and content, or a response"
                )
    requested = len(calls)
    for response in assembled(events):
        if (call := call_of({"id": response.get("id"), "response": response})) is not None:
            calls.append(call)
    if not calls and not single:
        raise DataError(f"{at(path)}: holds no conversation: {'; '.join(others.notes()) or 'it has no reply'}")
    kept_apart = Counter[str]()
    groups = (completions.of_group(name, turns) for name, turns in single)
    values = chain(together(responses.chained(calls)), groups)
    yield from completions.numbered(path, (_counted(value, kept_apart) for value in values))
    return (*others.notes(), *_notes(calls, requested, kept_apart))


def _notes(calls: Spooled[LoggedCall], requested: int, kept_apart: Counter[str]) -> Iterator[str]:
    if replies := len(calls) - requested:
        yield f"{_times(replies, 'streamed reply', 'streamed replies')} without a request"
    names = {call.name for call in calls}
    if begun := sum(bool(call.after) and call.after not in names for call in calls):
        yield f"{_times(begun, 'response goes', 'responses go')} on from one that the log lacks"
    if kept_apart:
        yield "kept beside the words: " + ", ".join(f"{name} {count}" for name, count in kept_apart.items())
    yield from unread_notes(call.unread for call in calls)


def _values(path: str | Path) -> Iterator[tuple[str, Any]]:
    if is_skipping() and has_lines(path):
        return elements(path)
    if begins_server_sent(Source(path).begin) and is_server_sent(text := read_text(path)):
        return ((f"event {number}", value) for number, value in enumerate(server_sent(text), start=1))
    return elements(path)


def call_of(value: Any) -> LoggedCall | None:
    """The call of a line, of whichever API it is; None without one."""
    if not isinstance(value, Mapping):
        return None
    line = LoggedLine.of(value)
    return responses.call_of(line) or completions.call_of(line)


def _counted(value: dict[str, Any], kept_apart: Counter[str]) -> dict[str, Any]:
    """The value, whose items and blocks that are kept, but are not words of a message, are counted."""
    for turn in (turn for turn in value["messages"] if isinstance(turn, Mapping)):
        items, content = turn.get(responses.ITEMS), turn.get("content")
        kept_apart.update(str(item.get("type") or "message") for item in items or () if isinstance(item, Mapping))
        for block in (block for block in as_list(content) if isinstance(block, Mapping)):
            kept_apart.update(name for name in _UNSPOKEN if block.get("type") == name or name in block)
    return value


def _times(count: int, singular: str, plural: str) -> str:
    return f"{count} {singular if count == 1 else plural}"


def _first(source: Source) -> Any:
    """The first value that is not left out as something else than a conversation, of the first twenty."""
    return next((value for value in source.beginning if not _is_left_out(value)), None)


def _is_left_out(value: Any) -> bool:
    return bool(other_request(value)) or ((is_bare_text(value) or is_failed(value)) and call_of(value) is None)


def _is_streamed(source: Source) -> bool:
    return event_of(_first(source)) is not None or (
        source.value is None and begins_server_sent(source.begin) and is_server_sent(source.text)
    )


def _is_of_responses(source: Source) -> bool:
    first = _first(source)
    return isinstance(first, Mapping) and "inputs" not in first and responses.call_of(LoggedLine.of(first)) is not None


def _is_of_completions(source: Source) -> bool:
    first = _first(source)
    if completions.turn_of(first) is not None:
        return True
    if not isinstance(first, Mapping) or "inputs" in first or unread_form(first):
        return False
    if isinstance(first.get("conversations"), list):
        turns = islice(first["conversations"], 3)
        return any(completions.is_turn(turn) for turn in turns)
    if isinstance(first.get("messages"), list) and not is_answered(first):
        return first is not source.beginning[0]  # lines of messages alone are written again as they were
    return completions.call_of(LoggedLine.of(first)) is not None


read = whole(one_by_one)
STREAMS = Format(
    "streams",
    "streamed events of chat models",
    _is_streamed,
    read,
    one_by_one=one_by_one,
    sign="`message_start` and the like as `type`, `object: chat.completion.chunk`, `type: response.created`, "
    "`messageStart`, or such events as `data:` of server-sent events",
)
RESPONSES = Format(
    "responses",
    "requests and responses of OpenAI's Responses API",
    _is_of_responses,
    read,
    write_responses,
    one_by_one=one_by_one,
    sign="`object: response`; or `input` with the address `/v1/responses`, with items such as `function_call` beside "
    "messages, with `previous_response_id`, with `model` and `instructions`, or with items of an `output`",
)
COMPLETIONS = Format(
    "completions",
    "requests of chat models with their responses, or one message a line",
    _is_of_completions,
    read,
    one_by_one=one_by_one,
    sign="a request with messages, a response with choices or a message, or the role and the text of one message",
)
