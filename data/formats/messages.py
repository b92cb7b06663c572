"""Conversations as JSON lines of `messages` with `role` and `content`, as chat models are trained on."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ...errors import DataError, at
from ..records import Conversation, Message
from .detection import Format, Source
from .dialogues import Form, Reading
from .elements import elements
from .jsonfiles import dumps, write_lines
from .turns import SPEAKERS, SYSTEM, TOOLS, role_of
from .unsupported import BeyondWords

__all__ = ["FORM", "FORMAT", "SYSTEM", "TOOLS", "of_values", "read", "write"]


def _tool_turns(message: Message, first: int) -> list[dict[str, Any]]:
    """The tool calls of an assistant's message in OpenAI's form: one turn with all calls, then one for each result.

    None for a user: the form has no tool calls of users. An error is written as the result.
    """
    calls = [(f"call_{number}", call) for number, call in enumerate(message.tool_calls, start=first)]
    if not calls or message.role != "assistant":
        return []
    functions = [
        {"id": name, "type": "function", "function": {"name": call.name, "arguments": dumps(call.arguments)}}
        for name, call in calls
    ]
    results = [
        {
            "role": "tool",
            "tool_call_id": name,
            "content": call.error if call.error is not None else _content(call.result),
        }
        for name, call in calls
    ]
    return [{"role": message.role, "content": None, "tool_calls": functions}, *results]


def _content(result: JsonValue) -> str:
    return result if isinstance(result, str) else dumps(result)


FORM = Form(
    kind="messages",
    turns="messages",
    turn=lambda message: {"role": message.role, "content": message.text},
    system=lambda text: {"role": "system", "content": text},
    tools=_tool_turns,
)


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: id, messages and tool calls. Conversations read in this format are restored.

    Returns a line for each kind of content that the format cannot hold and that was therefore left out.
    """
    beyond = BeyondWords(kept=FORM.kind, tools=True)

    def written() -> Iterator[dict[str, Any]]:
        for conversation in conversations:
            beyond.note(conversation)
            yield FORM.written(conversation)

    write_lines(path, written())
    return beyond.lines()


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a file of message lines, or of a JSON list of them. Further keys of a line or a message are kept; annotations
    (`labels`, `satisfaction` and the other `KNOWN_LABELS` of `dialogues`) are their labels too.

    If a content has several parts, their texts are joined. Instructions (`system`, `developer`), results of tools
    (`tool`, `function`) and an assistant's tool calls without text are no messages: they are kept as asides with their
    positions. Other names of the sides are read too (`turns.SPEAKERS`). DataError for any other role, and for a message
    without a text.
    """
    return of_values(path, elements(path))


def of_values(path: str | Path, values: Iterable[tuple[str, Any]]) -> list[Conversation]:
    """The conversations of objects with `messages`, each with its place in the file; see `read`."""
    reading, conversations = Reading(FORM), []
    for line, value in values:
        turns = value.get("messages") if isinstance(value, dict) else None
        if not isinstance(turns, list):
            raise DataError(f"{at(path, line)}: has no list 'messages': write one conversation a line")
        messages, asides = [], []
        for position, turn in enumerate(turns):
            role = role_of(turn.get("role")) if isinstance(turn, dict) else None
            text = _text(turn.get("content")) if isinstance(turn, dict) else None
            if role in TOOLS or (role == "assistant" and not text and _calls(turn)):
                asides.append(FORM.aside(position, turn))
            elif role in SYSTEM and text is not None:
                asides.append(FORM.aside(position, turn, text))
            elif role in ("user", "assistant") and text is not None:
                messages.append(FORM.message(Message(role=SPEAKERS[role], text=text), turn))
            else:
                raise DataError(
                    f"{at(path, line, f'message {position}')}: "
                    "needs a 'role' (user, assistant, system or tool) and a text as 'content'"
                )
        conversations.append(reading.conversation(value, messages, asides))
    return conversations


def _recognised(source: Source) -> bool:
    value = source.value
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and FORM.turns in first


FORMAT = Format(FORM.kind, "JSON lines of messages", _recognised, read, write)


def _text(content: Any) -> str | None:
    """The text of a content, which may have several parts (texts, images, files); None if it is no valid content."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [
        part if isinstance(part, str) else part.get("text", "") for part in content if isinstance(part, str | dict)
    ]
    worded = [part for part in content if not isinstance(part, dict) or str(part.get("type", "")).endswith("text")]
    whole = len(texts) == len(content) and all(isinstance(text, str) for text in texts)
    return "".join(texts) if whole and all(isinstance(part, str) or "text" in part for part in worded) else None


def _calls(turn: Mapping[str, Any]) -> bool:
    return bool(turn.get("tool_calls") or turn.get("function_call"))
