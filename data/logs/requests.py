"""Logs of requests to chat models with their responses, whichever API each line is of; and of single messages.

Shapes: the request and response of OpenAI's Chat Completions (`messages`, `choices`) and Responses (`input`, `output`)
APIs, of Anthropic's Messages API and of Bedrock's Converse API, stored together in a line or as `request` and
`response`; lines of OpenAI's Batch API (`custom_id`, `body`, `response.body`) and of preference fine-tuning
(`preferred_output`); lists under `conversation` or `conversations` with `role` and `content`; single messages with
`role`, `content` and the id of their conversation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..files.json_values import as_value, elements
from ..formats.detection import ConversationStream, Format, Source
from ..formats.other_requests import OtherRequests, endpoint_of, is_bare_text, is_failed, other_request
from ..formats.turns import Turn, role_of, turns_of, turns_of_items
from ..records import as_list, as_object
from .calls import LoggedCall, answer, numbered, together, usage_of
from .key_names import CONVERSATIONS, IDS, SPEAKERS, TEXTS, first_of, identifier, oldest_first
from .key_names import LISTS as DIALOGUE_LISTS

LISTS = ("messages", "conversation", "conversations", "turns", "trajectory")
_OF_RESPONSE = ("response", "completion", "output", "preferred_output", "response_body")
_OF_REPLY = ("reply", "answer")
"""Keys of a text that is the response if the line's last message is a user's: else it may be any other answer."""
_OF_REQUEST = ("request", "body", "input", "request_body", "params")
_BODIES = ("body", "inputBodyJson", "outputBodyJson")
"""Keys of a request or a response for its content: of OpenAI's Batch API and of Bedrock's invocation logs."""
_FURTHER = ("model", "error", "metadata", "user", "safety_identifier", "requestMetadata")
"""Keys of a request or its response that become further keys of the line: what was called, and who is the user."""
_ITEMS = ("message", "reasoning", "mcp_call", "web_search_call", "file_search_call", "computer_call", "function_call", "custom_tool_call")  # fmt: skip
_RESULTS = ("function_call_output", "custom_tool_call_output")


def read(path: str | Path) -> ConversationStream:
    """The conversations of a log of requests, or of messages one a line.

    The generator's result is the notes. DataError for a line without any, if it is not surely a request of another kind,
    which a note counts.
    """
    calls: list[LoggedCall] = []
    single: dict[str, list[Mapping[str, Any]]] = {}
    others = OtherRequests()
    for place, value in others.without(elements(path)):
        if (turn := turn_of(value)) is not None:
            single.setdefault(identifier(turn), []).append(turn)
        elif (call := call_of(value)) is not None:
            with readable(place):
                if _is_stream(as_object(value).get("response")):
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
    yield from numbered(path, chain(together(calls), (_of_group(name, turns) for name, turns in single.items())))
    names = {call.name for call in calls}
    begun = sum(bool(call.after) and call.after not in names for call in calls)
    lacking = f"{begun} {'response goes' if begun == 1 else 'responses go'} on from one that the log lacks"
    return (*others.notes(), *([lacking] if begun else []))


def is_turn(value: Any) -> bool:
    """Whether a value is a single message."""
    return (
        isinstance(value, Mapping)
        and role_of(value.get("role")) is not None
        and "stop_reason" not in value  # a response of Anthropic's Messages API
        and ("content" in value or "tool_calls" in value)
        and not any(isinstance(value.get(key), list) for key in LISTS)
    )


def turn_of(value: Any) -> Mapping[str, Any] | None:
    """A single message of any known keys (`key_names`) as a turn with `role` and `content`; None for others.

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
    """The conversation of single messages with its name, which may be empty.

    Those that stand from the newest to the oldest, as a database may give them, are turned round.
    """
    own = [{key: inner for key, inner in turn.items() if key not in IDS} for turn in turns]
    return ({"id": name} if name else {}) | {"messages": oldest_first(own)}


@dataclass(frozen=True)
class _Line:
    """A line of a log: its request (which may be the line itself), its response and its further keys."""

    value: Mapping[str, Any]
    request: Mapping[str, Any]
    response: Any
    more: Mapping[str, Any]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "_Line":
        requests = (_body(inner) for key in _OF_REQUEST if isinstance(inner := value.get(key), Mapping))
        request = next((inner for inner in requests if isinstance(inner, Mapping)), value)
        taken = {*LISTS, *_OF_REQUEST, *_OF_RESPONSE, "choices", "usage", "object", *IDS}
        response: Any = next((value[key] for key in _OF_RESPONSE if value.get(key)), None)
        if _is_response(value):
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
        return cls(value, request, response, more)

    def call(self, turns: list[Turn], **more: Any) -> LoggedCall:
        own = self.value.get("custom_id") or self.value.get("id")
        fields = {
            "conversation": identifier(self.value) or identifier(self.request),
            "usage": usage_of(as_object(self.response)),
            "more": self.more,
            "own": str(own) if isinstance(own, str | int) and not isinstance(own, bool) else "",
        }
        return LoggedCall(turns, **fields | more)


def call_of(value: Any) -> LoggedCall | None:
    """The call of a line, of whichever API it is; None without one."""
    if not isinstance(value, Mapping):
        return None
    line = _Line.of(value)
    return _of_responses(line) or _of_completions(line)


def _is_response(value: Mapping[str, Any]) -> bool:
    """Whether a line is a response itself: of Chat Completions, of Responses, or of Anthropic's Messages."""
    of_messages = value.get("type") == "message" and "stop_reason" in value
    return "choices" in value or value.get("object") == "response" or of_messages


def _body(holder: Mapping[str, Any]) -> Any:
    bodies = (as_value(holder.get(key)) for key in _BODIES)
    return next((body for body in bodies if isinstance(body, Mapping | list)), holder)


def _reply_key(value: Mapping[str, Any]) -> str:
    """The key of the text that answers the line's messages; empty without one."""
    listed = value.get("messages")
    last = as_object(listed[-1]) if isinstance(listed, list) and listed else {}
    keys = _OF_REPLY if role_of(last.get("role")) == "user" else ()
    return next((key for key in keys if isinstance(value.get(key), str) and value[key]), "")


# --- Chat Completions, Messages, Converse


def _of_completions(line: _Line) -> LoggedCall | None:
    """The request and the response of a line; None if it has neither.

    A text by itself is not a request, and a text is a response only to messages.
    """
    turns = _messages(line.value) or _messages(line.request) or turns_of(line.value.get("input"))
    instructions = _instructions(line.value) or _instructions(line.request)
    if turns and instructions:
        turns = [{"role": "system", "content": instructions}, *turns]
    answered = _answers(line.response) if turns or not isinstance(line.response, str) else []
    if not turns and answered:
        texts = (line.value.get("input"), *map(_prompt, (line.value, line.request)))
        turns = [{"role": "user", "content": text} for text in texts if isinstance(text, str) and text][:1]
    if not turns and not answered:
        return None
    more = {key: inner for key, inner in line.more.items() if not (key == "system" and turns and instructions)}
    return line.call(turns + answered, more=more)


def _prompt(request: Mapping[str, Any]) -> Any:
    """The text of a request to the older completions; of several the first, whose reply is read."""
    prompt = request.get("prompt")
    return prompt[0] if isinstance(prompt, list) and prompt else prompt


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
        return [{"role": "assistant", "content": response}]
    if isinstance(response, list):
        return turns_of(response) or [
            turn for inner in response if isinstance(inner, Mapping) for turn in _answers(inner)
        ]
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
    text = choice.get("text")
    turns = turns_of(message) or ([{"role": "assistant", "content": text}] if isinstance(text, str) else [])
    if len(turns) == 1:  # such as `reasoning_content` and `annotations`
        turns[0] |= {key: inner for key, inner in message.items() if key not in turns[0] and inner is not None}
    if turns and choice.get("finish_reason"):
        turns[-1]["finish_reason"] = choice["finish_reason"]
    return turns


# --- Responses


def _of_responses(line: _Line) -> LoggedCall | None:
    """The request and response of a line; None without a sign of the Responses API.

    A line with only a text under `input` or `output` is not one: embeddings, moderation and evaluations have them too.
    """
    request = line.request
    response = as_object(line.response) or ({"output": line.response} if isinstance(line.response, list) else {})
    sent, output = request.get("input"), response.get("output")
    answered = response.get("object") == "response" or (_is_output(output) and bool(turns_of_items(sent)))
    if not (answered or _is_request(line)):
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
    return line.call(
        [*system, *turns_of_items(sent), *reply],
        conversation=conversation,
        usage=usage_of(response),
        name=str(response.get("id") or ""),
        after=str(request.get("previous_response_id") or response.get("previous_response_id") or ""),
    )


def _is_output(output: Any) -> bool:
    items = [item for item in as_list(output) if as_object(item).get("type") in _ITEMS]
    return any("id" in item or "call_id" in item or "role" in item for item in items)


def _is_request(line: _Line) -> bool:
    """Whether a line is surely a request of the Responses API, by more than its `input`."""
    request = line.request
    if "input" not in request or not turns_of_items(request["input"]):
        return False
    if endpoint := endpoint_of(line.value):
        return endpoint == "responses"
    if "previous_response_id" in request or ("model" in request and isinstance(request.get("instructions"), str)):
        return True
    items = [item for item in as_list(request["input"]) if isinstance(item, Mapping)]
    parts = [as_object(part).get("type") for item in items for part in as_list(item.get("content"))]
    worded = any(role_of(item.get("role")) for item in items)
    kinds = {item.get("type") for item in items if isinstance(item.get("type"), str)}
    return worded and bool(
        kinds & {*_ITEMS, *_RESULTS} - {"reasoning"} or {"input_text", "output_text"} & {*map(str, parts)}
    )


def _is_stream(response: Any) -> bool:
    """Whether a response was logged as the events of its stream, which are no messages."""
    response = as_object(response).get("body", response)
    first = as_object(next(iter(as_list(response)), None))
    begins = first.get("object") == "chat.completion.chunk" or first.get("type") == "message_start"
    is_text = isinstance(response, str) and response.lstrip().startswith(("data:", "event:"))
    return begins or "messageStart" in first or is_text


def _is_left_out(value: Any) -> bool:
    return bool(other_request(value)) or ((is_bare_text(value) or is_failed(value)) and call_of(value) is None)


def _recognised(source: Source) -> bool:
    # The first value that is not left out as something else than a conversation, of the first twenty.
    first = next((value for value in source.beginning if not _is_left_out(value)), None)
    if turn_of(first) is not None:
        return True
    if not isinstance(first, Mapping) or "inputs" in first:
        return False
    line = _Line.of(first)
    if _of_responses(line) is not None:
        return True
    if isinstance(first.get("conversations"), list):
        return any(is_turn(turn) for turn in islice(first["conversations"], 3))
    if isinstance(first.get("messages"), list) and line.response is None:
        return first is not source.beginning[0]  # lines of messages alone are written again as they were
    return _of_completions(line) is not None


FORMAT = Format(
    "requests",
    "requests to chat models with their responses, or one message a line",
    _recognised,
    read,
    sign="a request with messages or `input`, a response with choices, a message or `output`, or the role and the text of "
    "one message",
)
