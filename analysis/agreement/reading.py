"""The labels of conversations by name: of the conversation or of its messages, whole or one part, with their votes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...data.label_units import kept_aside
from ...data.pairing import STORED
from ...data.records import Conversation
from ...data.users import user_of
from ...errors import DataError
from ..annotations import Side, side_of
from ..label_values import parts_of, spellings_of, values_of

Place: TypeAlias = int | None
"""Number of the message that is labelled; None where the conversation is."""


SOURCES = ("the first source", "the second source")
"""What two sources are called where nobody names them."""


@dataclass(frozen=True)
class Label:
    """What is said of one thing."""

    values: tuple[str, ...]
    """One, or several where a label has several at once; none in a tie of votes."""
    votes: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What the data has for each value."""

    @property
    def value(self) -> str | None:
        """The values as one; None without any."""
        return " + ".join(sorted(self.values)) or None


@dataclass(frozen=True)
class Named:
    """A label by its name in the files, or one part of it: `strategy_V1`, `rating.Detail Level`."""

    key: str
    part: str | None = None

    def __str__(self) -> str:
        return self.key if self.part is None else f"{self.key}.{self.part}"

    def of_part(self, part: str) -> "Named":
        """The name of a part; the label itself if it has none."""
        return Named(self.key, part) if part else self


def named(name: str, conversations: Iterable[Conversation], where: str = "the data") -> Named:
    """The label of a name; DataError if no conversation has it, or none has that part."""
    talks = list(conversations)
    keys = Counter(key for talk in talks for labels in _all_labels(talk) for key in labels)
    if name in keys:
        return Named(name)
    key, dot, part = name.partition(".")
    while dot and key not in keys and "." in part:
        more, dot, part = part.partition(".")
        key = f"{key}.{more}"
    if key not in keys:
        there = ", ".join(sorted(keys)) or "no label at all"
        raise DataError(f"{where}: no conversation has the label {key!r}; there is {there}: give one of these")
    parts = sorted({found for talk in talks for _, found in labels_of(talk, key) if found})
    if part not in parts:
        there = f"only {', '.join(parts)}" if parts else "none"
        raise DataError(
            f"{where}: the label {key!r} has no part {part!r}, {there}: give one of these, or {key!r} alone"
        )
    return Named(key, part)


def labels_of(conversation: Conversation, key: str) -> dict[tuple[Place, str], Label]:
    """Every label of a key in a conversation, by the message's number and the part's name (empty if it has none)."""
    found: dict[tuple[Place, str], Label] = {}
    for place, labels in _held(conversation):
        value = labels.get(key)
        if isinstance(value, dict) and key in value:  # with a memo beside it
            value = value[key]
        for part, label in _parts(value):
            if label.values or label.votes:
                found[place, part] = label
    return found


@dataclass(frozen=True)
class Matched:
    """Conversations of two sources that are the same one, and how many of each source have none."""

    pairs: tuple[tuple[Conversation, Conversation], ...]
    only_first: int = 0
    only_second: int = 0
    sources: tuple[str, ...] = ()
    """What the two sources are called; empty for one source."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out."""
        if not self.only_first + self.only_second:
            return ()
        return (
            f"Left out: {self.only_first} conversations of {self.sources[0]} and {self.only_second} of "
            f"{self.sources[1]} that the other one does not have.",
        )


def matched(
    first: Sequence[Conversation], second: Sequence[Conversation] | None = None, sources: Sequence[str] = SOURCES
) -> Matched:
    """The conversations of both sources with the same path below their folders, else with the same id.

    Without a second source each conversation with itself. What is not told apart by its path or id is left out.
    """
    if second is None:
        return Matched(tuple((one, one) for one in first))
    partners: dict[int, Conversation] = {}
    taken: set[int] = set()
    for key in (_path, _id):
        here, there = _unique(first, key), _unique(second, key)
        for name, place in here.items():
            other = there.get(name)
            if other is not None and place not in partners and other not in taken:
                partners[place] = second[other]
                taken.add(other)
    pairs = tuple((one, partners[place]) for place, one in enumerate(first) if place in partners)
    return Matched(pairs, len(first) - len(pairs), len(second) - len(pairs), tuple(sources))


@dataclass(frozen=True)
class Unit:
    """One thing, a conversation or a message, with what the two labels say of it."""

    number: int
    """Of the conversation, among those that are compared."""
    user: str
    side: Side
    place: Place
    part: str
    first: Label | None
    second: Label | None


def units(pairs: Iterable[tuple[Conversation, Conversation]], first: Named, second: Named) -> list[Unit]:
    """All that either label is about; parts of one name are the same part, and a part that is named fits any named one.

    Messages are those of the same number; conversations that do not have equally many have no common ones.
    """
    found: list[Unit] = []
    for number, (one, other) in enumerate(pairs):
        user, side = user_of(one), side_of(one)
        of_first, of_second = _chosen(one, first), _chosen(other, second)
        if first.part is not None or second.part is not None:
            of_first, of_second = _fitted(of_first, first), _fitted(of_second, second)
        same = len(one.messages) == len(other.messages)
        for key in dict.fromkeys([*of_first, *of_second]):
            place, part = key
            if place is None or same:
                found.append(Unit(number, user, side, place, part, of_first.get(key), of_second.get(key)))
    return found


def _chosen(conversation: Conversation, name: Named) -> dict[tuple[Place, str], Label]:
    labels = labels_of(conversation, name.key)
    return labels if name.part is None else {key: label for key, label in labels.items() if key[1] == name.part}


def _fitted(labels: Mapping[tuple[Place, str], Label], name: Named) -> dict[tuple[Place, str], Label]:
    """The labels without their part's name, where it was chosen or there is none."""
    return {(place, ""): label for (place, part), label in labels.items() if part == (name.part or "")}


def _all_labels(conversation: Conversation) -> Iterator[Mapping[str, Any]]:
    return (labels for _, labels in _held(conversation))


def _held(conversation: Conversation) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """What the conversation and each message hold: labels, and keys of a published file that its reader leaves aside,
    among which is a label of one's own."""
    yield None, {**kept_aside(conversation), **conversation.labels}
    for place, message in enumerate(conversation.messages):
        yield place, {**kept_aside(message), **message.labels}


def _parts(value: Any) -> Iterator[tuple[str, Label]]:
    for part, said in parts_of(value).items():
        each = (" + ".join(sorted(values_of(vote))) for vote in said.votes)
        texts = {
            name: text.strip() for value in (said.value, *said.votes) for name, text in spellings_of(value).items()
        }
        values = tuple(dict.fromkeys(values_of(said.value)))
        yield part, Label(values, tuple(vote for vote in each if vote), texts)


def _path(conversation: Conversation) -> str:
    stored = conversation.extra.get(STORED)
    for holder in (conversation.extra, stored if isinstance(stored, dict) else {}):
        if isinstance(path := holder.get("path"), str) and path:
            return path
    return ""


def _id(conversation: Conversation) -> str:
    return conversation.id


def _unique(conversations: Sequence[Conversation], key: Any) -> dict[str, int]:
    """The number of each conversation whose key is its alone."""
    often = Counter(key(one) for one in conversations)
    return {name: place for place, one in enumerate(conversations) if (name := key(one)) and often[name] == 1}
