"""What of a conversation a label is about, whether it has the label already, and the conversation with the label."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import DataError
from .attempts import Json
from .labels import LabelDefinition
from .recllmsim.situations import Situation
from .records import Conversation, Message

WHOLE = -1
"""The unit that is no message: the conversation, its context or its profile. Messages are counted from 0."""

WHY = "why"
"""Key of a scenario, and of an answer to a side-by-side study, that has a person's reason in their own words."""


def units_of(conversation: Conversation, label: LabelDefinition) -> list[int]:
    """The units that the label is about: indices of messages, or `WHOLE`; empty if the conversation has none.

    Messages that are recorded but are no part of the history, such as a goodbye, are none.
    """
    if label.of_messages:
        role = label.role
        return [n for n, each in enumerate(conversation.messages) if each.stored and role in (None, each.role)]
    if label.unit == "conversation":
        return [WHOLE] if any(message.stored for message in conversation.messages) else []
    return [WHOLE] if text_of(conversation, label, WHOLE).strip() else []


def text_of(conversation: Conversation, label: LabelDefinition, unit: int) -> str:
    """The text of a message, of the task's context, of the profile, or of a person's reason; empty if there is none."""
    if unit != WHOLE:
        return conversation.messages[unit].text
    scenario = conversation.scenario
    if label.unit == "context":
        return str(scenario.get("task_context") or "")
    if label.unit == "preference":
        told = scenario.get("preference")
        return told if isinstance(told, str) else ""
    if label.unit == "reason":
        return str(scenario.get(WHY) or "")
    if label.unit == "profile" and (scenario.get("preference") or scenario.get("profile")):
        try:
            return Situation.of(conversation).profile_text or ""
        except DataError:  # of another domain
            return str(scenario.get("profile") or scenario.get("preference") or "")
    return ""


def held(conversation: Conversation, label: LabelDefinition, unit: int) -> Mapping[str, Any]:
    """The labels, or what else holds the label, of a unit; with the keys of a published file that its reader leaves
    aside, as it does with a label of one's own."""
    holder = conversation if unit == WHOLE else conversation.messages[unit]
    return {**kept_aside(holder), **(holder.labels if label.place == "labels" else holder.extra)}


def kept_aside(holder: Conversation | Message) -> Mapping[str, Any]:
    """The keys of a published file that its reader leaves aside, of a conversation or of a message."""
    patch = holder.extra.get("file" if isinstance(holder, Conversation) else "turn")
    aside = patch.get("values") if isinstance(patch, Mapping) else None
    return aside if isinstance(aside, Mapping) else {}


def is_labelled(conversation: Conversation, label: LabelDefinition, unit: int) -> bool:
    """Whether the unit has the label; DataError if another label is stored in its place."""
    there = held(conversation, label, unit)
    keys = [key for key in label.keys if there.get(key) is not None]
    if wrong := [key for key in keys if not _fits(label, key, there[key])]:
        told = f"message {unit}" if unit != WHOLE else "the conversation"
        raise DataError(
            f"conversation {conversation.extra.get('path') or conversation.id}: {told} has {wrong[0]!r} in another form "
            f"than the label {label.name!r}: choose the label that fits, or replace it with --redo {label.name}"
        )
    return bool(keys)


def _fits(label: LabelDefinition, key: str, there: Any) -> bool:
    """Whether what stands under a key is of this label: its parts, with their values, or null for a tie."""
    parts = {part.stored_as or name: part for name, part in label.parts.items() if key == (part.within or None)}
    if not parts:
        if isinstance(there, Mapping) and there.get("final", 0) is None:
            return True
        alone = (part for name, part in label.parts.items() if key == (part.stored_as or name))
        return all(not part.problem(part.read(there)) for part in alone)  # none: a translation of a value
    final = there.get("final") if isinstance(there, Mapping) and "final" in there else there
    return isinstance(final, Mapping) and all(
        name in parts and (value is None or not parts[name].problem(parts[name].read(value)))
        for name, value in final.items()
    )


def missing(conversation: Conversation, label: LabelDefinition) -> list[int]:
    """The units that lack the label; DataError as `is_labelled`."""
    return [unit for unit in units_of(conversation, label) if not is_labelled(conversation, label, unit)]


def stored_keys(
    label: LabelDefinition, final: Mapping[str, Any] | None, votes: Sequence[Mapping[str, Any] | None]
) -> Json:
    """What a unit holds for its votes: every key of the label, None for one that is not there or to be removed.

    The final value of a tie is null, and its votes stand beside it, also of a label that else stores the value alone; a
    tied text is left out.
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
        part.stored_as or name: {
            "final": None,
            **{str(n): None if vote is None else part.stored(vote.get(name)) for n, vote in enumerate(votes, 1)},
        }
        for name, part in label.parts.items()
        if part.within is None and not part.text and final.get(name) is None and label.applies(name, final)
    }


def with_labels(
    conversation: Conversation, found: Mapping[int, Mapping[str, Any]], *, place: str = "labels"
) -> Conversation:
    """The conversation with these keys at each unit; None removes one."""
    messages = list(conversation.messages)
    for unit, keys in found.items():
        if unit != WHOLE:
            holder = getattr(messages[unit], place)
            messages[unit] = messages[unit].model_copy(update={place: _merged(holder, keys)})
    update: dict[str, Any] = {"messages": tuple(messages)}
    if WHOLE in found:
        update[place] = _merged(getattr(conversation, place), found[WHOLE])
    return conversation.model_copy(update=update)


def _merged(holder: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {**holder, **keys}.items() if key not in keys or value is not None}
