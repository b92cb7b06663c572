"""The annotations of a conversation, of any shape, as names with lists of values."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from .. import domains
from ..recllmsim.published_labels import PEOPLES_INTENTS
from ..records import Conversation, Message
from .reading import Label, plain_values, read

AnnotationSide: TypeAlias = Literal["simulated", "people", "not told"]
PEOPLES_INTENT = "intent people"
"""Name of people's intents: another measurement than that of simulated users' intents, so the two are never compared."""
SIDES: tuple[AnnotationSide, ...] = ("simulated", "people", "not told")


def annotations_of(conversation: Conversation) -> dict[str, list[str]]:
    """Values of each label by name, of the conversation and of all its messages together, in lower case."""
    merged: dict[str, list[str]] = {}
    for labels in (of_conversation(conversation), *map(of_message, conversation.messages)):
        for name, values in labels.items():
            merged.setdefault(name, []).extend(value.lower() for value in values)
    return merged


def of_message(message: Message) -> dict[str, list[str]]:
    """Values of each label of a message by name; labels with parts are left out."""
    return {_name(label): values for label, values in _annotations(message) if not label.part}


def of_conversation(conversation: Conversation) -> dict[str, list[str]]:
    """Values of each label of the conversation as a whole, by name; each part is a label."""
    return {_name(label): values for label, values in _annotations(conversation)}


def _annotations(holder: Conversation | Message) -> Iterator[tuple[Label, list[str]]]:
    """Each label that says something of behaviour or quality, with its values; of votes the result counts."""
    notes = domains.label_notes() if holder.labels else ()
    for key, stored in holder.labels.items():
        if key not in notes:
            for label in read(key, stored):
                if not (label.beside or label.scored) and (values := plain_values(label.value)):
                    yield label, values


def _name(label: Label) -> str:
    if label.key == "intent" and isinstance(label.value, list) and PEOPLES_INTENTS.issuperset(label.value):
        return PEOPLES_INTENT
    return " ".join(filter(None, (label.key, label.part))).replace("_", " ")


def side_of(conversation: Conversation) -> AnnotationSide:
    """Whether the user is simulated or one of people, by the kind of conversation."""
    match domains.of(conversation).simulated(conversation):
        case True:
            return "simulated"
        case False:
            return "people"
        case None:
            return "not told"
