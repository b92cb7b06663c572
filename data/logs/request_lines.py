"""Logs of requests to chat models, whichever API each line is of, and streamed events by themselves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attempts import as_list
from ..files.broken_lines import is_skipping, readable
from ..files.json_files import read_text
from ..files.json_values import elements, has_lines
from ..formats.detection import Contents, Format, Source
from ..formats.other_requests import OtherRequests, is_bare_text, is_failed, other_request
from ..formats.provider_messages import write_responses
from ..formats.refusals import unread_form
from . import completions, responses
from .calls import LoggedCall, together
from .events import event_of, is_server_sent, server_sent
from .logged_lines import LoggedLine, is_answered, unread_notes
from .streams import assembled

_UNSPOKEN = ("thinking", "redacted_thinking", "reasoningContent")
"""Blocks of a content that are not words of the message."""


def read(path: str | Path) -> Contents:
    """The conversations of a log of requests, of streamed events, or of messages one a line.

    DataError for a line without any, if it is not surely a request of another kind, which a note counts.
    """
    calls: list[LoggedCall] = []
    single: list[Mapping[str, Any]] = []
    events: list[Mapping[str, Any]] = []
    others = OtherRequests()
    for place, value in others.without(_values(path)):
        if (event := event_of(value)) is not None:
            events.append(event)
        elif (turn := completions.turn_of(value)) is not None:
            single.append(turn)
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
    lines = ({"id": response.get("id"), "response": response} for response in assembled(events))
    replies = [call for line in lines if (call := call_of(line)) is not None]
    values = [*together(responses.chained([*calls, *replies])), *completions.by_id(single)]
    if not values:
        raise DataError(f"{at(path)}: holds no conversation: {'; '.join(others.notes()) or 'it has no reply'}")
    names = {call.name for call in (*calls, *replies)}
    begun = sum(bool(call.after) and call.after not in names for call in (*calls, *replies))
    before = f"{_times(begun, 'response goes', 'responses go')} on from one that the log lacks" if begun else ""
    alone = f"{_times(len(replies), 'streamed reply', 'streamed replies')} without a request" if replies else ""
    unread = unread_notes(call.unread for call in (*calls, *replies))
    notes = [*others.notes(), *filter(None, [alone, before]), *_kept_apart(values), *unread]
    return Contents(tuple(completions.numbered(path, values)), tuple(notes))


def _values(path: str | Path) -> Iterator[tuple[str, Any]]:
    if is_skipping() and has_lines(path):
        return elements(path)
    text = read_text(path)
    if is_server_sent(text):
        return ((f"event {number}", value) for number, value in enumerate(server_sent(text), start=1))
    return elements(path)


def call_of(value: Any) -> LoggedCall | None:
    """The call of a line, of whichever API it is; None without one."""
    if not isinstance(value, Mapping):
        return None
    line = LoggedLine.of(value)
    return responses.call_of(line) or completions.call_of(line)


def _kept_apart(values: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line with the number of items and blocks that are kept, but are not words of a message."""
    counts = Counter[str]()
    for turn in (turn for value in values for turn in value["messages"] if isinstance(turn, Mapping)):
        items, content = turn.get(responses.ITEMS), turn.get("content")
        counts.update(str(item.get("type") or "message") for item in items or () if isinstance(item, Mapping))
        for block in (block for block in as_list(content) if isinstance(block, Mapping)):
            counts.update(name for name in _UNSPOKEN if block.get("type") == name or name in block)
    if counts:
        yield "kept beside the words: " + ", ".join(f"{name} {count}" for name, count in counts.items())


def _times(count: int, singular: str, plural: str) -> str:
    return f"{count} {singular if count == 1 else plural}"


def _first(source: Source) -> Any:
    """The first value that is not left out as something else than a conversation, of the first twenty."""
    return next((value for value in source.beginning if not _is_left_out(value)), None)


def _is_left_out(value: Any) -> bool:
    return bool(other_request(value)) or ((is_bare_text(value) or is_failed(value)) and call_of(value) is None)


def _is_streamed(source: Source) -> bool:
    return event_of(_first(source)) is not None or (source.value is None and is_server_sent(source.text))


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


STREAMS = Format(
    "streams",
    "streamed events of chat models",
    _is_streamed,
    read,
    sign="`message_start` and the like as `type`, `object: chat.completion.chunk`, `type: response.created`, "
    "`messageStart`, or such events as `data:` of server-sent events",
)
RESPONSES = Format(
    "responses",
    "requests and responses of OpenAI's Responses API",
    _is_of_responses,
    read,
    write_responses,
    sign="`object: response`; or `input` with the address `/v1/responses`, with items such as `function_call` beside "
    "messages, with `previous_response_id`, with `model` and `instructions`, or with items of an `output`",
)
COMPLETIONS = Format(
    "completions",
    "requests of chat models with their responses, or one message a line",
    _is_of_completions,
    read,
    sign="a request with messages, a response with choices or a message, or the role and the text of one message",
)
