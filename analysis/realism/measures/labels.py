"""The annotations that both sides carry: shares of their values, or their mean where the values are numbers.

They are the judgement of annotators, and the two sides may have been annotated by different people.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .transcripts import UserTranscript

_MOST_VALUES = 20
"""A label in words with more different values than that is a text."""
_MOST_NAMED = 5
"""Most values of a side that a reason names."""
_LONGEST_NAMED = 40
"""Longest value, in characters, that a reason quotes whole."""
_YES_OR_NO = frozenset({"yes", "no"})
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")


@dataclass(frozen=True)
class LabelMeasure:
    """An annotation that both sides carry."""

    name: str
    values: tuple[str, ...]
    """Its values on either side, the most frequent first."""
    refused: str = ""
    """Why the sides cannot be compared by it, in a line; empty if they can."""

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers, so that they have a mean."""
        return all(map(_is_number, self.values))

    def shares(self, transcript: UserTranscript) -> Mapping[str, float] | None:
        """Shares of the values in a conversation; None if it does not carry the label."""
        values = transcript.labels.get(self.name)
        return {value: values.count(value) / len(values) for value in set(values)} if values else None

    def mean(self, transcript: UserTranscript) -> float | None:
        """Mean of a numeric label in a conversation."""
        shares = self.shares(transcript)
        return None if shares is None else sum(float(value) * share for value, share in shares.items())


def labels_of(sim: Sequence[UserTranscript], human: Sequence[UserTranscript]) -> list[LabelMeasure]:
    """The labels that both sides carry, by name; incomparable ones hold the reason (`LabelMeasure.refused`)."""
    of_sim, of_human = _counts(sim), _counts(human)
    labels = []
    for name in sorted(of_sim.keys() & of_human.keys()):
        counts = of_sim[name] + of_human[name]
        values = tuple(sorted(counts, key=lambda value: (-counts[value], value)))
        labels.append(LabelMeasure(name, values, _refused(of_sim[name].keys(), of_human[name].keys())))
    return labels


def _refused(sim: Iterable[str], human: Iterable[str]) -> str:
    """Why two sides with these values of a label cannot be compared; empty if they can.

    Numbers are a scale, of which a side need not use every point, and yes and no are one set. Any other value that one
    side alone has may be one that the other side's annotators could not choose.
    """
    of_sim, of_human = set(sim), set(human)
    both = of_sim | of_human
    sim_numeric, human_numeric = (all(map(_is_number, values)) for values in (of_sim, of_human))
    if len(both) == 1:
        return f"the label has one value only: {_listed(both)}"
    if sim_numeric and human_numeric:
        return ""
    if sim_numeric is not human_numeric and not (of_sim & of_human):
        kinds = ["numbers" if numeric else "words" for numeric in (sim_numeric, human_numeric)]
        return f"the values are {kinds[0]} on the simulated side and {kinds[1]} on people's side"
    if len(both) > _MOST_VALUES:
        return f"the label has {len(both)} different values, more than {_MOST_VALUES}: it is a text, no category"
    if of_sim == of_human or both <= _YES_OR_NO:
        return ""
    alone = [
        f"{_listed(values)} on {side} alone"
        for values, side in ((of_sim - of_human, "the simulated side"), (of_human - of_sim, "people's side"))
        if values
    ]
    return f"the sides have different values: {', '.join(alone)}"


def _listed(values: Iterable[str]) -> str:
    """The values in quotation marks; only the first ones if there are many."""
    names = sorted(values)
    quoted = [f"'{name if len(name) <= _LONGEST_NAMED else name[: _LONGEST_NAMED - 1] + '…'}'" for name in names]
    if len(names) > _MOST_NAMED:
        return f"{', '.join(quoted[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}" if len(quoted) > 1 else quoted[0]


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None and math.isfinite(float(value))


def _counts(transcripts: Iterable[UserTranscript]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for transcript in transcripts:
        for name, values in transcript.labels.items():
            counts.setdefault(name, Counter()).update(values)
    return counts
