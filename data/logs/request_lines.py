"""Logs of requests to chat models, whichever API each line is of."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..files.json_values import elements
from ..formats.detection import ConversationStream, Format, Source
from ..formats.other_requests import OtherRequests, is_bare_text, is_failed, other_request
from ..formats.spooled import Spooled, SpooledGroups, whole
from ..records import as_list, as_object
from . import completions, responses
from .calls import LoggedCall, spooled_calls, together
from .logged_lines import LoggedLine, identifier, is_answered, unread_notes

_UNSPOKEN = ("thinking", "redacted_thinking", "reasoningContent")
"""Blocks of a content that are not words of the message."""
_SERVER_SENT = re.compile(r"\s*(?::.*\n\s*)?(?:event:.*\n)?data: ?\{")


def one_by_one(path: str | Path) -> ConversationStream:
    """The conversations of a log of requests, or of messages one a line.

    The generator's result is the notes. DataError for a line without any, if it is not surely a request of another kind,
    which a note counts.
    """
    calls = spooled_calls()
    single = SpooledGroups()
    others = OtherRequests()
    for place, value in others.without(elements(path)):
        if (turn := completions.turn_of(value)) is not None:
            single.add(identifier(turn), turn)
        elif (call := call_of(value)) is not None:
            with readable(place):
                if _is_stream(LoggedLine.of(value).response):
                    raise DataError(f"{at(path, place)}: its response is a stream's events: log the whole response")
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
    if not calls and not single:
        raise DataError(f"{at(path)}: holds no conversation: {'; '.join(others.notes()) or 'it has no reply'}")
    kept_apart = Counter[str]()
    groups = (completions.of_group(name, turns) for name, turns in single)
    values = chain(together(responses.chained(calls)), groups)
    yield from completions.numbered(path, (_counted(value, kept_apart) for value in values))
    return (*others.notes(), *_notes(calls, kept_apart))


def _notes(calls: Spooled[LoggedCall], kept_apart: Counter[str]) -> Iterator[str]:
    names = {call.name for call in calls}
    if begun := sum(bool(call.after) and call.after not in names for call in calls):
        yield f"{begun} {'response goes' if begun == 1 else 'responses go'} on from one that the log lacks"
    if kept_apart:
        yield "kept beside the words: " + ", ".join(f"{name} {count}" for name, count in kept_apart.items())
    yield from unread_notes(call.unread for call in calls)


def call_of(value: Any) -> LoggedCall | None:
    """The call of a line, of whichever API it is; None without one."""
    if not isinstance(value, Mapping):
        return None
    line = LoggedLine.of(value)
    return responses.call_of(line) or completions.call_of(line)


def _is_stream(response: Any) -> bool:
    """Whether a response was logged as the events of its stream, which are no messages."""
    response = as_object(response).get("body", response)
    first = as_object(response[0]) if isinstance(response, list) and response else {}
    begins = first.get("object") == "chat.completion.chunk" or first.get("type") == "message_start"
    is_text = isinstance(response, str) and _SERVER_SENT.match(response) is not None
    return begins or "messageStart" in first or is_text


def _counted(value: dict[str, Any], kept_apart: Counter[str]) -> dict[str, Any]:
    """The value, whose items and blocks that are kept, but are not words of a message, are counted."""
    for turn in (turn for turn in value["messages"] if isinstance(turn, Mapping)):
        items, content = turn.get(responses.ITEMS), turn.get("content")
        kept_apart.update(str(item.get("type") or "message") for item in items or () if isinstance(item, Mapping))
        for block in (block for block in as_list(content) if isinstance(block, Mapping)):
            kept_apart.update(name for name in _UNSPOKEN if block.get("type") == name or name in block)
    return value


def _first(source: Source) -> Any:
    """The first value that is not left out as something else than a conversation, of the first twenty."""
    return next((value for value in source.beginning if not _is_left_out(value)), None)


def _is_left_out(value: Any) -> bool:
    return bool(other_request(value)) or ((is_bare_text(value) or is_failed(value)) and call_of(value) is None)


def _is_of_responses(source: Source) -> bool:
    first = _first(source)
    return isinstance(first, Mapping) and "inputs" not in first and responses.call_of(LoggedLine.of(first)) is not None


def _is_of_completions(source: Source) -> bool:
    first = _first(source)
    if completions.turn_of(first) is not None:
        return True
    if not isinstance(first, Mapping) or "inputs" in first:
        return False
    if isinstance(first.get("conversations"), list):
        turns = islice(first["conversations"], 3)
        return any(completions.is_turn(turn) for turn in turns)
    if isinstance(first.get("messages"), list) and not is_answered(first):
        return first is not source.beginning[0]  # lines of messages alone are written again as they were
    return completions.call_of(LoggedLine.of(first)) is not None


read = whole(one_by_one)
RESPONSES = Format(
    "responses",
    "requests and responses of OpenAI's Responses API",
    _is_of_responses,
    read,
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
