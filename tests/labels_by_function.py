"""An annotator without a model: of each part of a label the first of its values, each time."""

from typing import Any

from duologue.data import Conversation
from duologue.data.labels.definition import LabelDefinition, PartDefinition

FIRST = "tests.labels_by_function:first_values"
"""It as `--model` of a command."""


def first_values(conversation: Conversation, label: LabelDefinition) -> Any:
    """A value of the conversation, or a list with one for each message that the label is about."""
    value: dict[str, Any] = {}
    for name, part in label.parts.items():
        if all(value.get(other) in values for other, values in part.only_if.items()):
            value[name] = _first(part)
    if not label.of_messages:
        return value
    return [value for message in conversation.messages if message.stored and label.role in (None, message.role)]


def _first(part: PartDefinition) -> Any:
    one = "words" if part.text else part.choices[0]
    return [one] if part.several is not None else one
