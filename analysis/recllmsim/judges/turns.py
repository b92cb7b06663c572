"""The unit: a reply with its user's satisfaction, 1 to 5, and with another annotator's label of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import floor, isfinite
from typing import Any, TypeGuard, TypeVar

from ....data import domains
from ....data.labels.reading import is_other, value_of
from ....data.people import named_user, user_of
from ....data.records import Conversation, Message
from ....data.text.languages import Language
from ...attempts import assistant_of

LABEL = "satisfaction"
REASON = "reason"
LOWEST, HIGHEST = 1, 5
DISSATISFIED = 3
"""Highest satisfaction that is dissatisfaction: such a turn has a reason in the published files."""
ReplyValue = TypeVar("ReplyValue")


@dataclass(frozen=True)
class JudgedTurn:
    """One reply with its user's satisfaction."""

    conversation: int
    """Place of its conversation in the source, from 0."""
    path: str
    """Its path in the data set, else its id: it identifies the conversation in another copy of the data."""
    id: str
    """Its id, which identifies it in a copy with other paths."""
    turn: int
    """Which reply of its conversation, from 1."""
    user: str
    assistant: str
    """Empty where no source names it."""
    language: Language
    reply: str
    following: str
    """The user's next messages, before another reply; empty at the end."""
    satisfaction: int
    """1 to 5, by the user."""
    reason: str = ""
    """The user's reason for dissatisfaction; empty without one, and for reasons without content."""

    @property
    def dissatisfied(self) -> bool:
        """3 points or less."""
        return self.satisfaction <= DISSATISFIED


def judged_turns(conversations: Iterable[Conversation], label: str = LABEL) -> tuple[JudgedTurn, ...]:
    """Every reply with a satisfaction of 1 to 5, in the order of the source."""
    turns = []
    for place, conversation in enumerate(conversations):
        language = domains.of(conversation).language(conversation) or "en"
        messages = [message for message in conversation.messages if message.stored]
        for turn, (number, message) in enumerate(replies_of(messages), start=1):
            points = points_of(message, label)
            if points is None or points != int(points):
                continue
            turns.append(
                JudgedTurn(
                    conversation=place,
                    path=path_of(conversation),
                    id=conversation.id,
                    turn=turn,
                    user=user_of(conversation),
                    assistant=assistant_of(conversation),
                    language=language,
                    reply=message.text,
                    following="\n".join(
                        later.text for later in takewhile(lambda one: one.role == "user", messages[number + 1 :])
                    ),
                    satisfaction=int(points),
                    reason=reason_of(message),
                )
            )
    return tuple(turns)


def replies_of(messages: Sequence[Message]) -> list[tuple[int, Message]]:
    """The assistant's stored messages, each with its place among all, from 0."""
    return [
        (place, message) for place, message in enumerate(messages) if message.stored and message.role == "assistant"
    ]


def by_reply(
    conversations: Iterable[Conversation], read: Callable[[Message], ReplyValue | None]
) -> dict[tuple[str, int], ReplyValue]:
    """What is read of each reply, by path and by id, and by the place of the reply, from 1.

    Replies of which nothing is read are left out.
    """
    values: dict[tuple[str, int], ReplyValue] = {}
    for conversation in conversations:
        for turn, (_, message) in enumerate(replies_of(conversation.messages), start=1):
            if value := read(message):
                values[path_of(conversation), turn] = values[conversation.id, turn] = value
    return values


def source_notes(conversations: Iterable[Conversation], label: str = LABEL) -> list[str]:
    """Notes on conversations whose turns are judged: labels that are left out, and users without a name."""
    labelled_ones = odd = nameless = 0
    for conversation in conversations:
        points = [
            points_of(message, label)
            for _, message in replies_of(conversation.messages)
            if _label(message, label) is not None
        ]
        read = sum(value is not None and value == int(value) for value in points)
        odd += len(points) - read
        labelled_ones += bool(read)
        nameless += bool(read) and not named_user(conversation)
    notes = []
    if odd:
        notes.append(f"{odd} labels {label!r} are left out: they are not whole numbers from {LOWEST} to {HIGHEST}")
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
    """A label's points of each reply, 1 to 5, as `by_reply`; a label with votes counts by its result (`final`)."""
    return by_reply(conversations, lambda message: points_of(message, label))


def points_of(message: Message, label: str) -> float | None:
    """The points, 1 to 5, that a label of the message holds; None if it holds none."""
    return in_range(value_of(label, _label(message, label)))


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
    """Only the messages of the conversation, without labels and further keys of its source."""
    messages = tuple(
        message.model_copy(update={"labels": {}, "extra": _without_further_keys(message.extra)})
        for message in conversation.messages
    )
    return conversation.model_copy(
        update={"labels": {}, "extra": _without_further_keys(conversation.extra), "messages": messages}
    )


def _label(message: Message, name: str) -> Any:
    """The label of a message, or the further key of its source of that name."""
    if (value := message.labels.get(name)) is not None:
        return value
    values = (patch["values"].get(name) for patch in message.extra.values() if _is_further(patch))
    return next((value for value in values if value is not None), None)


def _without_further_keys(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in extra.items() if not _is_further(value)}


def _is_further(patch: object) -> TypeGuard[Mapping[str, Mapping[str, Any]]]:
    return isinstance(patch, Mapping) and isinstance(patch.get("values"), Mapping)


def reason_of(message: Message) -> str:
    """The reason that a message has, or the result of votes on it; empty for none, and for "other"."""
    reason = value_of(REASON, _label(message, REASON))
    text = reason.strip() if isinstance(reason, str) else ""
    return "" if is_other(text) else text
