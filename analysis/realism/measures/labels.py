"""The annotations that both sides carry: shares of their values, or their mean where the values are numbers.

They are the judgement of annotators, and the two sides may have been annotated by different people.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .transcripts import UserTranscript

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

    def shares(self, transcript: UserTranscript) -> Mapping[str, float] | None:
        """Shares of the values in a conversation; None if it does not carry the label."""
        values = transcript.labels.get(self.name)
        return {value: values.count(value) / len(values) for value in set(values)} if values else None

    def mean(self, transcript: UserTranscript) -> float | None:
        """Mean of a numeric label in a conversation."""
        shares = self.shares(transcript)
        return None if shares is None else sum(float(value) * share for value, share in shares.items())


def labels_of(sim: Sequence[UserTranscript], human: Sequence[UserTranscript]) -> list[Label]:
    """The labels that both sides carry, by name; without those that have one value only, or more than 20."""
    sides = [_counts(side) for side in (sim, human)]
    labels = []
    for name in sorted(sides[0].keys() & sides[1].keys()):
        counts = {value: 0 for side in sides for value in side[name]}
        for side in sides:
            for value, count in side[name].items():
                counts[value] += count
        if 1 < len(counts) <= _MOST_VALUES:
            labels.append(Label(name, tuple(sorted(counts, key=lambda value: (-counts[value], value)))))
    return labels


def _counts(transcripts: Iterable[UserTranscript]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for transcript in transcripts:
        for name, values in transcript.labels.items():
            of_label = counts.setdefault(name, {})
            for value in values:
                of_label[value] = of_label.get(value, 0) + 1
    return counts
