"""What several votes on one label come to: the published rule, and a tie where it gives nothing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log2
from typing import TypeAlias

Vote: TypeAlias = str | int | float | bool
"""One value that was voted for: a word, yes or no, or a number of a scale."""

WIDEST = 2
"""Widest range of numbers, highest minus lowest, whose mean is taken."""


@dataclass(frozen=True)
class Aggregate:
    """What votes come to."""

    value: Vote | None
    """The value that wins; None in a tie, which is an abstention and no value."""
    votes: tuple[Vote, ...]
    """The votes in their order."""
    entropy: float
    """Entropy of the votes in bits: 0 if all agree, log2 of their number if none agree."""

    @property
    def tie(self) -> bool:
        """Whether nothing wins."""
        return self.value is None

    @property
    def unanimous(self) -> bool:
        """Whether all votes are the same."""
        return self.entropy == 0


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
    numeric = [not isinstance(vote, str | bool) for vote in ballot]
    if any(numeric) != all(numeric):
        raise ValueError(f"votes {list(ballot)!r} mix numbers and words: a label has values of one kind")
    value = _of_numbers(ballot) if all(numeric) else _of_words(ballot)
    return Aggregate(value, ballot, entropy_of(ballot))


def entropy_of(votes: Sequence[Vote]) -> float:
    """Entropy of votes in bits (Shannon 1948); 0 for none."""
    counts = Counter(map(_key, votes)).values()
    shares = [count / len(votes) for count in counts]
    return -sum(share * log2(share) for share in shares) if len(counts) > 1 else 0.0


def _of_words(votes: tuple[Vote, ...]) -> Vote | None:
    (most, count), *_ = Counter(map(_key, votes)).most_common(1)
    return most[1] if 2 * count > len(votes) else None


def _of_numbers(votes: tuple[Vote, ...]) -> Vote | None:
    numbers = [float(vote) for vote in votes]
    if max(numbers) - min(numbers) > WIDEST:
        return None
    return floor(sum(numbers) / len(numbers) + 0.5)


def _key(vote: Vote) -> tuple[type, Vote]:
    """What makes two votes the same one: in Python True is 1, too."""
    return (bool if isinstance(vote, bool) else str if isinstance(vote, str) else float, vote)
