"""ShareGPT files: a JSON list, or JSON lines, of `conversations` with `from` and `value`, for fine-tuning tools."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .chat import instructions
from .errors import DataError, at
from .identity import conversation_id, digest
from .jsonfiles import read_json, read_lines, read_text, write_json, write_lines
from .losses import beyond_words
from .patches import difference, patched
from .records import Conversation, Json, Message, Role

KIND = "sharegpt"
"""`kind` of a scenario of which nothing is known but its conversation."""

ROLES: Mapping[str, Role] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
}
SYSTEM = "system"
_NAMES: Mapping[Role, str] = {"user": "human", "assistant": "gpt"}


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """One conversation a line in a file whose name ends with `.jsonl`, else a list; what was read is the same again.

    Gives a line for each kind of thing that the format cannot hold and that was therefore left out.
    """
    given = list(conversations)
    values = [to_object(conversation) for conversation in given]
    if Path(path).suffix == ".jsonl":
        write_lines(path, values)
    else:
        write_json(path, values, end="\n")
    return beyond_words(given, kept=(KIND, SYSTEM))


def to_object(conversation: Conversation) -> dict[str, Any]:
    """The conversation as an element of the list."""
    turns = [_turn(message) for message in conversation.messages if message.stored]
    for at_turn, turn in instructions(conversation, "turn"):
        turns.insert(at_turn, turn)
    derived = {"id": conversation.id, "conversations": turns}
    own = conversation.extra.get(KIND)
    return patched(derived, own) if isinstance(own, dict) else derived


def read(path: str | Path) -> list[Conversation]:
    """The conversations of such a file.

    Turns from `system` are no message: they are kept in `extra["system"]` with their places, and further
    keys as what the format had besides. DataError for a speaker that is neither side.
    """
    conversations = []
    seen: dict[str, int] = {}
    for place, value in _elements(path):
        given = value.get("conversations") if isinstance(value, dict) else None
        if not isinstance(given, list):
            raise DataError(f"{at(path, place)}: has no list 'conversations': is this a ShareGPT file?")
        messages: list[Message] = []
        system: list[dict[str, Any]] = []
        for position, turn in enumerate(given):
            said = turn.get("from") if isinstance(turn, dict) else None
            if said not in (*ROLES, SYSTEM) or not isinstance(turn.get("value"), str):
                raise DataError(
                    f"{at(path, place, f'turn {position}')}: needs 'from' (human, gpt or system) and a text as 'value'"
                )
            if said == SYSTEM:
                system.append({"at": position, "turn": turn})
            else:
                message = Message(role=ROLES[said], text=turn["value"])
                own = difference(turn, _turn(message))
                messages.append(message.model_copy(update={"extra": {KIND: own}}) if own else message)
        name = value["id"] if isinstance(value.get("id"), str) and value["id"] else None
        key = digest(value)
        ordinal = seen[key] = seen.get(key, -1) + 1
        scenario: Json = {"kind": KIND, "digest": key}
        extra: dict[str, Any] = {"system": system} if system else {}
        made = name or conversation_id(KIND, scenario, ordinal)
        patch = difference(value | {"conversations": None}, {"id": made, "conversations": None})
        extra |= {KIND: patch} if patch else {}
        conversations.append(
            Conversation(id=made, scenario=scenario, ordinal=ordinal, messages=tuple(messages), extra=extra)
        )
    return conversations


def _elements(path: str | Path) -> Iterator[tuple[str, Any]]:
    if not read_text(path).lstrip().startswith("["):
        yield from ((f"line {number}", value) for number, value in read_lines(path))
        return
    for number, value in enumerate(read_json(path)):
        yield f"[{number}]", value


def _turn(message: Message) -> dict[str, Any]:
    turn = {"from": _NAMES[message.role], "value": message.text}
    own = message.extra.get(KIND)
    return patched(turn, own) if isinstance(own, dict) else turn
