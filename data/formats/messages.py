"""Conversations as JSON lines of `messages` with `role` and `content`, as chat models are trained on."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attachments import content_of, part_of
from ..files.broken_lines import readable
from ..files.json_files import dumps, write_lines
from ..files.json_values import elements
from ..records import Conversation, Message, Part, ToolCall, is_object
from .detection import ConversationStream, Format, Source
from .dialogues import BESIDE, DialogueForm, DialogueReading, TurnReading
from .other_requests import OtherRequests
from .turns import function_call, text_of, worded_content
from .unsupported import BeyondWords

__all__ = ["FORM", "FORMAT", "iterate", "of_values", "read", "tool_turns", "write"]

_OF_USERS = re.compile(r"(?:user|human|customer)(?![a-z])", re.IGNORECASE)
_OF_ASSISTANTS = re.compile(r"(?:\w+_)?(?:assistant|agent|bot)(?![a-z])", re.IGNORECASE)
"""Names of messages that say whose they are."""
_MARKED = {"image": ("images", "image"), "video": ("videos", "video"), "audio": ("audios", "audio")}
"""Marks such as `<image>` in texts, each with the keys of a row that lists what is there."""


def tool_turns(message: Message, first: int) -> list[dict[str, Any]]:
    """The tool calls of an assistant's message: one turn with all calls, then one for each result.

    None for a user: the form has no tool calls of users. An error is written as the result. `first`: the number of the
    first call.
    """
    calls = [(f"call_{number}", call) for number, call in enumerate(message.tool_calls, start=first)]
    if not calls or message.role != "assistant":
        return []
    functions = [function_call(call.name, call.arguments, name) for name, call in calls]
    results = [{"role": "tool", "tool_call_id": name, "content": _content(call)} for name, call in calls]
    return [{"role": message.role, "content": None, "tool_calls": functions}, *results]


def _content(call: ToolCall) -> Any:
    if call.error is not None:
        return call.error
    if call.parts and call.result is None:
        return content_of("", call.parts)
    return content_of(call.result if isinstance(call.result, str) else dumps(call.result), call.parts)


FORM = DialogueForm(
    kind="messages",
    turns="messages",
    turn=lambda message: {"role": message.role, "content": content_of(message.text, message.parts)},
    system=lambda text: {"role": "system", "content": text},
    tools=tool_turns,
)


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: id, messages, their images and files, and tool calls.

    Conversations read in this format are restored. Returns a line for each kind of content that the format cannot hold
    and that was therefore left out.
    """
    beyond = BeyondWords(own_key=FORM.kind, tools=True, parts=True)
    write_lines(path, (FORM.written(conversation) for conversation in beyond.noted(conversations)))
    return beyond.lines()


def read(path: str | Path) -> ConversationStream:
    """The conversations of a file of message lines, or of a JSON list of them, one at a time.

    Further keys of a line or a message are stored; annotations (`labels`, `satisfaction` and the other `KNOWN_LABELS`
    of `dialogues`) are their labels too. Other names of the roles are read too (`turns.SPEAKERS`).

    If a content has several parts, their texts are joined. Images, recordings and files are the message's `parts`, as
    are those that the line lists and the text marks (`parts_at_marks`).

    Calls and results of tools (`tool`, `function`, blocks of Anthropic and Bedrock) belong to the message that made
    them, else to the assistant's next one. Calls and results that no message follows are stored as asides with their
    positions. Such calls that no message of the assistant made are a turn without a message too. Instructions are
    asides as well: `system`, `developer`, or a text or parts at the line's key `system`.

    DataError for any other role, and for a message without a text. Lines that are surely requests of another kind, such
    as embeddings, are left out; the generator's result is the notes, which count these.
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
            conversation = reading.conversation(value, _turns(path, line, value))
        if conversation is not None:
            yield conversation


def _turns(path: str | Path, line: str, value: Any) -> TurnReading:
    turns = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(turns, list):
        raise DataError(f"{at(path, line)}: has no list 'messages': write one conversation a line")
    read, contents = TurnReading(FORM), [turn.get("content") if isinstance(turn, dict) else None for turn in turns]
    marked, _ = parts_at_marks(value, [content if isinstance(content, str) else "" for content in contents])
    # As Anthropic's API takes it; the line keeps its key.
    if system := text_of(value.get("system") or value.get("system_prompt")):
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
    return read


def _contrary_names(turns: Sequence[Any]) -> str:
    """A user's name for which the role is assistant, and an assistant's for which it is user; empty without both."""
    named = [(turn.get("role"), turn["name"]) for turn in turns if isinstance(turn.get("name"), str)]
    users = next((name for role, name in named if role == "assistant" and _OF_USERS.match(name)), "")
    assistants = next((name for role, name in named if role == "user" and _OF_ASSISTANTS.match(name)), "")
    return f"{users}: assistant, {assistants}: user" if users and assistants else ""


def parts_at_marks(row: Mapping[str, Any], texts: Sequence[str]) -> tuple[list[tuple[Part, ...]], set[str]]:
    """The images, recordings and videos of each text that the row lists apart, and the keys of the row that have them.

    `images`, `videos` and `audios` beside `<image>`, `<video>` and `<audio>` in the texts, as data sets of LLaMA-Factory
    and ms-swift have them; also a single `image`, as LLaVA's has. A list whose entries are not as many as the marks has
    none.
    """
    parts: list[list[Part]] = [[] for _ in texts]
    keys: set[str] = set()
    for kind, names in _MARKED.items():
        for key in names:
            mark, listed = f"<{kind}>", row.get(key)
            listed = listed if isinstance(listed, list) else [listed] if isinstance(listed, str) and listed else []
            found = [part for entry in listed if (part := _marked_part(kind, entry)) is not None]
            fits = len(found) == len(listed) == sum(text.count(mark) for text in texts)
            if found and fits and not keys & {*names}:
                keys.add(key)
                left = iter(found)
                for text, own in zip(texts, parts, strict=True):
                    own += [next(left) for _ in range(text.count(mark))]
    return [tuple(own) for own in parts], keys


def _marked_part(kind: str, entry: Any) -> Part | None:
    """A path, an address or inline content; or an object of `bytes` (also in base64) and `path`, as `datasets` has."""
    if isinstance(entry, str):
        return part_of({"type": kind, "url": entry}) if entry else None
    if not is_object(entry):
        return None
    content, name = entry.get("bytes"), entry.get("path") or entry.get("url")
    if isinstance(content, bytes | str):
        block = {"type": kind, "data": content if isinstance(content, str) else base64.b64encode(content).decode()}
        return part_of(block | ({"name": name} if isinstance(name, str) else {}))
    return part_of({"type": kind, "url": name}) if content is None and isinstance(name, str) else None


def _recognised(source: Source) -> bool:
    return isinstance(source.first, dict) and FORM.turns in source.first


FORMAT = Format(FORM.kind, "JSON lines of messages", _recognised, read, write, sign="a list under `messages`")
