"""Messages of AutoGen's agents and teams, as `TaskResult` holds them: `source` is who wrote, `type` is what it is."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..attempts import as_list, as_object, is_object
from ..files.broken_lines import of_form
from ..files.json_files import dumps
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Contents, Format
from ..formats.turns import role_of

_WORDS = ("TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "ToolCallSummaryMessage")
_CALLS, _RESULTS = "ToolCallRequestEvent", "ToolCallExecutionEvent"


def read(path: str | Path) -> Contents:
    """A conversation for each result of a task; messages by themselves are one.

    A note counts the events that are no messages, such as thoughts.
    """
    values: list[tuple[str, dict[str, Any]]] = []
    single: list[Mapping[str, Any]] = []
    listed: list[Mapping[str, Any]] = []
    for place, value in of_form(elements(path), _is_own, path, "is not a message or result of AutoGen: take it out"):
        if _is_message(value):
            single.append(value)
            continue
        own = [message for message in value["messages"] if is_object(message)]
        listed += own
        values.append((place, {**value, "messages": list(_turns(own))}))
    if single:
        values.append(("its messages", {"messages": list(_turns(single))}))
    left = sum(message.get("type") not in (*_WORDS, _CALLS, _RESULTS) for message in (*listed, *single))
    notes = (f"{left} event{'s' * (left > 1)} left out, no message",) if left else ()
    return Contents(tuple(messages.of_values(path, values)), notes)


def _is_message(value: Any) -> bool:
    message = as_object(value)
    kind = str(message.get("type"))
    return isinstance(message.get("source"), str) and "content" in message and kind.endswith(("Message", "Event"))


def _is_own(value: Any) -> bool:
    listed = as_object(value).get("messages")
    return _is_message(value) or (isinstance(listed, list) and bool(listed) and all(map(_is_message, listed)))


def _turns(listed: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The messages as turns of OpenAI's form; whoever is not the user by name is an assistant."""
    for message in listed:
        kind, content = message.get("type"), message["content"]
        if kind == _RESULTS:
            for result in map(as_object, as_list(content)):
                failed = {"status": "error"} if result.get("is_error") is True else {}
                yield {
                    "role": "tool",
                    "tool_call_id": result.get("call_id"),
                    "content": result.get("content"),
                    **failed,
                }
        elif kind == _CALLS:
            calls = [
                {"id": call.get("id"), "type": "function", "function": _function(call)}
                for call in map(as_object, as_list(content))
            ]
            yield {"role": "assistant", "name": message["source"], "content": None, "tool_calls": calls}
        elif kind in _WORDS:
            stamp = {"created_at": message["created_at"]} if message.get("created_at") else {}
            yield {"role": _role(message["source"]), "name": message["source"], "content": _content(content), **stamp}


def _role(source: str) -> str:
    return "user" if role_of(source.partition("_")[0]) == "user" else "assistant"


def _function(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    return {"name": call.get("name"), "arguments": arguments if isinstance(arguments, str) else dumps(arguments or {})}


def _content(content: Any) -> Any:
    """A text, or the texts and images of a message of several."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else dumps(content)
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{as_object(part).get('data')}"}}
        for part in content
    ]


FORMAT = Format(
    "autogen",
    "messages of AutoGen's agents and teams",
    lambda source: _is_own(source.first),
    read,
    sign="messages with a `source` and a `type` such as `TextMessage`",
)
