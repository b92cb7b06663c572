"""Session traces of the Hugging Face Hub (STS-Format): a file of JSON lines for each session.

The first line is the head, which has `type: session`, `harness`, `id` and a `name`. Each further line has `type: message` and a `message` with
`role`, `content`, `toolCalls` or `toolCallId`. Source: https://huggingface.co/docs/hub/session-traces-format.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attempts import as_list, as_object
from ..domain import shortened
from ..files.json_files import write_lines
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import ConversationStream, Format
from ..formats.provider_messages import turns_of_talk
from ..formats.spooled import whole
from ..formats.turn_reading import text_of
from ..formats.unsupported import BeyondWords
from ..identity import digest
from ..records import Conversation

HARNESS = "duologue"
_NAMES = {"tool_calls": "toolCalls", "tool_call_id": "toolCallId", "reasoning_content": "reasoningContent"}
"""Keys of a turn in OpenAI's form, with those of a message here."""
_ODD = re.compile(r"[^\w.-]+|^\.+")


def one_by_one(path: str | Path) -> ConversationStream:
    """The conversation of each session of a file; DataError for a line of another kind."""
    yield from messages.iterate(path, _sessions(path))
    return ()


def _sessions(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    session: tuple[str, dict[str, Any]] | None = None
    for place, value in elements(path):
        line = as_object(value)
        if line.get("type") == "session":
            if session is not None:
                yield session
            more = {key: inner for key, inner in line.items() if key not in ("type", "name")}
            title = {"title": line["name"]} if isinstance(line.get("name"), str) else {}
            session = place, {**more, **title, "messages": []}
        elif session is not None and line.get("type") == "message" and as_object(line.get("message")):
            session[1]["messages"].append(_turn(line["message"]))
        else:
            raise DataError(f"{at(path, place)}: is not a message of a session: give it the type 'message'")
    if session is not None:
        yield session


def _turn(message: Mapping[str, Any]) -> dict[str, Any]:
    """The turn in OpenAI's form; a message that only calls tools has no words."""
    names = {key: own for own, key in _NAMES.items()}
    turn = {names.get(key, key): value for key, value in message.items()}
    return turn | ({"content": None} if as_list(turn.get("tool_calls")) and not turn.get("content") else {})


def write(conversations: Iterable[Conversation], folder: str | Path) -> list[str]:
    """Write a file for each conversation into the folder, named after its id.

    Returns a line for each kind of content that the format cannot hold and that was therefore left out.
    """
    beyond = BeyondWords("sessions", tools=True)
    for conversation in conversations:
        beyond.note(conversation)
        write_lines(Path(folder) / f"{_file_name(conversation.id)}.jsonl", _lines(conversation))
    return beyond.lines()


def _file_name(name: str) -> str:
    """The id, with a digest behind it where it cannot name a file everywhere."""
    safe = _ODD.sub("_", name)[:80]
    return safe if safe == name else f"{safe}-{digest(name)[:12]}"


def _lines(conversation: Conversation) -> Iterator[dict[str, Any]]:
    title = next((conversation.scenario[key] for key in ("title", "goal") if conversation.scenario.get(key)), None)
    name = {"name": shortened(" ".join(title.split()))} if isinstance(title, str) else {}
    yield {"type": "session", "harness": HARNESS, "id": conversation.id, **name}
    for turn in turns_of_talk(conversation, "sessions"):
        content = text_of(turn["content"]) or (
            "null" if isinstance(turn["content"], list) and turn["role"] == "tool" else ""
        )
        message = {_NAMES.get(key, key): value for key, value in turn.items() if key not in ("content", "status")}
        yield {"type": "message", "message": {"role": message.pop("role"), "content": content, **message}}


FORMAT = Format(
    "sessions",
    "session traces of the Hugging Face Hub (STS-Format)",
    lambda source: as_object(source.first).keys() >= {"type", "harness", "id"} and source.first["type"] == "session",
    whole(one_by_one),
    write,
    sign="a first line of `type: session` with a `harness`",
    one_by_one=one_by_one,
)
