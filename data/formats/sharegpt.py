"""ShareGPT files: a JSON list, or JSON lines, of `conversations` with `from` and `value`, for fine-tuning tools."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files import json_stream
from ..files.json_files import write_lines
from ..files.json_values import elements
from ..records import Conversation, Message, Role
from .detection import Format, Source
from .dialogues import DialogueForm, DialogueReading
from .media_marks import parts_at_marks
from .turns import SPEAKERS
from .unsupported import BeyondWords

ROLES: Mapping[str, Role] = {name: role for name, role in SPEAKERS.items() if not name.endswith(("message", "chunk"))}
SYSTEM = "system"
TOOLS = ("function_call", "observation", "tool")
_NAMES: Mapping[Role, str] = {"user": "human", "assistant": "gpt"}

FORM = DialogueForm(
    kind="sharegpt",
    turns="conversations",
    turn=lambda message: {"from": _NAMES[message.role], "value": message.text},
    system=lambda text: {"from": SYSTEM, "value": text},
)


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write JSON lines if the name ends with `.jsonl`, else a list.

    Conversations read in this format are restored. Returns a line for each kind of content that the format cannot hold
    and that was therefore left out.
    """
    beyond = BeyondWords(own_key=FORM.kind)

    def written() -> Iterator[dict[str, Any]]:
        for conversation in conversations:
            beyond.note(conversation)
            yield FORM.written(conversation)

    write = write_lines if Path(path).suffix == ".jsonl" else json_stream.write_array
    write(path, written())
    return beyond.lines()


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a ShareGPT file.

    Further keys are stored; annotations are labels too, as in messages. Turns of `system` and of tools
    (`function_call`, `observation`, `tool`) are not messages: they are kept as asides with their positions. `images`,
    `videos` and `audios` are parts of the messages with their marks (`media_marks`). DataError for any other speaker.
    """
    reading, conversations = DialogueReading(FORM), []
    for element, value in elements(path):
        turns = value.get("conversations") if isinstance(value, dict) else None
        if not isinstance(turns, list):
            raise DataError(f"{at(path, element)}: has no list 'conversations': is this a ShareGPT file?")
        messages: list[Message] = []
        asides: list[dict[str, Any]] = []
        for position, turn in enumerate(turns):
            speaker = turn.get("from") if isinstance(turn, dict) else None
            if speaker not in (*ROLES, SYSTEM, *TOOLS) or not isinstance(turn.get("value"), str):
                raise DataError(
                    f"{at(path, element, f'turn {position}')}: "
                    "needs 'from' (human, gpt, system or a tool) and a text as 'value'"
                )
            if speaker in ROLES:
                messages.append(FORM.message(Message(role=ROLES[speaker], text=turn["value"]), turn))
            else:
                asides.append(FORM.aside(position, turn, turn["value"] if speaker == SYSTEM else None))
        parts, _ = parts_at_marks(value, [message.text for message in messages])
        messages = [
            message.model_copy(update={"parts": own}) if own else message
            for message, own in zip(messages, parts, strict=True)
        ]
        conversations.append(reading.conversation(value, messages, asides))
    return conversations


def _recognised(source: Source) -> bool:
    values = source.value if isinstance(source.value, list) else [source.value]
    return bool(values) and all(isinstance(value, dict) and FORM.turns in value for value in values)


FORMAT = Format(FORM.kind, "ShareGPT JSON", _recognised, read, write, sign="`conversations` of `from` and `value`")
