"""Logs of chat completions: requests with their responses, batch files, preference pairs, and messages one a line.

Shapes: the request and response of OpenAI's Chat Completions API (`messages`, `choices`, `usage`), stored together in a
line or as `request` and `response`; input and output lines of its Batch API (`custom_id`, `body`, `response.body`); its
lines for preference fine-tuning (`input`, `preferred_output`); lists under `conversation` or `conversations` with `role`
and `content`, as data sets of chats have them; single messages with `role`, `content` and the id of their conversation.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attempts import as_object
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Format, Source
from ..formats.turns import role_of, turns_of
from ..records import Conversation
from .calls import LoggedCall, together, with_conversations

IDS = ("conversation_id", "thread_id", "session_id", "chat_id", "dialog_id", "dialogue_id")
"""Keys that name the conversation of a line."""

_LISTS = ("messages", "conversation", "conversations", "turns")
_OF_RESPONSE = ("response", "completion", "output", "preferred_output")
_OF_REQUEST = ("request", "body", "input")


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a log of chat completions, or of messages one a line; DataError for a line without any."""
    calls, single = [], []
    for place, value in elements(path):
        if is_turn(value):
            single.append(value)
        elif isinstance(value, Mapping) and (call := _call(value)) is not None:
            calls.append(call)
        else:
            raise DataError(f"{at(path, place)}: has no messages: give 'messages' of role and content, or a response")
    return _numbered(path, [*together(calls), *_by_id(single)])


def of_calls(path: str | Path, calls: Iterable[LoggedCall | None], nothing: str) -> list[Conversation]:
    """The conversations of traced calls; DataError with the line `nothing` if none of them holds messages."""
    with_turns = [call for call in calls if call is not None and call.turns]
    if not with_turns:
        raise DataError(f"{at(path)}: {nothing}")
    return _numbered(path, together(with_conversations(with_turns)))


def _numbered(path: str | Path, values: Iterable[dict[str, Any]]) -> list[Conversation]:
    placed = ((f"conversation {number}", value) for number, value in enumerate(values, start=1))
    return messages.of_values(path, placed)


def is_turn(value: Any) -> bool:
    """Whether a value is a single message."""
    return (
        isinstance(value, Mapping)
        and role_of(value.get("role")) is not None
        and ("content" in value or "tool_calls" in value)
        and not any(isinstance(value.get(key), list) for key in _LISTS)
    )


def _by_id(turns: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The conversations of single messages: by the id that they name, else all together."""
    by_id: dict[str, dict[str, Any]] = {}
    for turn in turns:
        name = identifier(turn)
        value = by_id.setdefault(name, {"id": name, "messages": []} if name else {"messages": []})
        value["messages"].append({key: inner for key, inner in turn.items() if key not in IDS})
    return list(by_id.values())


def _call(value: Mapping[str, Any]) -> LoggedCall | None:
    """The request and the response of a line; None if it has neither."""
    request = next((inner for key in _OF_REQUEST if isinstance(inner := value.get(key), Mapping)), {})
    request = request["body"] if isinstance(request.get("body"), Mapping) else request
    turns = _messages(value) or _messages(request) or _plain(value.get("input"))
    instructions = _instructions(value) or _instructions(request)
    if turns and instructions:
        turns = [{"role": "system", "content": instructions}, *turns]
    response = value if "choices" in value else next((value[key] for key in _OF_RESPONSE if value.get(key)), None)
    if isinstance(response, Mapping) and isinstance(response.get("body"), Mapping):
        response = response["body"]
    answered = _answers(response)
    if not turns and not answered:
        return None
    used = usage_of(as_object(response))
    taken = {
        *(["system"] if turns and instructions else []),
        *_LISTS,
        *_OF_REQUEST,
        *_OF_RESPONSE,
        "choices",
        "usage",
        "object",
        *IDS,
    }
    more = {key: inner for key, inner in value.items() if key not in taken}
    if model := as_object(response).get("model") or as_object(request).get("model"):
        more["model"] = model
    name = identifier(value) or identifier(request)
    if not name and response is not value and not answered_here(value) and isinstance(value.get("id"), str):
        name = value["id"]
    return LoggedCall(
        turns + answered, conversation=name or str(value.get("custom_id") or ""), begun="", usage=used, more=more
    )


def _instructions(holder: Mapping[str, Any]) -> str:
    """The text under `system`, where Anthropic's and Bedrock's APIs take it; empty without one."""
    system = holder.get("system")
    blocks = [{"text": system}] if isinstance(system, str) else system if isinstance(system, list) else []
    texts = [as_object(block).get("text") for block in blocks]
    return "".join(text for text in texts if isinstance(text, str))


def answered_here(value: Mapping[str, Any]) -> bool:
    """Whether the line has a response, whose own id names the call and not the conversation."""
    return any(value.get(key) for key in (*_OF_RESPONSE, "choices"))


def identifier(value: Mapping[str, Any]) -> str:
    """The id of the conversation that a line, its metadata or its request names; empty without one."""
    for holder in (value, as_object(value.get("metadata"))):
        for key in IDS:
            if isinstance(name := holder.get(key), str | int) and not isinstance(name, bool) and str(name):
                return str(name)
    return ""


def usage_of(holder: Mapping[str, Any]) -> dict[str, int]:
    """The tokens that a response reports, in the names of Chat Completions, Responses or LangChain."""
    usage = next((inner for key in ("usage", "usage_metadata") if isinstance(inner := holder.get(key), Mapping)), {})
    names = {"input_tokens": ("prompt_tokens", "input_tokens"), "output_tokens": ("completion_tokens", "output_tokens")}
    counts = {
        name: next((int(usage[key]) for key in keys if isinstance(usage.get(key), int | float)), None)
        for name, keys in names.items()
    }
    return {name: count for name, count in counts.items() if count is not None}


def _messages(holder: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed: list[Any] = next((holder[key] for key in _LISTS if isinstance(holder.get(key), list)), [])
    return [dict(turn) if is_turn(turn) else inner for turn in listed for inner in (turns_of(turn) or [turn])]


def _plain(value: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": value}] if isinstance(value, str) and value else turns_of(value)


def _answers(response: Any) -> list[dict[str, Any]]:
    """The turns of a response; of several choices the first."""
    if isinstance(response, str):
        return [{"role": "assistant", "content": response}]
    if not isinstance(response, Mapping):
        return turns_of(response)
    choices = response.get("choices")
    if not isinstance(choices, list):
        return turns_of(response) or turns_of(response.get("message") or response.get("messages"))
    choice = choices[0] if choices and isinstance(choices[0], Mapping) else {}
    turns = turns_of(choice.get("message")) or _plain_answer(choice.get("text"))
    if turns and choice.get("finish_reason"):
        turns[-1]["finish_reason"] = choice["finish_reason"]
    return turns


def _plain_answer(text: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}] if isinstance(text, str) else []


def _recognised(source: Source) -> bool:
    first = source.first
    if is_turn(first):
        return True
    if not isinstance(first, Mapping) or "inputs" in first:
        return False
    if isinstance(first.get("conversations"), list):
        turns = islice(first["conversations"], 3)
        return any(is_turn(turn) for turn in turns)
    if isinstance(first.get("messages"), list) and not answered_here(first):
        return False  # lines of messages, which are written again as they were
    return _call(first) is not None


FORMAT = Format(
    "completions",
    "requests of chat models with their responses, or one message a line",
    _recognised,
    read,
    sign="a request with messages, a response with choices or a message, or `role` and `content` of one message",
)
