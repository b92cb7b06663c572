"""ShareGPT files: a JSON list, or JSON lines, of `conversations` with `from` and `value`, for fine-tuning tools."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..files.json_files import dumps, write_json, write_lines
from ..files.json_values import elements
from ..records import Conversation, Message, Role
from .detection import Format, Source
from .dialogues import DialogueForm, DialogueReading, TurnReading
from .messages import parts_at_marks
from .turns import SHAREGPT_CALL, SHAREGPT_RESULTS, sharegpt_turn
from .unsupported import BeyondWords

_NAMES: Mapping[Role, str] = {"user": "human", "assistant": "gpt"}


def tool_turns(message: Message, _: int) -> list[dict[str, Any]]:
    """The tool calls of an assistant's message: a turn for each call, followed by one with its result.

    None for a user. An error is written as the result.
    """
    turns: list[dict[str, Any]] = []
    for call in message.tool_calls if message.role == "assistant" else ():
        result = call.result if call.error is None else call.error
        turns.append({"from": SHAREGPT_CALL, "value": dumps({"name": call.name, "arguments": call.arguments})})
        turns.append({"from": SHAREGPT_RESULTS[0], "value": result if isinstance(result, str) else dumps(result)})
    return turns


FORM = DialogueForm(
    kind="sharegpt",
    turns="conversations",
    turn=lambda message: {"from": _NAMES[message.role], "value": message.text},
    system=lambda text: {"from": "system", "value": text},
    tools=tool_turns,
)


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write JSON lines if the name ends with `.jsonl`, else a list.

    Conversations read in this format are restored. Returns a line for each kind of content that the format cannot hold
    and that was therefore left out.
    """
    beyond = BeyondWords(own_key=FORM.kind, tools=True)
    written = (FORM.written(conversation) for conversation in beyond.noted(conversations))
    if Path(path).suffix == ".jsonl":
        write_lines(path, written)
    else:
        write_json(path, list(written), end="\n")
    return beyond.lines()


def read(path: str | Path) -> Iterator[Conversation]:
    """The conversations of a ShareGPT file, one at a time.

    Further keys are stored; annotations are labels too, as in messages. Instructions (`system`), calls (`function_call`)
    and results (`observation`, `tool`) are read as there. `images`, `videos` and `audios` are parts of the messages with
    their marks (`messages.parts_at_marks`). DataError for any other speaker.
    """
    reading = DialogueReading(FORM)
    for element, value in elements(path):
        conversation = None
        with readable(element):
            conversation = reading.conversation(value, _turns(path, element, value))
        if conversation is not None:
            yield conversation


def _turns(path: str | Path, element: str, value: Any) -> TurnReading:
    turns = value.get("conversations") if isinstance(value, dict) else None
    if not isinstance(turns, list):
        raise DataError(f"{at(path, element)}: has no list 'conversations': is this a ShareGPT file?")
    read = TurnReading(FORM)
    for position, turn in enumerate(turns):
        plain = sharegpt_turn(turn) if isinstance(turn, dict) else None
        if plain is None or not read.read(position, turn, plain):
            raise DataError(
                f"{at(path, element, f'turn {position}')}: "
                "needs 'from' (human, gpt, system or a tool) and a text as 'value'"
            )
    parts, _ = parts_at_marks(value, [message.text for message in read.messages])
    for number, own in enumerate(parts):
        if own:
            read.messages[number] = read.messages[number].model_copy(update={"parts": own})
    return read


def _recognised(source: Source) -> bool:
    values = source.value if isinstance(source.value, list) else [source.value]
    return bool(values) and all(isinstance(value, dict) and FORM.turns in value for value in values)


FORMAT = Format(FORM.kind, "ShareGPT JSON", _recognised, read, write, sign="`conversations` of `from` and `value`")
