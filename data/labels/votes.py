"""What several votes on one label come to, by the rule of the published annotations.

`aggregate` is the rule for one part; `final_value` gives the value of a whole label, part by part.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log2
from typing import Any, TypeAlias

from ..records import Json
from .definition import LabelDefinition, PartDefinition, Vote

Ballot: TypeAlias = Sequence[Mapping[str, Any] | None]
"""The votes on one item, in the order of the annotators; None for one that was refused or could not be read."""

WIDEST = 2
"""Widest range of numbers, highest minus lowest, whose mean is taken."""


@dataclass(frozen=True)
class Aggregate:
    """What votes come to."""

    value: Vote | None
    """The value that wins; None in a tie, which is an abstention and no value."""
    votes: tuple[Vote, ...]
    """The votes in their order."""

    @property
    def entropy(self) -> float:
        """Entropy of the votes in bits: 0 if all agree, log2 of their number if none agree."""
        return entropy_of(self.votes)

    @property
    def tie(self) -> bool:
        """Whether nothing wins."""
        return self.value is None


def aggregate(votes: Sequence[Vote]) -> Aggregate:
    """What votes come to by the rule of the published annotations.

    Words, yes and no: what more than half of the votes are, so two of three. Numbers whose range is at most 2: their
    mean, rounded to the nearest whole number, halves upwards. Else a tie. ValueError for no votes, and for numbers
    mixed with words. The rule gives every `final` of the published votes, none of which is a tie: there everything was asked
    again until it gave a value, so those votes are selected. ("To What Extent Can LLMs Assist in User
    Simulation for Task-Oriented Conversations"; "Human vs. Agent in Task-Oriented Conversations")

    >>> aggregate(["High", "Low", "High"]).value, aggregate([3, 4, 5]).value, aggregate([1, 3, 5]).value
    ('High', 4, None)
    """
    ballot = tuple(votes)
    if not ballot:
        raise ValueError("no votes: give at least one")
    numbers = [float(vote) for vote in ballot if not isinstance(vote, str | bool)]
    if numbers and len(numbers) < len(ballot):
        raise ValueError(f"votes {list(ballot)!r} mix numbers and words: a label has values of one kind")
    value: Vote | None = None
    if numbers:
        if max(numbers) - min(numbers) <= WIDEST:
            value = floor(sum(numbers) / len(numbers) + 0.5)
    else:
        (most, number), *_ = Counter(map(_key, ballot)).most_common(1)
        value = most[1] if 2 * number > len(ballot) else None
    return Aggregate(value, ballot)


def entropy_of(votes: Sequence[Vote]) -> float:
    """Entropy of votes in bits (Shannon 1948); 0 for none."""
    counts = Counter(map(_key, votes)).values()
    shares = [count / len(votes) for count in counts]
    return -sum(share * log2(share) for share in shares) if len(counts) > 1 else 0.0


def _key(vote: Vote) -> tuple[type, Vote]:
    """What makes two votes the same one: in Python True is 1, too."""
    return (bool if isinstance(vote, bool) else str if isinstance(vote, str) else float, vote)


def final_value(label: LabelDefinition, ballot: Ballot) -> Json | None:
    """The value that the votes on an item come to; None for a part in which nothing wins, and without any vote.

    A word or number needs valid votes of more than half of those who were asked. Of a list, such as several intents,
    those of its values win that more than half named. A text is the one of the first annotator that agrees with the rest
    of the value: texts are not counted.
    """
    valid = [vote for vote in ballot if vote is not None]
    if not valid:
        return None
    final: dict[str, Any] = dict.fromkeys(label.parts)
    # A part that depends on another comes after it, and a text after everything that can be counted.
    for name in sorted(label.parts, key=lambda name: (label.parts[name].text, bool(label.parts[name].only_if))):
        part = label.parts[name]
        if not label.applies(name, final):
            continue
        values = [vote[name] for vote in valid if vote.get(name) is not None and label.applies(name, vote)]
        voters = len(values) if part.only_if else len(ballot)
        if part.text:
            counted = [other for other, of_other in label.parts.items() if not of_other.text]
            agreeing = (vote for vote in valid if all(vote.get(other) == final[other] for other in counted))
            final[name] = next((vote[name] for vote in agreeing if vote.get(name) is not None), None)
        elif part.several is not None:
            final[name] = _several(part, values, voters)
        elif 2 * len(values) > voters:
            final[name] = aggregate(values).value
    return final


def _several(part: PartDefinition, lists: Sequence[Sequence[Vote]], voters: int) -> list[Vote] | None:
    assert part.several is not None
    named = list(dict.fromkeys(value for vote in lists for value in vote))
    won = [value for value in named if 2 * sum(value in vote for vote in lists) > voters]
    return won if 2 * len(lists) > voters and part.several[0] <= len(won) <= part.several[1] else None
