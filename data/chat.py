"""Conversations as JSON lines of `messages` with `role` and `content`, as chat models are trained on."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from .errors import DataError, at
from .identity import conversation_id, digest
from .jsonfiles import read_lines, write_lines
from .losses import beyond_words
from .records import Conversation, Json, Message

KIND = "messages"
"""`kind` of a scenario of which nothing is known but its conversation."""

SYSTEM = ("system", "developer")
"""Roles of messages that neither side says."""


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """One conversation a line: its id and what both sides said.

    Gives a line for each kind of thing that the format cannot hold and that was therefore left out.
    """
    given = list(conversations)
    write_lines(path, (to_object(conversation) for conversation in given))
    return beyond_words(given)


def to_object(conversation: Conversation) -> dict[str, Any]:
    """The conversation as one line."""
    messages = [{"role": message.role, "content": message.text} for message in conversation.messages if message.stored]
    for position, message in instructions(conversation, "message"):
        messages.insert(position, message)
    return {"id": conversation.id, "messages": messages}


def read(path: str | Path) -> list[Conversation]:
    """The conversations of such a file; further keys of a line or a message are kept as `extra`.

    What a system message instructs is said by neither side: it is kept in `extra["system"]` with its place.
    """
    conversations = []
    seen: dict[str, int] = {}
    for number, value in read_lines(path):
        place = f"line {number}"
        given = value.get("messages") if isinstance(value, dict) else None
        if not isinstance(given, list):
            raise DataError(f"{at(path, place)}: has no list 'messages': write one conversation a line")
        messages, system = [], []
        for position, message in enumerate(given):
            role = message.get("role") if isinstance(message, dict) else None
            if role not in ("user", "assistant", *SYSTEM) or not isinstance(message.get("content"), str):
                raise DataError(
                    f"{at(path, place, f'message {position}')}: "
                    "needs a 'role' (user, assistant or system) and a text as 'content'"
                )
            if role in SYSTEM:
                system.append({"at": position, "message": message})
                continue
            extra = {key: message[key] for key in message if key not in ("role", "content")}
            messages.append(Message(role=role, text=message["content"], extra=extra))
        name = value.get("id") if isinstance(value.get("id"), str) else None
        scenario: Json = {"kind": KIND, "digest": digest(value)}
        further = {key: value[key] for key in value if key != "messages" and (key != "id" or not name)}
        if system and "system" in further:  # a line's own key of this name is kept among them
            system.append({"value": further["system"]})
        ordinal = seen[digest(value)] = seen.get(digest(value), -1) + 1
        conversations.append(
            Conversation(
                id=name or conversation_id(KIND, scenario, ordinal),
                scenario=scenario,
                ordinal=ordinal,
                messages=tuple(messages),
                extra=further | ({"system": system} if system else {}),
            )
        )
    return conversations


def instructions(conversation: Conversation, form: Literal["message", "turn"]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Place and system message of each that a source had, as `message` of this format or as `turn` of ShareGPT."""
    given = conversation.extra.get("system")
    for entry in given if isinstance(given, list) else []:
        if not isinstance(entry, dict) or not isinstance(place := entry.get("at"), int):
            continue
        if isinstance(own := entry.get(form), dict):
            yield place, own
        elif isinstance(turn := entry.get("turn"), dict):
            yield place, {"role": "system", "content": turn.get("value")}
        elif isinstance(message := entry.get("message"), dict):
            yield place, {"from": "system", "value": message.get("content")}
