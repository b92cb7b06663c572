"""ShareGPT files: a JSON list, or JSON lines, of `conversations` with `from` and `value`, for fine-tuning tools."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files import json_stream
from ..files.broken_lines import readable
from ..files.json_files import dumps, write_lines
from ..files.json_values import as_value, elements
from ..records import Conversation, Message, Role
from .detection import ConversationStream, Format, Source
from .dialogues import DialogueForm, DialogueReading
from .media_marks import parts_at_marks
from .turn_reading import TurnReading
from .turns import SPEAKERS
from .unsupported import BeyondWords

ROLES: Mapping[str, Role] = {name: role for name, role in SPEAKERS.items() if not name.endswith(("message", "chunk"))}
SYSTEM = "system"
CALL = "function_call"
RESULTS = ("observation", "tool", "function_response", "tool_response")
TOOLS = (CALL, *RESULTS)
_NAMES: Mapping[Role, str] = {"user": "human", "assistant": "gpt"}


def tool_turns(message: Message, _: int) -> list[dict[str, Any]]:
    """The tool calls of an assistant's message: a turn for each call, followed by one with its result.

    None for a user. An error is written as the result.
    """
    pairs = [
        ({"name": call.name, "arguments": call.arguments}, call.result if call.error is None else call.error)
        for call in (message.tool_calls if message.role == "assistant" else ())
    ]
    return [
        turn
        for call, result in pairs
        for turn in (
            {"from": CALL, "value": dumps(call)},
            {"from": RESULTS[0], "value": result if isinstance(result, str) else dumps(result)},
        )
    ]


FORM = DialogueForm(
    kind="sharegpt",
    turns="conversations",
    turn=lambda message: {"from": _NAMES[message.role], "value": message.text},
    system=lambda text: {"from": SYSTEM, "value": text},
    tools=tool_turns,
)


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write JSON lines if the name ends with `.jsonl`, else a list.

    Conversations read in this format are restored. Returns a line for each kind of content that the format cannot hold
    and that was therefore left out.
    """
    beyond = BeyondWords(own_key=FORM.kind, tools=True)

    def written() -> Iterator[dict[str, Any]]:
        for conversation in conversations:
            beyond.note(conversation)
            yield FORM.written(conversation)

    write = write_lines if Path(path).suffix == ".jsonl" else json_stream.write_array
    write(path, written())
    return beyond.lines()


def one_by_one(path: str | Path) -> ConversationStream:
    """The conversations of a ShareGPT file, one at a time; there are no notes.

    Further keys are stored; annotations are labels too, as in messages. Instructions (`system`), calls (`function_call`)
    and results (`observation`, `tool`) are read as there. `images`, `videos` and `audios` are parts of the messages with
    their marks (`media_marks`). DataError for any other speaker.
    """
    reading = DialogueReading(FORM)
    for element, value in elements(path):
        conversation = None
        with readable(element):
            turns = value.get("conversations") if isinstance(value, dict) else None
            if not isinstance(turns, list):
                raise DataError(f"{at(path, element)}: has no list 'conversations': is this a ShareGPT file?")
            read = TurnReading(FORM)
            for position, turn in enumerate(turns):
                plain = plain_turn(turn) if isinstance(turn, dict) else None
                if plain is None or not read.read(position, turn, plain):
                    raise DataError(
                        f"{at(path, element, f'turn {position}')}: "
                        "needs 'from' (human, gpt, system or a tool) and a text as 'value'"
                    )
            read.end()
            messages = read.messages
            parts, _ = parts_at_marks(value, [message.text for message in messages])
            messages = [
                message.model_copy(update={"parts": own}) if own else message
                for message, own in zip(messages, parts, strict=True)
            ]
            conversation = reading.conversation(value, messages, read.asides, read.unsaid)
        if conversation is not None:
            yield conversation
    return ()


def read(path: str | Path) -> list[Conversation]:
    """As `one_by_one`, all at once."""
    return list(one_by_one(path))


def plain_turn(turn: Mapping[str, Any]) -> dict[str, Any] | None:
    """A turn in OpenAI's form; `None` if it has no text or no role."""
    speaker, value = turn.get("from"), turn.get("value")
    if not isinstance(value, str):
        return None
    if speaker == CALL:
        listed = as_value(value)
        calls = [{"function": call} for call in (listed if isinstance(listed, list) else [listed])]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    role = "tool" if speaker in RESULTS else SYSTEM if speaker == SYSTEM else ROLES.get(str(speaker))
    return None if role is None else {"role": role, "content": value}


def _recognised(source: Source) -> bool:
    values = source.value if isinstance(source.value, list) else [source.value]
    return bool(values) and all(isinstance(value, dict) and FORM.turns in value for value in values)


FORMAT = Format(
    FORM.kind,
    "ShareGPT JSON",
    _recognised,
    read,
    write,
    sign="`conversations` of `from` and `value`",
    one_by_one=one_by_one,
)
