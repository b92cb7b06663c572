"""The labels of conversations by name: of the conversation or of its messages, whole or one part, with their votes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeAlias

from ....data.labels.reading import AnnotationSide, Label, kept_aside, read, side_of, spellings_of, values_of
from ....data.people import STORED, user_of
from ....data.recllmsim.published_labels import INTENTS, KEYS, wording_of
from ....data.records import Conversation, Message, as_object
from ....errors import DataError

LabelPlace: TypeAlias = int | None
"""Number of the message that is labelled; None where the conversation is."""


_INTENTS_ZH: Mapping[Any, str] = {chinese: english for english, chinese in INTENTS.items()}
"""Of a translated intent the intent, with which alone it is compared."""
SOURCES = ("the first source", "the second source")
"""The names of two sources where the caller gives none."""


@dataclass(frozen=True)
class LabelColumn:
    """One label of one thing."""

    values: tuple[str, ...]
    """One, or several where a label has several at once; none in a tie of votes."""
    votes: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The text in the data for each value."""

    @property
    def value(self) -> str | None:
        """The values as one; None without any."""
        return " + ".join(sorted(self.values)) or None


@dataclass(frozen=True)
class NamedLabel:
    """A label by its name, or one part of it: `style`, `rating.Detail Level`."""

    key: str
    part: str | None = None
    stored: str = field(default="", compare=False)
    """The key of the files by which it was given, such as `strategy_V3`; empty if it was given by its name."""

    def __str__(self) -> str:
        return self.key if self.part is None else f"{self.key}.{self.part}"

    def of_part(self, part: str) -> "NamedLabel":
        """The name of a part; the label itself if it has none."""
        return NamedLabel(self.key, part, self.stored) if part else self

    def wording(self, part: str) -> tuple[str, str] | None:
        """What its part was asked with; None for a label that is no published behaviour."""
        return wording_of(self.key, self.part or part)


def named(name: str, conversations: Iterable[Conversation], where: str = "the data") -> NamedLabel:
    """The label of a name, or of a key of published files.

    DataError if no conversation has it, or none has that part, or the key holds several labels.
    """
    talks = list(conversations)
    stored, _, of_part = name.partition(".")
    if names := _names_of_key(stored, talks):
        if len(names) > 1:
            raise DataError(f"{where}: {stored!r} is the key of {' and '.join(names)} there: name one of these")
        found = named(f"{names[0]}.{of_part}" if of_part else names[0], talks, where)
        return NamedLabel(found.key, found.part, stored)
    if any(name in labels for talk in talks for _, labels in _labels_by_place(talk)):
        return NamedLabel(name)
    keys = {key for talk in talks for _, labels in _labels_by_place(talk) for key in labels}
    key, dot, part = name.partition(".")
    while dot and key not in keys and "." in part:
        more, dot, part = part.partition(".")
        key = f"{key}.{more}"
    if key not in keys:
        there = ", ".join(sorted(keys)) or "no label at all"
        raise DataError(f"{where}: no conversation has the label {key!r}; there is {there}: give one of these")
    parts = sorted({part_name for talk in talks for _, part_name in labels_of(talk, key) if part_name})
    if part not in parts:
        there = f"only {', '.join(parts)}" if parts else "none"
        raise DataError(f"{where}: the label {key!r} has no part {part!r}, {there}: give one of these, or only {key!r}")
    return NamedLabel(key, part)


def _names_of_key(key: str, talks: Iterable[Conversation]) -> list[str]:
    """The labels that stand under a key in the files of the conversations, by name; none if none has it."""
    kept = (as_object(talk.extra.get(KEYS)).items() for talk in talks)
    return sorted({name for names in kept for name, of_name in names if of_name == key})


def labels_of(conversation: Conversation, key: str) -> dict[tuple[LabelPlace, str], LabelColumn]:
    """Every label of a key in a conversation, by message number and part name.

    The name is empty for a label without parts.
    """
    columns: dict[tuple[LabelPlace, str], LabelColumn] = {}
    for place, labels in _labels_by_place(conversation):
        for label in read(key, labels[key]) if key in labels else ():
            column = _column(label)
            if not label.beside and (column.values or column.votes):
                columns[place, label.part] = column
    return columns


@dataclass(frozen=True)
class MatchedLabels:
    """Conversations of two sources that are the same one, and how many of each source have none."""

    pairs: tuple[tuple[Conversation, Conversation], ...]
    only_first: int = 0
    only_second: int = 0
    sources: tuple[str, ...] = ()
    """The names of the two sources; empty for one source."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Counts of the conversations that were left out."""
        if not self.only_first + self.only_second:
            return ()
        return (
            f"Left out: {self.only_first} conversations of {self.sources[0]} and {self.only_second} of "
            f"{self.sources[1]} that the other one does not have.",
        )


def matched(
    first: Iterable[Conversation], second: Iterable[Conversation] | None = None, sources: Sequence[str] = ()
) -> MatchedLabels:
    """The conversations of both sources with the same path below their folders, else with the same id.

    Without a second source each conversation with itself. Conversations that neither path nor id identifies are left out.
    """
    if second is None:
        return MatchedLabels(tuple((one, one) for one in first))
    first, second = list(first), list(second)
    partners: dict[int, Conversation] = {}
    taken: set[int] = set()
    for key in (_path, attrgetter("id")):
        here, there = _unique(first, key), _unique(second, key)
        for name, place in here.items():
            other = there.get(name)
            if other is not None and place not in partners and other not in taken:
                partners[place] = second[other]
                taken.add(other)
    pairs = tuple((one, partners[place]) for place, one in enumerate(first) if place in partners)
    return MatchedLabels(pairs, len(first) - len(pairs), len(second) - len(pairs), tuple(sources or SOURCES))


@dataclass(frozen=True)
class ComparedUnit:
    """One thing, a conversation or a message, with its two labels."""

    number: int
    """Of the conversation, among those that are compared."""
    user: str
    side: AnnotationSide
    place: LabelPlace
    part: str
    first: LabelColumn | None
    second: LabelColumn | None


def units(
    pairs: Iterable[tuple[Conversation, Conversation]], first: NamedLabel, second: NamedLabel
) -> list[ComparedUnit]:
    """All things that either label is about.

    Parts of one name are the same part, and a part that is named fits any named one. Messages are those of the same
    number; conversations that do not have equally many have no common ones.
    """
    compared: list[ComparedUnit] = []
    for number, (one, other) in enumerate(pairs):
        user, side = user_of(one), side_of(one)
        of_first, of_second = labels_of(one, first.key), labels_of(other, second.key)
        if first.part is not None or second.part is not None:
            of_first, of_second = _fitted(of_first, first), _fitted(of_second, second)
        same = len(one.messages) == len(other.messages)
        for key in dict.fromkeys([*of_first, *of_second]):
            place, part = key
            if place is None or same:
                compared.append(ComparedUnit(number, user, side, place, part, of_first.get(key), of_second.get(key)))
    return compared


def _fitted(
    labels: Mapping[tuple[LabelPlace, str], LabelColumn], name: NamedLabel
) -> dict[tuple[LabelPlace, str], LabelColumn]:
    """The labels without their part's name, where it was chosen or there is none."""
    return {(place, ""): label for (place, part), label in labels.items() if part == (name.part or "")}


def _labels_by_place(conversation: Conversation) -> Iterator[tuple[LabelPlace, Mapping[str, Any]]]:
    """The labels of the conversation and of each message, with the number of the message.

    Keys of a published file that its reader leaves aside are among them, since a user's own label is such a key.
    """
    holders: list[tuple[LabelPlace, Conversation | Message]] = [(None, conversation), *enumerate(conversation.messages)]
    for place, holder in holders:
        aside = kept_aside(holder)
        yield place, {**aside, **holder.labels} if aside else holder.labels


def _column(label: Label) -> LabelColumn:
    value = _INTENTS_ZH.get(label.value, label.value) if label.key == "intent_zh" else label.value
    votes = (" + ".join(sorted(values_of(vote))) for vote in label.votes)
    spellings = map(spellings_of, (value, *label.votes))
    texts = {name: text.strip() for spelled in spellings for name, text in spelled.items()}
    return LabelColumn(tuple(dict.fromkeys(values_of(value))), tuple(filter(None, votes)), texts)


def _path(conversation: Conversation) -> str:
    stored = conversation.extra.get(STORED)
    for holder in (conversation.extra, stored if isinstance(stored, dict) else {}):
        if isinstance(path := holder.get("path"), str) and path:
            return path
    return ""


def _unique(conversations: Sequence[Conversation], key: Any) -> dict[str, int]:
    """The number of each conversation whose key is its alone."""
    often = Counter(key(one) for one in conversations)
    return {name: place for place, one in enumerate(conversations) if (name := key(one)) and often[name] == 1}
