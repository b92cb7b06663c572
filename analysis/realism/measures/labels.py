"""The annotations that both sides carry: shares of their values, or their mean where the values are numbers.

They are somebody's reading of a conversation, and the two sides may have been read by different hands.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..speech import Speech

_MOST_VALUES = 20
"""A label with more different values than that is a text."""


@dataclass(frozen=True)
class Label:
    """An annotation that both sides carry."""

    name: str
    values: tuple[str, ...]
    """Its values on either side, the most frequent first."""

    @property
    def numeric(self) -> bool:
        """Whether all values are whole numbers, so that they have a mean."""
        return all(value.lstrip("-").isdigit() for value in self.values)

    def shares(self, speech: Speech) -> Mapping[str, float] | None:
        """Shares of the values in a conversation; None if it has not the label."""
        told = speech.labels.get(self.name)
        return {value: told.count(value) / len(told) for value in set(told)} if told else None

    def mean(self, speech: Speech) -> float | None:
        """Mean of a numeric label in a conversation."""
        shares = self.shares(speech)
        return None if shares is None else sum(float(value) * share for value, share in shares.items())


def labels_of(sim: Sequence[Speech], human: Sequence[Speech]) -> list[Label]:
    """The labels that both sides carry, by name, those that have one value everywhere or no few left out."""
    sides = [_counts(side) for side in (sim, human)]
    found = []
    for name in sorted(sides[0].keys() & sides[1].keys()):
        counts = {value: 0 for side in sides for value in side[name]}
        for side in sides:
            for value, count in side[name].items():
                counts[value] += count
        if 1 < len(counts) <= _MOST_VALUES:
            found.append(Label(name, tuple(sorted(counts, key=lambda value: (-counts[value], value)))))
    return found


def _counts(speeches: Iterable[Speech]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for speech in speeches:
        for name, values in speech.labels.items():
            own = counts.setdefault(name, {})
            for value in values:
                own[value] = own.get(value, 0) + 1
    return counts
