"""What is labelled, where a record holds it, and the table of labels beside the data.

A file of answers is JSON lines, an answer a line: conversation, message, label, value, by.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import Field

from ...errors import DataError
from .. import domains
from ..identity import digest
from ..recllmsim.tasks import task_name
from ..records import Conversation, Json, Record
from .definition import LabelDefinition
from .reading import FINAL, kept_aside

WHOLE = -1
"""The unit that is not a message: the conversation, its context or its profile. Messages are counted from 0."""

WHY = "why"
"""Key of a scenario, and of an answer to a side-by-side study, that has a person's reason in their own words."""


def units_of(conversation: Conversation, label: LabelDefinition) -> list[int]:
    """The units that the label is about: indices of messages, or `WHOLE`; empty if the conversation has none.

    Messages that are recorded but are not part of the history, such as a goodbye, are none.
    """
    if label.tasks and task_name(str(conversation.scenario.get("task"))) not in label.tasks:
        return []
    if label.of_messages:
        role = label.role
        return [n for n, message in enumerate(conversation.messages) if message.stored and role in (None, message.role)]
    if label.unit == "conversation":
        return [WHOLE] if any(message.stored for message in conversation.messages) else []
    return [WHOLE] if text_of(conversation, label, WHOLE).strip() else []


def text_of(conversation: Conversation, label: LabelDefinition, unit: int) -> str:
    """The text of a message, a context, a profile or a person's reason; empty without one."""
    if unit != WHOLE:
        return conversation.messages[unit].text
    if label.unit == "reason":
        return str(conversation.scenario.get(WHY) or "")
    scenario = conversation.scenario
    if label.unit == "profile":
        return domains.profile_of(scenario)
    text = scenario.get({"context": "task_context"}.get(label.unit, label.unit))
    return text if isinstance(text, str) else ""


def labels_at(conversation: Conversation, label: LabelDefinition, unit: int) -> Mapping[str, Any]:
    """The labels of a unit, or the field that holds the label.

    Keys of a published file that its reader leaves aside are included, such as a label of another project.
    """
    holder = conversation if unit == WHOLE else conversation.messages[unit]
    return {**kept_aside(holder), **(holder.labels if label.shape.place == "labels" else holder.extra)}


def is_labelled(conversation: Conversation, label: LabelDefinition, unit: int) -> bool:
    """Whether the unit has the label; DataError if another label is stored in its place."""
    there = labels_at(conversation, label, unit)
    wrong = [name for name, value in (label.value_in(there) or {}).items() if label.parts[name].problem(value)]
    if wrong:
        where = f"message {unit}" if unit != WHOLE else "the conversation"
        raise DataError(
            f"conversation {conversation.extra.get('path') or conversation.id}: {where} has {wrong[0]!r} in another "
            f"form than the label {label.name!r}: choose the label that fits, or label all anew (--redo)"
        )
    return any(there.get(key) is not None for key in label.keys)


def missing(conversation: Conversation, label: LabelDefinition) -> list[int]:
    """The units that lack the label; DataError as `is_labelled`."""
    return [unit for unit in units_of(conversation, label) if not is_labelled(conversation, label, unit)]


def stored_keys(
    label: LabelDefinition, final: Mapping[str, Any] | None, votes: Sequence[Mapping[str, Any] | None]
) -> Json:
    """The stored form of a unit's votes: every key of the label, None for an absent one.

    The final value of a tie is null, and its votes stand beside it, also of a label that otherwise stores only the
    value. A tied text is left out.
    """
    empty: dict[str, Any] = dict.fromkeys(label.parts)
    if label.votes:
        return label.voted(final or empty, votes) if any(vote is not None for vote in votes) else {}
    if final is None:
        return {}
    whole = label.stored(final)
    return {key: whole.get(key) for key in label.keys} | _ties(label, final, votes)


def _ties(label: LabelDefinition, final: Mapping[str, Any], votes: Sequence[Mapping[str, Any] | None]) -> Json:
    """What stands under the keys of the parts that are stored by themselves and have a tie."""
    if label.unit == "reason":  # an answer to a study, which has no place for votes
        return {}
    return {
        name: {
            FINAL: None,
            **{
                str(n): None if vote is None else label.shape.stored(name, vote.get(name))
                for n, vote in enumerate(votes, 1)
            },
        }
        for name, part in label.parts.items()
        if label.shape.within is None and not part.text and final.get(name) is None and label.applies(name, final)
    }


def with_labels(
    conversation: Conversation, by_unit: Mapping[int, Mapping[str, Any]], *, place: str = "labels"
) -> Conversation:
    """The conversation with these keys at each unit; None removes one."""
    messages = list(conversation.messages)
    for unit, keys in by_unit.items():
        if unit != WHOLE:
            holder = getattr(messages[unit], place)
            messages[unit] = messages[unit].model_copy(update={place: _merged(holder, keys)})
    update: dict[str, Any] = {"messages": tuple(messages)}
    if WHOLE in by_unit:
        update[place] = _merged(getattr(conversation, place), by_unit[WHOLE])
    return conversation.model_copy(update=update)


def _merged(holder: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {**holder, **keys}.items() if key not in keys or value is not None}


LabelKey: TypeAlias = tuple[str, str, int | None]
"""What an answer is about: label, conversation, message."""


class Item(Record):
    """One thing to label."""

    label: str
    """Name of the label, or of the study."""
    conversation: str
    """Id of the conversation."""
    message: int | None = None
    """Number of the labelled message, from 0; None for the conversation as a whole."""
    path: str = ""
    """Path of its file, where the source has one."""
    seen: str = ""
    """Digest of the text that it is about: an answer is not one about a text that has changed since. Empty: not
    known."""

    @property
    def key(self) -> LabelKey:
        """What it is about."""
        return self.label, self.conversation, self.message

    def answered(self, value: Mapping[str, Any], by: str, *, model_shown: bool = False) -> "LabelAnswer":
        """The answer of a person about it."""
        return LabelAnswer(**self.model_dump(), value=dict(value), by=by, model_shown=model_shown)

    def taken_back(self, by: str) -> "LabelAnswer":
        """The line that takes an answer about it back."""
        return LabelAnswer(**self.model_dump(), by=by, undone=True)

    def is_of(self, answer: "LabelAnswer") -> bool:
        """Whether an answer is about this thing as it is now."""
        return answer.key == self.key and answer.seen in ("", self.seen)


class LabelAnswer(Item):
    """What one person, or one vote of a model, says about one thing."""

    value: Json = Field(default_factory=dict)
    """The value of each part; of an answer that was taken back, empty."""
    by: str
    """Who answered."""
    model_shown: bool = False
    """Whether the model's label was shown before the answer."""
    undone: bool = False
    """Whether it takes back the answer before it about the same thing."""


def items_of(conversations: Iterable[Conversation], labels: Sequence[LabelDefinition]) -> list[Item]:
    """The items to label: conversations and messages, once for each label about them.

    A message counts for labels of its side. Units without text and messages outside the history are left out.
    """
    items = []
    for conversation in conversations:
        path = conversation.extra.get("path")
        where: dict[str, Any] = {"conversation": conversation.id, "path": path if isinstance(path, str) else ""}
        for label in labels:
            for unit in units_of(conversation, label):
                if unit == WHOLE or conversation.messages[unit].text.strip():
                    message = None if unit == WHOLE else unit
                    seen = seen_of(conversation, label, unit)
                    items.append(Item(label=label.name, message=message, seen=seen, **where))
    return items


def seen_of(conversation: Conversation, label: LabelDefinition, unit: int) -> str:
    """Digest of the labelled text of a unit: a message, all messages, the context or the profile."""
    if unit != WHOLE or label.unit != "conversation":
        return digest("seen", text_of(conversation, label, unit))[:16]
    return digest("seen", [(message.role, message.text) for message in conversation.messages if message.stored])[:16]


def standing(answers: Iterable[LabelAnswer]) -> dict[LabelKey, LabelAnswer]:
    """Of answers in their order those that stand: the last about each thing, unless it was taken back."""
    latest: dict[LabelKey, LabelAnswer] = {}
    for answer in answers:
        if answer.undone:
            latest.pop(answer.key, None)
        else:
            latest[answer.key] = answer
    return latest


def in_order(items: Iterable[Item], seed: int = 0) -> list[Item]:
    """The items conversation by conversation, in an order by digest that is the same for every annotator.

    Those of one conversation stand in the order of its messages.
    """

    def place(item: Item) -> tuple[str, int]:
        return digest("label", seed, item.conversation), WHOLE if item.message is None else item.message

    return sorted(items, key=place)


def model_value(label: LabelDefinition, conversation: Conversation, item: Item) -> dict[str, Any] | None:
    """The value in the data; None if it has no such label."""
    return label.value_in(labels_at(conversation, label, WHOLE if item.message is None else item.message))
