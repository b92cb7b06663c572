"""Conversations as JSON lines of `messages` with `role` and `content`, as chat models are trained on."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attachments import content_of
from ..files.broken_lines import readable
from ..files.json_files import write_lines
from ..files.json_values import elements
from ..records import Conversation, Part
from .detection import ConversationStream, Format, Source
from .dialogues import BESIDE, DialogueForm, DialogueReading
from .media_marks import parts_at_marks
from .other_requests import OtherRequests
from .spooled import whole
from .tool_messages import tool_turns
from .turn_reading import TurnReading, text_of
from .turns import SYSTEM, TOOLS, worded_content
from .unsupported import BeyondWords

__all__ = ["FORM", "FORMAT", "SYSTEM", "TOOLS", "of_values", "read", "write"]

FORM = DialogueForm(
    kind="messages",
    turns="messages",
    turn=lambda message: {"role": message.role, "content": content_of(message.text, message.parts)},
    system=lambda text: {"role": "system", "content": text},
    tools=tool_turns,
)


_OF_USERS = re.compile(r"(?:user|human|customer)(?![a-z])", re.IGNORECASE)
_OF_ASSISTANTS = re.compile(r"(?:\w+_)?(?:assistant|agent|bot)(?![a-z])", re.IGNORECASE)
"""Names of messages that say whose they are."""


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: id, messages, their images and files, and tool calls.

    Conversations read in this format are restored. Returns a line for each kind of content that the format cannot hold
    and that was therefore left out.
    """
    beyond = BeyondWords(own_key=FORM.kind, tools=True, parts=True)

    def written() -> Iterator[dict[str, Any]]:
        for conversation in conversations:
            beyond.note(conversation)
            yield FORM.written(conversation)

    write_lines(path, written())
    return beyond.lines()


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a file of message lines, or of a JSON list of them.

    Further keys of a line or a message are stored; annotations (`labels`, `satisfaction` and the other `KNOWN_LABELS`
    of `dialogues`) are their labels too. Other names of the roles are read too (`turns.SPEAKERS`).

    If a content has several parts, their texts are joined. Images, recordings and files are the message's `parts`, as
    are those that the line lists and the text marks (`media_marks`).

    Calls and results of tools (`tool`, `function`, blocks of Anthropic and Bedrock) belong to the message that made
    them, else to the assistant's next one. Calls and results that no message follows are stored as asides with their
    positions. Such calls that no message of the assistant made are a turn without a message too. Instructions are
    asides as well: `system`, `developer`, or a text or parts at the line's key `system`.

    DataError for any other role, and for a message without a text.
    """
    return of_values(path, elements(path))


def one_by_one(path: str | Path) -> ConversationStream:
    """As `read`, one at a time; lines that are surely requests of another kind, such as embeddings, are left out.

    The generator's result is the notes, which count these.
    """
    others = OtherRequests()
    yield from iterate(path, others.without(elements(path)))
    return others.notes()


def of_values(path: str | Path, values: Iterable[tuple[str, Any]]) -> list[Conversation]:
    """The conversations of objects with `messages`, each with its place in the file; see `read`."""
    return list(iterate(path, values))


def iterate(path: str | Path, values: Iterable[tuple[str, Any]]) -> Iterator[Conversation]:
    """As `of_values`, one at a time."""
    reading = DialogueReading(FORM)
    for line, value in values:
        conversation = None
        with readable(line):
            turns = value.get("messages") if isinstance(value, dict) else None
            if not isinstance(turns, list):
                raise DataError(f"{at(path, line)}: has no list 'messages': write one conversation a line")
            system = text_of(
                value.get("system") or value.get("system_prompt")
            )  # as Anthropic's API takes it; the line keeps its key
            read, marked = TurnReading(FORM), _at_marks(value, turns)
            if system:
                read.asides.append({"at": 0, "system": system, BESIDE: FORM.kind})
            for position, turn in enumerate(turns):
                plain = {**turn, "content": worded_content(turn)} if isinstance(turn, dict) else None
                if plain is None or not read.read(position, turn, plain, marked[position]):
                    raise DataError(
                        f"{at(path, line, f'message {position}')}: "
                        "needs a 'role' (user, assistant, system or tool) and a text as 'content'"
                    )
            if contrary := _contrary_names(turns):
                raise DataError(
                    f"{at(path, line)}: the roles contradict the names ({contrary}), as in a chat that one agent keeps: "
                    "swap the roles user and assistant, or remove the names"
                )
            read.end()
            conversation = reading.conversation(value, read.messages, read.asides, read.unsaid)
        if conversation is not None:
            yield conversation


def _contrary_names(turns: Sequence[Any]) -> str:
    """A user's name for which the role is assistant, and an assistant's for which it is user; empty without both."""
    named = [(turn.get("role"), turn["name"]) for turn in turns if isinstance(turn.get("name"), str)]
    users = next((name for role, name in named if role == "assistant" and _OF_USERS.match(name)), "")
    assistants = next((name for role, name in named if role == "user" and _OF_ASSISTANTS.match(name)), "")
    return f"{users}: assistant, {assistants}: user" if users and assistants else ""


def _recognised(source: Source) -> bool:
    return isinstance(source.first, dict) and FORM.turns in source.first


FORMAT = Format(
    FORM.kind,
    "JSON lines of messages",
    _recognised,
    whole(one_by_one),
    write,
    sign="a list under `messages`",
    one_by_one=one_by_one,
)


def _at_marks(line: Mapping[str, Any], turns: Sequence[Any]) -> list[tuple[Part, ...]]:
    """The images and the like of each turn that the line lists and the turn's text marks."""
    contents = [turn.get("content") if isinstance(turn, dict) else None for turn in turns]
    return parts_at_marks(line, [content if isinstance(content, str) else "" for content in contents])[0]
