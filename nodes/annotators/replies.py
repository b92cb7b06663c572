"""The material of an annotator's request, and its reply: one JSON object, checked strictly."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...data.attempts import Json, as_object
from ...data.files.json_files import parsed
from ...data.identity import digest
from ...data.labels.definition import LabelDefinition, PartDefinition
from ...data.labels.units import WHOLE, text_of
from ...data.records import Conversation
from ...errors import DataError
from ..asking.requests import unfenced_reply
from ..messages.building import as_text, fenced
from ..messages.selectors import Refusal

LabelValues = dict[int, Json]
"""The value of each unit, by its index."""

_SHOWN = 12
"""Maximum number of problems in the message about a reply."""
_ADDRESS = re.compile(r"https?://[^\s)\]）】〉》\"'，。；]+")
_NUMBER = re.compile(r"\d+")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+#.-]*[A-Za-z0-9+#]")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def material(conversation: Conversation, label: LabelDefinition, units: Sequence[int]) -> str:
    """The scenario's values that the label names, and the conversation with its messages numbered from 1.

    All of it is data: it cannot end or imitate a mark around it.
    """
    shown = [name for name in label.shows if conversation.scenario.get(name)]
    names = ("conversation", "message", "text", "quote", *shown)
    marks = tuple(f"{end}{name}" for name in names for end in ("", "/"))
    if label.asked == "alone" or (units[0] == WHOLE and label.unit != "conversation"):
        return f"<text>\n{fenced(text_of(conversation, label, units[0]), *marks)}\n</text>"
    blocks = []
    for name in shown:
        text = fenced(as_text(conversation.scenario[name]), *marks)
        blocks.append(f"<{name}>\n{text}\n</{name}>")
    end = units[0] + 1 if label.asked == "so far" and units[0] != WHOLE else len(conversation.messages)
    lines = [
        f'<message number="{number}" role="{message.role}">{fenced(message.text, *marks)}</message>'
        for number, message in enumerate(conversation.messages[:end], start=1)
        if message.stored
    ]
    return "\n".join((*blocks, "<conversation>", *lines, "</conversation>"))


def task_line(label: LabelDefinition, units: Sequence[int]) -> str:
    """The task of the request, in a sentence."""
    if len(units) > 1:
        return f"Label each of these messages: {', '.join(str(unit + 1) for unit in units)}."
    if units[0] == WHOLE or label.asked == "alone":
        return "Label the conversation." if label.unit == "conversation" else "Label the text."
    last = ", the last one" if label.asked == "so far" else ""
    return f"Label message {units[0] + 1}{last}."


def form_of(label: LabelDefinition, units: Sequence[int], seed: int, vote: int) -> str:
    """The instructions for the reply, for the system prompt.

    Values without an order are listed in another one in each vote after the first.
    """
    lines = [
        f"- {json.dumps(name, ensure_ascii=False)}: {_part_line(name, part, seed, vote)}"
        for name, part in label.parts.items()
    ]
    shape = "Reply with one JSON object and nothing else, with exactly these keys:"
    if len(units) > 1:
        shape = (
            'Reply with one JSON object and nothing else: {"messages": [...]}, with an object for each message that you are '
            "asked about, in order, each with exactly these keys:"
        )
        lines.insert(0, '- "message": its number')
    return "\n".join((shape, *lines))


def _part_line(name: str, part: PartDefinition, seed: int, vote: int) -> str:
    if part.text:
        one = "a text"
    elif part.scale is not None:
        one = f"a whole number from {part.scale[0]} to {part.scale[1]}"
    else:
        values = list[str | bool](part.values)
        if vote > 1 and not part.ordered:
            values.sort(key=lambda value: digest("order of values", seed, name, vote, value))
        one = "one of " + ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
    if part.several is not None:
        low, high = part.several
        one = f"a list of {low} to {high}, each {one}"
    for other, allowed in part.only_if.items():
        listing = ", ".join(json.dumps(value, ensure_ascii=False) for value in allowed)
        one += f"; null unless {other} is {listing if len(allowed) == 1 else f'one of {listing}'}"
    return one


def schema_of(label: LabelDefinition, units: Sequence[int]) -> Json:
    """The JSON schema of a reply, for endpoints that enforce one (`response_format`)."""
    one = label.json_form()
    if len(units) == 1:
        return one
    message_form: Json = {
        **one,
        "properties": {"message": {"type": "integer"}, **as_object(one["properties"])},
        "required": ["message", *label.parts],
    }
    listed: Json = {"type": "array", "items": message_form}
    return {
        "type": "object",
        "properties": {"messages": listed},
        "required": ["messages"],
        "additionalProperties": False,
    }


def parser_of(
    conversation: Conversation, label: LabelDefinition, units: Sequence[int]
) -> Callable[[str], LabelValues | Refusal]:
    """A pure, strict parser of a reply, which guesses nothing.

    Refusals: `not_json`, `wrong_value`, `lost`.
    """

    def parse(text: str) -> LabelValues | Refusal:
        try:
            value = parsed(unfenced_reply(text), "the reply")
        except DataError as error:
            problem = str(error).removeprefix("the reply: ")
            return Refusal("not_json", f"{problem[:300]}. Answer with one JSON object and nothing else.")
        values = {units[0]: value} if len(units) == 1 else _by_message(value, units)
        if isinstance(values, Refusal):
            return values
        problems = [
            f"{_where(unit, units)}{line}" for unit, unit_value in values.items() for line in label.problems(unit_value)
        ]
        if problems:
            return Refusal("wrong_value", f"{'; '.join(problems[:_SHOWN])}.")
        if label.kept:
            for unit, unit_value in values.items():
                if gone := lost(text_of(conversation, label, unit), " ".join(map(str, unit_value.values()))):
                    return Refusal("lost", f"{', '.join(gone[:_SHOWN])}.")
        return values

    return parse


def _by_message(value: Any, units: Sequence[int]) -> dict[int, Any] | Refusal:
    listed = value.get("messages") if isinstance(value, Mapping) and set(value) == {"messages"} else None
    if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
        return Refusal("wrong_value", 'it is not an object with only "messages", a list of objects.')
    numbers = [entry.get("message") for entry in listed]
    if numbers != [unit + 1 for unit in units]:
        expected = ", ".join(str(unit + 1) for unit in units)
        return Refusal("wrong_value", f"its messages are not those that were asked for, in order: {expected}.")
    return {
        unit: {key: part for key, part in entry.items() if key != "message"}
        for unit, entry in zip(units, listed, strict=True)
    }


def _where(unit: int, units: Sequence[int]) -> str:
    return f"message {unit + 1}: " if len(units) > 1 else ""


def lost(source: str, translated: str) -> list[str]:
    """The parts of a source that its translation must keep and does not.

    These are numbers of two or more digits, web addresses, and names in Latin letters of a Chinese source. A separator
    of thousands may be dropped. Of the published translations of the open files, 99.5 % keep all numbers.

    >>> lost("1,200 yuan for 2 people, see https://a.b/c", "两个人1200元")
    ['https://a.b/c']
    """
    numbers = set(_NUMBER.findall(_GROUPED.sub("", translated)))
    source_numbers = [number for number in _NUMBER.findall(_GROUPED.sub("", source)) if len(number) > 1]
    gone = [number for number in source_numbers if number not in numbers]
    addresses = _ADDRESS.findall(source)
    gone += [address for address in addresses if address not in translated]
    if _HAN.search(source):
        without = _ADDRESS.sub(" ", source)
        gone += [name for name in _NAME.findall(without) if name.lower() not in translated.lower()]
    return list(dict.fromkeys(gone))
