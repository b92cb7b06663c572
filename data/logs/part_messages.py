"""Messages whose words stand in parts: of Vercel's AI SDK, of LLaMA Factory, and of OpenTelemetry by themselves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..attempts import as_object
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Format, Source
from ..formats.message_parts import in_parts, with_ids
from ..formats.turns import role_of, turns_of
from ..records import Conversation


def read(path: str | Path) -> list[Conversation]:
    """A conversation for each object with such `messages`; single messages together are one."""
    return messages.of_values(path, list(_values(path)))


def _values(path: str | Path) -> Iterator[tuple[str, Any]]:
    single: list[dict[str, Any]] = []
    for place, value in elements(path):
        if role_of(as_object(value).get("role")) is not None and (turns := turns_of(value)):
            single += turns
        elif isinstance(listed := as_object(value).get("messages"), list):
            turns = [turn for message in listed for turn in turns_of(message) or [message]]
            yield place, {**as_object(value), "messages": with_ids(turns)}
        else:
            yield place, value
    if single:
        yield "its messages", {"messages": with_ids(single)}


def _is_message(value: Any) -> bool:
    message = as_object(value)
    parted = isinstance(message.get("parts"), list) or in_parts(message.get("content"))
    return parted and role_of(message.get("role")) is not None


def _recognised(source: Source) -> bool:
    listed = as_object(source.first).get("messages")
    return _is_message(source.first) or (isinstance(listed, list) and any(map(_is_message, listed[:3])))


FORMAT = Format(
    "parts",
    "messages in parts (AI SDK, OpenTelemetry, LLaMA Factory)",
    _recognised,
    read,
    sign="messages of `role` and `parts`, or with a `content` of `type` and `value`",
)
