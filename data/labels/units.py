"""The units of a conversation that a label is about, their stored labels, and the conversation with new ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import DataError
from .. import domains
from ..recllmsim.published_labels import by_part, is_behaviour
from ..recllmsim.tasks import task_name
from ..records import Conversation, Json
from .definition import LabelDefinition
from .reading import FINAL, kept_aside, vote_in

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
    return domains.of(conversation).label_text(conversation.scenario, label.unit)


def labels_at(conversation: Conversation, label: LabelDefinition, unit: int) -> Mapping[str, Any]:
    """The labels of a unit, or the field that holds the label.

    Keys of a published file that its reader leaves aside are included, such as a label of another project.
    """
    holder = conversation if unit == WHOLE else conversation.messages[unit]
    return {**kept_aside(holder), **(holder.labels if label.shape.place == "labels" else holder.extra)}


def is_labelled(conversation: Conversation, label: LabelDefinition, unit: int) -> bool:
    """Whether the unit has the label; DataError if another label is stored in its place."""
    there = labels_at(conversation, label, unit)
    keys = [key for key in label.keys if there.get(key) is not None]
    if wrong := [key for key in keys if not _fits(label, key, there[key])]:
        where = f"message {unit}" if unit != WHOLE else "the conversation"
        raise DataError(
            f"conversation {conversation.extra.get('path') or conversation.id}: {where} has {wrong[0]!r} in another "
            f"form than the label {label.name!r}: choose the label that fits, or replace it with --redo {label.name}"
        )
    return bool(keys)


def _fits(label: LabelDefinition, key: str, stored: Any) -> bool:
    """Whether what stands under a key is of this label: its parts, with their values, or null for a tie.

    A published object may have a part more in one edition.
    """
    final = by_part(vote_in(stored))
    if key == label.shape.within:
        return isinstance(final, Mapping) and all(
            _is_value(label, name, value) if name in label.parts else is_behaviour(label.name)
            for name, value in final.items()
        )
    return key not in label.parts or _is_value(label, key, None if final is None else stored)


def _is_value(label: LabelDefinition, part: str, stored: Any) -> bool:
    return stored is None or not label.parts[part].problem(label.shape.read(part, stored))


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
