"""The unit: a reply whose user said how satisfied they were, 1 to 5; and what somebody else's label says of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite
from typing import Any, TypeGuard

from ...data import domains
from ...data.records import Conversation, Message
from ...data.text.languages import Language
from ...data.users import named_user, user_of
from ..attempts import assistant_of

LABEL = "satisfaction"
REASON = "reason"
LOWEST, HIGHEST = 1, 5
DISSATISFIED = 3
"""Highest satisfaction that is dissatisfaction: such a turn has a reason in the published files."""
OTHER_REASONS = frozenset({"其它", "其他", "other", "others"})
"""Reasons that say nothing, which the published study leaves out."""


@dataclass(frozen=True)
class JudgedTurn:
    """One reply with what its user says of it."""

    conversation: int
    """Place of its conversation in the source, from 0."""
    path: str
    """Its path in the data set, else its id: what tells it in another copy of the data."""
    id: str
    """Its id, which tells it in a copy with other paths."""
    turn: int
    """Which reply of its conversation, from 1."""
    user: str
    assistant: str
    """Empty where no source tells it."""
    language: Language
    reply: str
    following: str
    """What the user says next, before another reply; empty at the end."""
    satisfaction: int
    """1 to 5, by the user."""
    reason: str = ""
    """Why not satisfied, by the user; empty where none is told, or none of those that say something."""

    @property
    def dissatisfied(self) -> bool:
        """3 points or less."""
        return self.satisfaction <= DISSATISFIED


def judged_turns(conversations: Iterable[Conversation], label: str = LABEL) -> tuple[JudgedTurn, ...]:
    """Every reply with a satisfaction of 1 to 5, in the order of the source."""
    found = []
    for place, conversation in enumerate(conversations):
        language = domains.of(conversation).language(conversation) or "en"
        messages = [message for message in conversation.messages if message.stored]
        turn = 0
        for number, message in enumerate(messages):
            if message.role != "assistant":
                continue
            turn += 1
            points = points_of(message, label)
            if points is None or points != int(points):
                continue
            found.append(
                JudgedTurn(
                    conversation=place,
                    path=path_of(conversation),
                    id=conversation.id,
                    turn=turn,
                    user=user_of(conversation),
                    assistant=assistant_of(conversation),
                    language=language,
                    reply=message.text,
                    following=_following(messages[number + 1 :]),
                    satisfaction=int(points),
                    reason=reason_of(message),
                )
            )
    return tuple(found)


def source_notes(conversations: Iterable[Conversation], label: str = LABEL) -> list[str]:
    """What to know of conversations whose turns are judged: labels that are left out, and users without a name."""
    labelled_ones = odd = nameless = 0
    for conversation in conversations:
        given = [message for message in conversation.messages if message.stored and message.role == "assistant"]
        told = [message for message in given if _label(message, label) is not None]
        read = [
            points for message in told if (points := points_of(message, label)) is not None and points == int(points)
        ]
        odd += len(told) - len(read)
        labelled_ones += bool(read)
        nameless += bool(read) and not named_user(conversation)
    notes = []
    if odd:
        notes.append(f"{odd} labels {label!r} are left out: they are no whole number from {LOWEST} to {HIGHEST}")
    if nameless:
        notes.append(
            f"{nameless} of {labelled_ones} conversations name no user: those about an equal scenario count as one user's, "
            "others as different users'; what is held out by user rests on that"
        )
    return notes


def path_of(conversation: Conversation) -> str:
    """The path of a conversation in its data set, else its id."""
    path = conversation.extra.get("path")
    return path if isinstance(path, str) and path else conversation.id


def labelled(conversations: Iterable[Conversation], label: str) -> dict[tuple[str, int], float]:
    """What a label says of each reply, 1 to 5, by path, and by id, and place of the reply; without those of which it says
    nothing.

    A label with votes counts by its result (`final`).
    """
    found = {}
    for conversation in conversations:
        replies = (message for message in conversation.messages if message.stored and message.role == "assistant")
        for turn, message in enumerate(replies, start=1):
            if (points := points_of(message, label)) is not None:
                found[path_of(conversation), turn] = found[conversation.id, turn] = points
    return found


def points_of(message: Message, label: str) -> float | None:
    """The points, 1 to 5, that a label of the message holds; None if it holds none."""
    value = _label(message, label)
    if isinstance(value, Mapping):
        value = value.get("final", value.get(label))
    return in_range(value)


def in_range(value: object) -> float | None:
    """A number from 1 to 5, also one in a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if isfinite(number) and LOWEST <= number <= HIGHEST else None


def nearest(points: float) -> int:
    """The whole number of points that is nearest, 1 to 5; a half goes up."""
    return min(HIGHEST, max(LOWEST, floor(points + 0.5)))


def without_labels(conversation: Conversation) -> Conversation:
    """The conversation as it was said, without any label or further key of its source."""
    messages = tuple(
        message.model_copy(update={"labels": {}, "extra": _known(message.extra)}) for message in conversation.messages
    )
    return conversation.model_copy(update={"labels": {}, "extra": _known(conversation.extra), "messages": messages})


def _label(message: Message, name: str) -> Any:
    """The label of a message; if it has none of this name, the further key of its source that has it."""
    if (value := message.labels.get(name)) is not None:
        return value
    values = (patch["values"].get(name) for patch in message.extra.values() if _is_further(patch))
    return next((value for value in values if value is not None), None)


def _known(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in extra.items() if not _is_further(value)}


def _is_further(patch: object) -> TypeGuard[Mapping[str, Mapping[str, Any]]]:
    """Whether it is what a format keeps of keys that it does not know."""
    return isinstance(patch, Mapping) and isinstance(patch.get("values"), Mapping)


def _following(messages: Sequence[Message]) -> str:
    said = []
    for message in messages:
        if message.role != "user":
            break
        said.append(message.text)
    return "\n".join(said)


def reason_of(message: Message) -> str:
    """The reason that a message has, or the result of votes on it; empty for none, and for "other"."""
    reason = _label(message, REASON)
    if isinstance(reason, Mapping):
        reason = reason.get("final")
    told = reason.strip() if isinstance(reason, str) else ""
    return "" if told.lower() in OTHER_REASONS else told
