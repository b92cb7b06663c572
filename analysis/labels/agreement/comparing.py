"""The values of two labels of the same things, in groups that are never pooled; and the order of values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....data.labels.reading import SIDES, AnnotationSide
from ....errors import DataError, SettingError
from ...over_users.chance import MeasurementLevel
from ...over_users.estimate import FloatArray
from .reading import ComparedUnit, LabelColumn, MatchedLabels, NamedLabel, named, units

MOST_WORDS, MOST_NUMBERS = 60, 200
"""Different words, and numbers, beyond which a label is taken for a text."""


@dataclass(frozen=True)
class Scale:
    """The values of a label."""

    values: tuple[str, ...]
    level: MeasurementLevel
    places: FloatArray
    """Where each value stands, if they are in an order."""

    @property
    def ordered(self) -> bool:
        """Whether values may be near each other."""
        return self.level != "nominal"

    @property
    def is_text(self) -> bool:
        """Whether these are too many to be the values of a label."""
        return len(self.values) > (MOST_NUMBERS if self.level == "interval" else MOST_WORDS)


@dataclass(frozen=True)
class Group:
    """The things of one side and part that two labels are about; or one label, whose votes are compared."""

    side: AnnotationSide
    part: str
    titles: tuple[str, ...]
    """Names of the two labels, or of the one, with the part."""
    units: tuple[ComparedUnit, ...]
    """All that either label is about."""
    sources: tuple[str, ...] = ()
    """The names of the sources of the two, where there are two."""

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the labels, with their sources where there are two."""
        if not self.sources:
            return self.titles
        return tuple(f"{title} of {source}" for title, source in zip(self.titles, self.sources, strict=True))

    def of_two(self, alone: str = "") -> dict[str, Any]:
        """The first fields of a row about it; `alone`: in place of the second label where there is one."""
        against = self.titles[1] if len(self.titles) == 2 else alone
        return {"side": self.side, "label": self.titles[0], "against": against, "part": self.part}

    @property
    def labels(self) -> list[LabelColumn]:
        """Both labels of all units."""
        return [label for unit in self.units for label in (unit.first, unit.second) if label is not None]

    @property
    def judged(self) -> list[ComparedUnit]:
        """The units with a value of the second label."""
        return [unit for unit in self.units if value_of(unit.second) is not None]

    @property
    def values(self) -> set[str]:
        """The values of the labels and votes."""
        return {value for label in self.labels for value in (label.value, *label.votes) if value is not None}

    @property
    def copied(self) -> bool:
        """Whether two sources have one label under one name, with the same values and votes throughout."""
        alike = len(self.sources) == 2 and len({*self.titles}) == 1 and bool(self.both)
        return alike and all(unit.first == unit.second for unit in self.both)

    def text_of(self, value: str | None) -> str:
        """A value as the data writes it; as it is compared, where the data writes it in several ways."""
        texts: dict[str, set[str]] = {}
        for label in self.labels:
            for name, text in label.texts.items():
                texts.setdefault(name, set()).add(text)
        parts = str(value).split(" + ")
        return " + ".join(next(iter(texts[part])) if len(texts.get(part, ())) == 1 else part for part in parts)

    @property
    def both(self) -> list[ComparedUnit]:
        """The units with a value of both labels."""
        return [unit for unit in self.units if value_of(unit.first) is not None and value_of(unit.second) is not None]

    @property
    def tied(self) -> int:
        """How many units have both labels, of which at least one is a tie."""
        both = [(unit.first, unit.second) for unit in self.units if unit.first is not None and unit.second is not None]
        return sum(value_of(first) is None or value_of(second) is None for first, second in both)

    @property
    def voted(self) -> list[ComparedUnit]:
        """The units with two votes or more."""
        return [unit for unit in self.units if votes_of(unit)]


def groups(pairs: MatchedLabels, between: Iterable[Sequence[str]]) -> Iterator[Group]:
    """The groups of each pair of names, or of one name: by level (conversation or message), part and side."""
    firsts, seconds = [one for one, _ in pairs.pairs], [other for _, other in pairs.pairs]
    for label_names in between:
        if not 1 <= len(label_names) <= 2 or not all(label_names):
            raise SettingError(f"between {', '.join(label_names)!r}: give two names of labels, or one with votes")
        if len(label_names) == 1 and pairs.sources:
            raise SettingError(
                f"between {label_names[0]!r}: of one label the votes are compared, which one source has: give one source, or the "
                f"names of two labels, such as {label_names[0]},{label_names[0]}"
            )
        names = [named(label_names[0], firsts, "the first label"), named(label_names[-1], seconds, "the second label")]
        compared = units(pairs.pairs, *names)
        common = _common(compared, names, voting=len(label_names) == 1)
        _check_wordings(names, [part for _, part in common])
        for of_message, part in common:
            titles = tuple(str(name.of_part(part)) for name in names[: len(label_names)])
            for side in SIDES:
                if of_side := [one for one in compared
                               if (one.side, one.place is not None, one.part) == (side, of_message, part)]:  # fmt: skip
                    sources = pairs.sources if len(label_names) == 2 else ()
                    yield Group(side, part or names[0].part or "", titles, tuple(of_side), sources)


def check_orders(compared_groups: Iterable[Group], ordered: Iterable[Sequence[str]]) -> None:
    """SettingError for an order in which no label has all of its values."""
    there = [(group, group.values) for group in compared_groups]
    for words in ordered:
        order_words = {str(word).lower() for word in words}
        if there and not any(values <= order_words for _, values in there):
            group, values = max(there, key=lambda pair: len(pair[1] & order_words))
            missing = sorted(group.text_of(value) for value in values - order_words)
            raise SettingError(
                f"ordered {','.join(map(str, words))}: is not an order of any label: {group.titles[-1]} also has "
                f"{', '.join(missing[:5])}: give all its values from low to high"
            )


def scale_of(
    group: Group, ordered: Iterable[Sequence[str]] = (), scales: Mapping[str, Sequence[str]] | None = None
) -> Scale:
    """The values of the group's labels and votes, in their order.

    That order is that of numbers, that of the caller for words, else that of names. `scales`: values of a label or part
    by its name; `ordered`: orders for every label that has no others.
    """
    there = group.values
    of_names = [(scales or {}).get(name) for name in (*group.titles, group.part)]
    for order in [*filter(None, of_names), *ordered]:
        words = tuple(dict.fromkeys(str(value).lower() for value in order))
        if there <= {*words}:
            points = [point for word in words if (point := number_of(word)) is not None]
            if len(points) == len(words):
                return Scale(words, "interval", np.array(points))
            return Scale(words, "ordinal", np.arange(len(words), dtype=float))
    numbers = {value: number for value in there if (number := number_of(value)) is not None}
    if there and len(numbers) == len(there):
        values = tuple(sorted(there, key=lambda value: numbers[value]))
        return Scale(values, "interval", np.array([numbers[value] for value in values]))
    return Scale(tuple(sorted(there)), "nominal", np.arange(len(there), dtype=float))


def value_of(label: LabelColumn | None) -> str | None:
    """The value of a label; None without one, or in a tie."""
    return None if label is None else label.value


def votes_of(unit: ComparedUnit) -> tuple[str, ...]:
    """The votes of the judged label, else of the reference; none of fewer than two."""
    for label in (unit.second, unit.first):
        if label is not None and len(label.votes) > 1:
            return label.votes
    return ()


def _common(compared: Sequence[ComparedUnit], names: Sequence[NamedLabel], *, voting: bool) -> list[tuple[bool, str]]:
    """The levels and parts that both labels have; DataError where they have no part in common."""
    of_first = dict.fromkeys((unit.place is not None, unit.part) for unit in compared if unit.first is not None)
    of_second = dict.fromkeys((unit.place is not None, unit.part) for unit in compared if unit.second is not None)
    common = [key for key in of_first if key in of_second]
    if not common and of_first and of_second and not voting:
        parts = [", ".join(sorted({part or "no parts" for _, part in of})) for of in (of_first, of_second)]
        levels = [" and ".join(sorted({"messages" if level else "conversations" for level, _ in of}))
                  for of in (of_first, of_second)]  # fmt: skip
        raise DataError(
            f"{names[0]} and {names[1]} have no part in common: of {levels[0]} {parts[0]}; of {levels[1]} {parts[1]}: "
            f"name the parts, such as {names[0]}.PART,{names[1]}.PART"
        )
    return common


def _check_wordings(names: Sequence[NamedLabel], parts: Iterable[str]) -> None:
    """DataError for two labels that were asked with different words, unless both were given by name."""
    if not any(name.stored for name in names):
        return
    for part in parts:
        first, second = (name.wording(part) for name in names)
        if first is not None and second is not None and first != second:
            titles = [str(name.of_part(part)) for name in names]
            keys = [f"{name.stored or name} is {title}" for name, title in zip(names, titles, strict=True)]
            raise DataError(
                f"{' and '.join(keys)}: two labels with different wordings; to compare them all the same, give both by name, "
                f"such as {','.join(titles)}"
            )


def number_of(value: str) -> float | None:
    """The number that a value is; None of a word."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
