"""The labels of conversations by name: of the conversation or of its messages, matched, and in groups never pooled."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from ...data.labels.reading import REMARKS, SIDES, AnnotationSide, parts_of, side_of, values_of
from ...data.people import STORED, user_of
from ...data.recllmsim.published_labels import INTENTS, KEYS
from ...data.records import Conversation, Label, as_object
from ...errors import DataError, SettingError
from ..coefficients import FloatArray, MeasurementLevel

LabelPlace: TypeAlias = int | None
"""Number of the message that is labelled; None where the conversation is."""

_INTENTS_ZH: Mapping[Any, str] = {chinese: english for english, chinese in INTENTS.items()}
"""Of a translated intent the intent, with which alone it is compared."""


@dataclass(frozen=True)
class LabelColumn:
    """One label of one thing."""

    values: tuple[str, ...]
    """One, or several where a label has several at once; none in a tie of votes."""
    votes: tuple[str, ...] = ()

    @property
    def value(self) -> str | None:
        """The values as one; None without any."""
        return " + ".join(sorted(self.values)) or None


class NamedLabel(NamedTuple):
    """A label by its name, or one part of it: `style`, `rating.Detail Level`."""

    key: str
    part: str | None = None

    def of_part(self, part: str) -> str:
        """Its name, with a part of it that is not in the name yet."""
        return ".".join(filter(None, (self.key, part or self.part)))


def named(name: str, conversations: Sequence[Conversation], where: str = "the data") -> NamedLabel:
    """The label of a name, or of a key of published files.

    DataError if no conversation has it, or none has that part, or the key holds several labels.
    """
    stored, _, of_part = name.partition(".")
    kept = (as_object(talk.extra.get(KEYS)).items() for talk in conversations)
    if names := sorted({label for pairs in kept for label, key in pairs if key == stored}):
        if len(names) > 1:
            raise DataError(f"{where}: {stored!r} is the key of {' and '.join(names)} there: name one of these")
        name = f"{names[0]}.{of_part}" if of_part else names[0]
    keys = {key for talk in conversations for _, labels in _by_place(talk) for key in labels}
    words = name.split(".")
    key = next((key for n in range(len(words), 0, -1) if (key := ".".join(words[:n])) in keys), "")
    if not key:
        there = ", ".join(sorted(keys)) or "no label at all"
        raise DataError(f"{where}: no conversation has the label {name!r}; there is {there}: give one of these")
    part = name[len(key) + 1 :] or None
    parts = sorted({part_name for talk in conversations for _, part_name in labels_of(talk, key) if part_name})
    if part is not None and part not in parts:
        there = f"only {', '.join(parts)}" if parts else "none"
        raise DataError(f"{where}: the label {key!r} has no part {part!r}, {there}: give one of these, or only {key!r}")
    return NamedLabel(key, part)


def labels_of(conversation: Conversation, key: str) -> dict[tuple[LabelPlace, str], LabelColumn]:
    """Every label of a key in a conversation, by message number and part, which is empty for a label without parts."""
    columns: dict[tuple[LabelPlace, str], LabelColumn] = {}
    for place, labels in _by_place(conversation):
        for part, label in parts_of(key, labels[key]).items() if key in labels else ():
            column = _column(key, label)
            if part not in REMARKS and (column.values or column.votes):
                columns[place, part] = column
    return columns


def matched(
    first: Iterable[Conversation], second: Iterable[Conversation] | None = None
) -> list[tuple[Conversation, Conversation]]:
    """The conversations of both sources with the same path below their folders, else with the same id.

    Without a second source each conversation with itself. Conversations that neither path nor id identifies are left out.
    """
    if second is None:
        return [(one, one) for one in first]
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
    return [(one, partners[place]) for place, one in enumerate(first) if place in partners]


class ComparedUnit(NamedTuple):
    """One thing, a conversation or a message, with its two labels."""

    user: str
    side: AnnotationSide
    of_message: bool
    part: str
    first: LabelColumn | None
    second: LabelColumn | None

    @property
    def values(self) -> tuple[str | None, str | None]:
        """The value of each label; None without one, or in a tie."""
        first, second = (None if label is None else label.value for label in (self.first, self.second))
        return first, second

    @property
    def votes(self) -> tuple[str, ...]:
        """The votes of the judged label, else of the reference; none of fewer than two."""
        voted = (label.votes for label in (self.second, self.first) if label is not None and len(label.votes) > 1)
        return next(voted, ())


@dataclass(frozen=True)
class Group:
    """The things of one side and part that two labels are about; or one label, whose votes are compared."""

    side: AnnotationSide
    part: str
    titles: tuple[str, ...]
    """Names of the two labels, or of the one, with the part."""
    units: tuple[ComparedUnit, ...]
    """All that either label is about."""

    @property
    def labels(self) -> list[LabelColumn]:
        """Both labels of all units."""
        return [label for unit in self.units for label in (unit.first, unit.second) if label is not None]

    @property
    def values(self) -> set[str]:
        """The values of the labels and votes."""
        return {value for label in self.labels for value in (label.value, *label.votes) if value is not None}

    @property
    def both(self) -> list[ComparedUnit]:
        """The units with a value of both labels."""
        return [unit for unit in self.units if None not in unit.values]


def groups(pairs: Sequence[tuple[Conversation, Conversation]], names: Sequence[str]) -> Iterator[Group]:
    """The groups of two names, or of one: by level (conversation or message), part and side.

    Parts of one name are the same part, and a part that is named fits any named one. DataError where there is none.
    """
    if not 1 <= len(names) <= 2 or not all(names):
        raise SettingError(f"between {', '.join(names)!r}: give two names of labels, or one with votes")
    first = named(names[0], [one for one, _ in pairs], "the first label")
    second = named(names[-1], [other for _, other in pairs], "the second label")
    compared = [unit for pair in pairs for unit in _units(*pair, first, second)]
    sides = [{(one.of_message, one.part) for one in compared if label(one) is not None}
             for label in (attrgetter("first"), attrgetter("second"))]  # fmt: skip
    common = [
        key for key in dict.fromkeys((one.of_message, one.part) for one in compared) if key in sides[0] & sides[1]
    ]
    if not common and all(sides):
        parts = [", ".join(sorted(f"{'messages' if level else 'conversations'}: {part or 'whole'}"
                                  for level, part in of)) for of in sides]  # fmt: skip
        raise DataError(
            f"{names[0]} and {names[-1]} have no part in common: of {parts[0]}; of {parts[1]}: name the parts, such as "
            f"{names[0]}.PART,{names[-1]}.PART"
        )
    for of_message, part in common:
        titles = tuple(label.of_part(part) for label in (first, second)[: len(names)])
        for side in SIDES:
            key = side, of_message, part
            own = tuple(one for one in compared if (one.side, one.of_message, one.part) == key)
            if own:
                yield Group(side, part or first.part or "", titles, own)


@dataclass(frozen=True)
class Scale:
    """The values of a label in their order: of numbers, of the caller for words, else of names."""

    values: tuple[str, ...]
    level: MeasurementLevel
    places: FloatArray
    """Where each value stands, if they are in an order."""

    @classmethod
    def of(
        cls, group: Group, ordered: Iterable[Sequence[str]] = (), scales: Mapping[str, Sequence[str]] | None = None
    ) -> "Scale":
        """Of the group's labels and votes.

        `scales`: values of a label or part by its name; `ordered`: orders for every label that has no others.
        """
        import numpy as np

        there = group.values
        of_names = [(scales or {}).get(name) for name in (*group.titles, group.part)]
        for order in [*filter(None, of_names), *ordered]:
            words = tuple(dict.fromkeys(str(value).lower() for value in order))
            if there <= {*words}:
                points = [number_of(word) for word in words]
                numbers = [point for point in points if point is not None]
                if len(numbers) == len(words):
                    return cls(words, "interval", np.array(numbers))
                return cls(words, "ordinal", np.arange(len(words), dtype=float))
        by_value = {value: number for value in there if (number := number_of(value)) is not None}
        if there and len(by_value) == len(there):
            values = tuple(sorted(there, key=lambda value: by_value[value]))
            return cls(values, "interval", np.array([by_value[value] for value in values]))
        return cls(tuple(sorted(there)), "nominal", np.arange(len(there), dtype=float))

    @property
    def is_text(self) -> bool:
        """Whether these are too many to be the values of a label."""
        return len(self.values) > (200 if self.level == "interval" else 60)


def number_of(value: str) -> float | None:
    """The number that a value is; None of a word."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _units(one: Conversation, other: Conversation, first: NamedLabel, second: NamedLabel) -> Iterator[ComparedUnit]:
    """All things that either label is about; messages of the same number, where both have equally many."""
    of_first, of_second = labels_of(one, first.key), labels_of(other, second.key)
    if first.part is not None or second.part is not None:
        of_first, of_second = _of_part(of_first, first.part), _of_part(of_second, second.part)
    user, side = user_of(one), side_of(one)
    same = len(one.messages) == len(other.messages)
    for place, part in dict.fromkeys([*of_first, *of_second]):
        if place is None or same:
            both = of_first.get((place, part)), of_second.get((place, part))
            yield ComparedUnit(user, side, place is not None, part, *both)


def _of_part(
    labels: Mapping[tuple[LabelPlace, str], LabelColumn], name: str | None
) -> dict[tuple[LabelPlace, str], LabelColumn]:
    """The labels without their part's name, where it was chosen or there is none."""
    return {(place, ""): label for (place, part), label in labels.items() if part == (name or "")}


def _by_place(conversation: Conversation) -> Iterator[tuple[LabelPlace, Mapping[str, Label]]]:
    """The labels of the conversation and of each message, with the number of the message."""
    yield None, conversation.labels
    yield from enumerate(message.labels for message in conversation.messages)


def _column(key: str, label: Label) -> LabelColumn:
    value = _INTENTS_ZH.get(label.value, label.value) if key == "intent_zh" else label.value
    votes = (" + ".join(sorted(values_of(vote))) for vote in label.votes)
    return LabelColumn(tuple(dict.fromkeys(values_of(value))), tuple(filter(None, votes)))


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
