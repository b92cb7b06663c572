"""Logs of requests to chat models with their responses, whichever API each line is of; and of single messages.

Shapes: the request and response of OpenAI's Chat Completions (`messages`, `choices`) and Responses (`input`, `output`)
APIs, of Anthropic's Messages API and of Bedrock's Converse API, stored together in a line or as `request` and
`response` (also with a `body` each, as OpenAI's Batch API has them); lists under `conversation` or `conversations` with
`role` and `content`; single messages with `role`, `content` and the id of their conversation.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import DataError, at
from ..files.json import STRICT, Broken, as_value, elements
from ..formats.messages import RESPONSES, numbered
from ..formats.source import ConversationStream, Format, Source
from ..formats.turns import LISTS, Turn, is_turn, role_of, turns_of, turns_of_items
from ..records import as_list, as_object, is_object
from .calls import LoggedCall, answer, together, usage_of
from .dialogues import CONVERSATIONS, IDS, SPEAKERS, TEXTS, first_of, identifier, oldest_first
from .dialogues import LISTS as DIALOGUE_LISTS

_REPLIES = ("reply", "answer")
"""Keys of a text that is the response if the line's last message is a user's: else it may be any other answer."""
_REQUESTS = ("request", "body", "input", "request_body", "params")
_BODIES = ("body", "inputBodyJson", "outputBodyJson")
"""Keys of a request or a response for its content: of OpenAI's Batch API and of Bedrock's invocation logs."""
_FURTHER = ("model", "error", "metadata", "user", "safety_identifier", "requestMetadata")
"""Keys of a request or its response that become further keys of the line: what was called, and who is the user."""
_ADDRESSES = ("hashed_ip", "header")
"""Keys of WildChat for the address of a person, and for what their browser sent."""
_ITEMS = "message function_call custom_tool_call function_call_output custom_tool_call_output mcp_call web_search_call file_search_call computer_call".split()  # fmt: skip
_OF_OTHERS = ("input", "request", "body", "response", "output", "result", "error")
"""Keys of lines that may be requests of another kind, such as embeddings: without messages they are left out."""


def read(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """The conversations of a log of requests, or of messages one a line.

    The generator's result is the notes, which count requests of another kind. DataError for a line that is none.
    """
    calls: list[LoggedCall] = []
    single: dict[str, list[Mapping[str, Any]]] = {}
    others = 0
    for place, value in elements(path, broken):
        if (turn := _single(value)) is not None:
            single.setdefault(identifier(turn), []).append(turn)
        elif (call := call_of(value)) is not None:
            with broken.reading(place):
                if _is_stream(as_object(value).get("response")):
                    raise DataError(f"{at(path, place)}: its response is a stream's events: log the whole response")
                calls.append(call)
        elif is_other(value):
            others += 1
        else:
            with broken.reading(place):
                raise DataError(
                    f"{at(path, place)}: has no messages: give 'messages' of role and content, or a response"
                )
    if not calls and not single:
        raise DataError(f"{at(path)}: holds no conversation, {others} requests of other kinds: give those of chats")
    yield from numbered(path, chain(together(calls), (_of_group(name, turns) for name, turns in single.items())))
    names = {call.name for call in calls}
    begun = sum(bool(call.after) and call.after not in names for call in calls)
    lacking = f"{begun} {'response goes' if begun == 1 else 'responses go'} on from one that the log lacks"
    left = f"left out, not conversations: {others}"
    return (*([left] if others else []), *([lacking] if begun else []))


def is_other(value: Any) -> bool:
    """Whether a line may be a request of another kind, or a failed one."""
    return is_object(value) and any(value.get(key) for key in _OF_OTHERS) and not _messages(value)


def _single(value: Any) -> Mapping[str, Any] | None:
    """A single message of any known keys as a turn with `role` and `content`; None for others.

    The name of its conversation is under `conversation_id`.
    """
    if is_turn(value) or not isinstance(value, Mapping):
        return value if is_turn(value) else None
    speaker = next((key for key in SPEAKERS if role_of(value.get(key)) is not None), "")
    text = next((key for key in TEXTS if isinstance(value.get(key), str)), "")
    listed = any(isinstance(value.get(key), list) for key in (*LISTS, *DIALOGUE_LISTS))
    if not speaker or not text or (speaker, text) == ("role", "content") or listed:
        return None
    names = {key.casefold(): key for key, inner in value.items() if isinstance(inner, str | int)}
    name = names.get(first_of(CONVERSATIONS, names), "")
    turn = {"role": value[speaker], "content": value[text]} | ({IDS[0]: value[name]} if name else {})
    return turn | {key: inner for key, inner in value.items() if key not in (speaker, text, name)}


def _of_group(name: str, turns: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The conversation of single messages with its name, which may be empty."""
    own = [{key: inner for key, inner in turn.items() if key not in IDS} for turn in turns]
    return ({"id": name} if name else {}) | {"messages": oldest_first(own)}


# --- Calls


class _Line(NamedTuple):
    """A line of a log: its request (which may be the line itself), its response and its further keys."""

    value: Mapping[str, Any]
    request: Mapping[str, Any]
    response: Any
    more: Mapping[str, Any]


def call_of(value: Any) -> LoggedCall | None:
    """The call of a line, of whichever API it is; None without one."""
    if not isinstance(value, Mapping):
        return None
    line = _line(_without_addresses(value))
    return _of_responses(line) or _of_completions(line)


def _line(value: Mapping[str, Any]) -> _Line:
    requests = (_body(inner) for key in _REQUESTS if isinstance(inner := value.get(key), Mapping))
    request = next((inner for inner in requests if isinstance(inner, Mapping)), value)
    taken = {*LISTS, *_REQUESTS, *RESPONSES, "choices", "usage", "object", *IDS}
    response: Any = next((value[key] for key in RESPONSES if value.get(key)), None)
    of_messages = value.get("type") == "message" and "stop_reason" in value  # Anthropic's
    if "choices" in value or value.get("object") == "response" or of_messages:
        response = value
        taken |= {"content", "role", "type"}
    elif response is None and "message" in as_object(value.get("result")):  # of Anthropic's batches
        response = value["result"]["message"]
        taken |= {"result"}
    elif response is None and (reply := _reply_key(value)):
        response = value[reply]
        taken |= {reply}
    response = _body(response) if isinstance(response, Mapping) else response
    more = {key: inner for key, inner in value.items() if key not in taken}
    for holder in (request, as_object(response)):
        if holder is not value:
            more |= {key: holder[key] for key in _FURTHER if holder.get(key)}
    return _Line(value, request, response, more)


def _without_addresses(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A line of WildChat without addresses and headers of people; the digest of the address is the user's name."""
    if not isinstance(value.get("conversation_hash"), str):
        return value
    listed = [
        {key: inner for key, inner in turn.items() if key not in _ADDRESSES} if is_object(turn) else turn
        for turn in as_list(value.get("conversation"))
    ]
    holders = (value, *map(as_object, as_list(value.get("conversation"))))
    user = next((holder["hashed_ip"] for holder in holders if holder.get("hashed_ip")), None)
    more = {key: inner for key, inner in value.items() if key not in _ADDRESSES}
    return {**more, "conversation": listed} | ({"user": user} if user else {})


def _body(holder: Mapping[str, Any]) -> Any:
    bodies = (as_value(holder.get(key)) for key in _BODIES)
    return next((body for body in bodies if isinstance(body, Mapping | list)), holder)


def _reply_key(value: Mapping[str, Any]) -> str:
    """The key of the text that answers the line's messages; empty without one."""
    last = as_object(next(reversed(as_list(value.get("messages"))), None))
    keys = _REPLIES if role_of(last.get("role")) == "user" else ()
    return next((key for key in keys if isinstance(value.get(key), str) and value[key]), "")


def _logged(line: _Line, turns: list[Turn], **more: Any) -> LoggedCall:
    own = line.value.get("custom_id") or line.value.get("id")
    fields: dict[str, Any] = {
        "conversation": identifier(line.value) or identifier(line.request),
        "usage": usage_of(as_object(line.response)),
        "more": line.more,
        "own": str(own) if isinstance(own, str | int) and not isinstance(own, bool) else "",
    }
    return LoggedCall(turns, **fields | more)


def _of_completions(line: _Line) -> LoggedCall | None:
    """The request and response of Chat Completions, Messages or Converse; None if a line has neither.

    A text by itself is not a request, and a text is a response only to messages.
    """
    turns = _messages(line.value) or _messages(line.request) or turns_of(line.value.get("input"))
    instructions = _instructions(line.value) or _instructions(line.request)
    if turns and instructions:
        turns = [{"role": "system", "content": instructions}, *turns]
    answered = _answers(line.response) if turns or not isinstance(line.response, str) else []
    if not turns and answered:
        asked = (line.value.get("input"), line.value.get("prompt"), line.request.get("prompt"))
        turns = next((found for one in asked if (found := _prompt(one))), [])
    if not turns and not answered:
        return None
    more = {key: inner for key, inner in line.more.items() if not (key == "system" and turns and instructions)}
    return _logged(line, turns + answered, more=more)


def _prompt(prompt: Any) -> list[Turn]:
    """The turns of a prompt: messages, or the text of an older request; of several the first, whose reply is read."""
    if found := turns_of(prompt):
        return found
    text = prompt[0] if isinstance(prompt, list) and prompt else prompt
    return [{"role": "user", "content": text}] if isinstance(text, str) and text else []


def _instructions(holder: Mapping[str, Any]) -> str:
    """The text under `system`, where Anthropic's and Bedrock's APIs take it; empty without one."""
    system = holder.get("system")
    blocks = [{"text": system}] if isinstance(system, str) else as_list(system)
    texts = [as_object(block).get("text") for block in blocks]
    return "".join(text for text in texts if isinstance(text, str))


def _messages(holder: Mapping[str, Any]) -> list[Turn]:
    listed: list[Any] = next((holder[key] for key in LISTS if isinstance(holder.get(key), list)), [])
    return [dict(turn) if is_turn(turn) else inner for turn in listed for inner in (turns_of(turn) or [turn])]


def _answers(response: Any) -> list[Turn]:
    """The turns of a response; of several choices the first."""
    if isinstance(response, str):
        return answer(response)
    if isinstance(response, list):
        return turns_of(response) or [turn for inner in map(as_object, response) for turn in _answers(inner)]
    if not isinstance(response, Mapping):
        return []
    choices = response.get("choices")
    if not isinstance(choices, list):
        own = turns_of(response) or turns_of(response.get("message") or response.get("messages"))
        turns = own or turns_of(as_object(response.get("output")).get("message"))
        if turns and not own and (reason := response.get("stopReason")):
            turns[-1]["finish_reason"] = reason
        return turns
    choice = as_object(next(iter(choices), None))
    message = as_object(choice.get("message"))
    turns = turns_of(message) or answer(choice.get("text"))
    if len(turns) == 1:  # such as `reasoning_content` and `annotations`
        turns[0] |= {key: inner for key, inner in message.items() if key not in turns[0] and inner is not None}
    if turns and choice.get("finish_reason"):
        turns[-1]["finish_reason"] = choice["finish_reason"]
    return turns


def _of_responses(line: _Line) -> LoggedCall | None:
    """The request and response of the Responses API; None without a sign of it.

    A line with only a text under `input` or `output` is not one: embeddings and evaluations have them too.
    """
    request = line.request
    response = as_object(line.response) or ({"output": line.response} if isinstance(line.response, list) else {})
    sent, output = turns_of_items(request.get("input")), response.get("output")
    if response.get("object") != "response" and not (sent and (_is_output(output) or _is_request(request))):
        return None
    instructions = request.get("instructions") or response.get("instructions")
    system = [turn | {"role": "system"} for turn in turns_of_items(instructions)]
    reply = turns_of_items(output, output=True) if response else answer(line.response)
    reason = as_object(response.get("incomplete_details")).get("reason")
    if reply and isinstance(reason, str):
        reply[-1]["finish_reason"] = {"max_output_tokens": "length"}.get(reason, reason)
    named = request.get("conversation") or response.get("conversation")
    named = as_object(named).get("id") if isinstance(named, Mapping) else named
    conversation = identifier(line.value) or identifier(request) or (named if isinstance(named, str) else "")
    return _logged(
        line,
        [*system, *sent, *reply],
        conversation=conversation,
        usage=usage_of(response),
        name=str(response.get("id") or ""),
        after=str(request.get("previous_response_id") or response.get("previous_response_id") or ""),
    )


def _is_output(output: Any) -> bool:
    items = [as_object(item) for item in as_list(output)]
    return any(item.get("type") in (*_ITEMS, "reasoning") and item.keys() & {"id", "call_id", "role"} for item in items)


def _is_request(request: Mapping[str, Any]) -> bool:
    """Whether a request with an `input` is surely one of the Responses API."""
    if "previous_response_id" in request or ("model" in request and isinstance(request.get("instructions"), str)):
        return True
    items = [as_object(item) for item in as_list(request.get("input"))]
    parts = [as_object(part).get("type") for item in items for part in as_list(item.get("content"))]
    worded = any(role_of(item.get("role")) for item in items)
    kinds = [*(item.get("type") for item in items), *parts]
    return worded and any(kind in (*_ITEMS, "input_text", "output_text") for kind in kinds)


def _is_stream(response: Any) -> bool:
    """Whether a response was logged as the events of its stream, which are no messages."""
    response = as_object(response).get("body", response)
    first = as_object(next(iter(as_list(response)), None))
    begins = first.get("object") == "chat.completion.chunk" or first.get("type") == "message_start"
    return begins or "messageStart" in first or (isinstance(response, str) and response.startswith(("data:", "event:")))


def _recognised(source: Source) -> bool:
    # The first value that is not left out as something else than a conversation, of the first twenty.
    first = next((value for value in source.beginning if not is_other(value) or call_of(value)), None)
    if _single(first) is not None:
        return True
    if not isinstance(first, Mapping) or "inputs" in first or "chosen" in first:
        return False
    if isinstance(first.get("conversations"), list):
        return any(map(is_turn, first["conversations"][:3]))
    return call_of(first) is not None


FORMAT = Format(
    "requests",
    "requests to chat models with their responses, or one message a line",
    _recognised,
    read,
    sign="a request with messages or `input`, a response with choices, a message or `output`, or the role and the text of "
    "one message",
    skips=True,
)
