"""Logs of requests to chat models with their responses, whichever API each line is of; and of single messages.

Shapes: the request and response of OpenAI's Chat Completions (`messages`, `choices`) and Responses (`input`, `output`)
APIs, of Anthropic's Messages API and of Bedrock's Converse API, stored together in a line or as `request` and
`response` (also with a `body` each, as OpenAI's Batch API has them); lists under `conversation` or `conversations` with
`role` and `content`; single messages with `role`, `content` and the id of their conversation.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json import STRICT, Broken, as_value, elements
from ..formats.messages import IDS, LISTS, Turn, conversations, identifier, instruction_of, is_turn, role_of, turns_of
from ..formats.source import ConversationStream, Format, Source
from ..records import as_list, as_object, is_object
from .calls import LoggedCall, together, turns_of_response, usage_of
from .dialogues import SpokenRow, of_messages, spoken_row, without_addresses

_RESPONSES = ("response", "completion", "output", "preferred_output", "response_body")
"""Keys of a line's response to its messages."""
_REPLIES = ("reply", "answer")
"""Keys of a text that is the response if the line's last message is a user's: else it may be any other answer."""
_REQUESTS = ("request", "body", "input", "request_body", "params")
_BODIES = ("body", "inputBodyJson", "outputBodyJson")
"""Keys of a request or a response for its content: of OpenAI's Batch API and of Bedrock's invocation logs."""
_FURTHER = ("model", "error", "metadata", "user", "safety_identifier", "requestMetadata")
"""Keys of a request or its response that become further keys of the line: what was called, and who is the user."""
_OF_OTHERS = ("input", "request", "body", "response", "output", "result", "error")
"""Keys of lines that may be requests of another kind, such as embeddings: without messages they are left out."""


def read(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """The conversations of a log of requests, or of messages one a line.

    The generator's result is the notes, which count requests of another kind. DataError for a line that is none.
    """
    calls: list[LoggedCall] = []
    alone: list[SpokenRow] = []
    others = choices = 0
    for place, value in elements(path, broken):
        if (message := spoken_row(place, value)) is not None:
            alone.append(message)
        elif (call := call_of(value)) is not None:
            with broken.reading(place):
                if _is_stream(as_object(value).get("response")):
                    raise DataError(f"{at(path, place)}: its response is a stream's events: log the whole response")
                calls.append(call)
                choices += max(len(as_list(as_object(_response(value)[1]).get("choices"))) - 1, 0)
        elif is_other(value):
            others += 1
        else:
            with broken.reading(place):
                raise DataError(
                    f"{at(path, place)}: has no messages: give 'messages' of role and content, or a response"
                )
    if not calls and not alone:
        raise DataError(f"{at(path)}: holds no conversation, {others} requests of other kinds: give those of chats")
    lines, notes = of_messages(path, alone, broken)
    yield from conversations(path, [*together(calls), *lines])
    responses = {call.response for call in calls}
    begun = sum(bool(call.after) and call.after not in responses for call in calls)
    lacking = f"{begun} {'response goes' if begun == 1 else 'responses go'} on from one that the log lacks"
    left = f"left out, not conversations: {others}"
    further = f"{choices} further choice{'s' if choices > 1 else ''} of a response left out"
    counted = ((others, left), (choices, further), (begun, lacking))
    return (*notes, *(note for count, note in counted if count))


def is_other(value: Any) -> bool:
    """Whether a line may be a request of another kind, or a failed one."""
    return is_object(value) and any(value.get(key) for key in _OF_OTHERS) and not _messages(value)


# --- Calls


def call_of(value: Any) -> LoggedCall | None:
    """The call of a line, of whichever API it is; None without one.

    A text by itself is not a request, and a text is a response only to messages: embeddings and evaluations have them too.
    """
    if not is_object(value):
        return None
    value = without_addresses(value)
    bodies = (_body(inner) for key in _REQUESTS if is_object(inner := value.get(key)))
    request = next((inner for inner in bodies if is_object(inner)), value)
    key, response = _response(value)
    fields = as_object(response)
    sent = _messages(value) or _messages(request) or turns_of(value.get("input")) or turns_of(request.get("input"))
    received = turns_of_response(response) if sent or not isinstance(response, str) else []
    if not sent and received:
        asked = (value.get("input"), value.get("prompt"), request.get("input"), request.get("prompt"))
        sent = next((found for one in asked if (found := _prompt(one))), [])
    if not sent and not received:
        return None
    holders = (value, request) if request is not value else (value,)
    told = (holder.get(key) for holder in (*holders, fields) for key in ("system", "instructions"))
    instructions = next(filter(None, map(instruction_of, told)), "") if sent else ""
    if instructions:
        sent = [Turn("system", instructions), *sent]
    taken = {*LISTS, *_REQUESTS, *_RESPONSES, "choices", "usage", "object", *IDS, key}
    taken |= {"content", "role", "type", "stop_reason"} if response is value else set()
    more = {
        name: inner for name, inner in value.items() if name not in taken and not (instructions and name == "system")
    }
    for holder in (request, fields):
        if holder is not value:
            more |= {name: holder[name] for name in _FURTHER if holder.get(name)}
    own = value.get("custom_id") or value.get("id")
    thread = request.get("conversation") or fields.get("conversation")
    thread = as_object(thread).get("id") if is_object(thread) else thread
    return LoggedCall(
        sent + received,
        identifier(value) or identifier(request) or (thread if isinstance(thread, str) else ""),
        usage=usage_of(fields),
        more=more,
        own=str(own) if isinstance(own, str | int) and not isinstance(own, bool) else "",
        response=str(fields.get("id") or ""),
        after=str(request.get("previous_response_id") or fields.get("previous_response_id") or ""),
    )


def _response(value: Mapping[str, Any]) -> tuple[str, Any]:
    """A line's response, and the key under which it stands; the line itself where request and response are one."""
    of_messages = value.get("type") == "message" and "stop_reason" in value  # Anthropic's
    if "choices" in value or value.get("object") == "response" or of_messages:
        return "", value
    key = next((key for key in _RESPONSES if value.get(key)), "")
    if not key and "message" in as_object(value.get("result")):  # of Anthropic's batches
        return "result", value["result"]["message"]
    last = as_object(next(reversed(as_list(value.get("messages"))), None))
    if not key and role_of(last.get("role")) == "user":
        key = next((key for key in _REPLIES if isinstance(value.get(key), str) and value[key]), "")
    response = value.get(key)
    return key, _body(response) if is_object(response) else response


def _body(holder: Mapping[str, Any]) -> Any:
    bodies = (as_value(holder.get(key)) for key in _BODIES)
    return next((body for body in bodies if isinstance(body, Mapping | list)), holder)


def _messages(holder: Mapping[str, Any]) -> list[Turn]:
    return turns_of(next((holder[key] for key in LISTS if isinstance(holder.get(key), list)), []))


def _prompt(prompt: Any) -> list[Turn]:
    """The turns of a prompt: messages, or the text of an older request; of several the first, whose reply is read."""
    if found := turns_of(prompt):
        return found
    text = prompt[0] if isinstance(prompt, list) and prompt else prompt
    return [Turn("user", text)] if isinstance(text, str) and text else []


def _is_stream(response: Any) -> bool:
    """Whether a response was logged as the events of its stream, which are no messages."""
    response = as_object(response).get("body", response)
    first = as_object(next(iter(as_list(response)), None))
    begins = first.get("object") == "chat.completion.chunk" or first.get("type") == "message_start"
    return begins or "messageStart" in first or (isinstance(response, str) and response.startswith(("data:", "event:")))


def _recognised(source: Source) -> bool:
    # The first value that is not left out as something else than a conversation, of the first twenty.
    first = next((value for value in source.beginning if not is_other(value) or call_of(value)), None)
    if spoken_row("", first) is not None:
        return True
    if not is_object(first) or "inputs" in first or "chosen" in first:
        return False
    if isinstance(first.get("conversations"), list):
        return any(map(is_turn, first["conversations"][:3]))
    return call_of(first) is not None


FORMAT = Format("requests", "requests to chat models with their responses, or one message a line", _recognised, read)
