"""What several votes on one label come to: by the published rule, with a tie where it gives nothing, or weighed.

`aggregate` is the rule of the published annotations for one part, `dawid_skene` weighs each annotator by how far it can
be trusted, and `finals` gives the final value of whole labels, part by part.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, log, log2
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from ..records import Json
from .definition import LabelDefinition, PartDefinition, Vote

V = TypeVar("V", bound=Hashable)

VoteRule: TypeAlias = Literal["majority", "dawid-skene"]
"""How votes become a value: by the published rule (`aggregate`), or weighed (`dawid_skene`)."""
Ballot: TypeAlias = Sequence[Mapping[str, Any] | None]
"""The votes on one item, in the order of the annotators; None for one that was refused or could not be read."""

WIDEST = 2
"""Widest range of numbers, highest minus lowest, whose mean is taken."""
SMOOTHING = 0.01
"""Added to each count of an annotator's confusions, so that what was not seen once is not impossible."""
EVEN = 1e-9
"""Difference of two probabilities below which neither value wins."""


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
    numbers = [float(vote) for vote in ballot if not isinstance(vote, str | bool)]
    if numbers and len(numbers) < len(ballot):
        raise ValueError(f"votes {list(ballot)!r} mix numbers and words: a label has values of one kind")
    value: Vote | None = None
    if numbers:
        if max(numbers) - min(numbers) <= WIDEST:
            value = floor(sum(numbers) / len(numbers) + 0.5)
    else:
        (most, count), *_ = Counter(map(_key, ballot)).most_common(1)
        value = most[1] if 2 * count > len(ballot) else None
    return Aggregate(value, ballot, entropy_of(ballot))


def entropy_of(votes: Sequence[Vote]) -> float:
    """Entropy of votes in bits (Shannon 1948); 0 for none."""
    counts = Counter(map(_key, votes)).values()
    shares = [count / len(votes) for count in counts]
    return -sum(share * log2(share) for share in shares) if len(counts) > 1 else 0.0


def _key(vote: Vote) -> tuple[type, Vote]:
    """What makes two votes the same one: in Python True is 1, too."""
    return (bool if isinstance(vote, bool) else str if isinstance(vote, str) else float, vote)


class VoteResult(NamedTuple, Generic[V]):
    """What weighed votes come to."""

    values: tuple[V | None, ...]
    """The most probable value of each item; None if two are equally probable, or without votes."""
    probabilities: tuple[dict[V, float], ...]
    """The probability of each value, by item; they add up to 1."""
    confusions: tuple[dict[V, dict[V, float]], ...]
    """For each annotator and true value, how often it votes for each value."""


def dawid_skene(
    votes: Sequence[Sequence[V | None]], *, rounds: int = 100, tolerance: float = 1e-6, smoothing: float = SMOOTHING
) -> VoteResult[V]:
    """What votes come to if each annotator errs in ways of its own.

    `votes`: for each item the vote of each annotator, always in the same order; None where one gave none. It begins
    with the shares of the votes. Then it estimates in turn the errors of each annotator and the value of each item. It
    ends when no probability changes by more than `tolerance`, or after `rounds` rounds. ValueError for items of
    different lengths.

    A. P. Dawid and A. M. Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm", Journal
    of the Royal Statistical Society, Series C, 28 (1), 1979, section 3. With few items or one annotator its result is
    that of the majority.

    >>> dawid_skene([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"]]).values
    ('a', 'b', 'a')
    """
    if len({len(item) for item in votes}) > 1:
        raise ValueError("items have different numbers of annotators: give None for a vote that is missing")
    values = list(dict.fromkeys(vote for item in votes for vote in item if vote is not None))

    def errors(probable: Sequence[dict[V, float]]) -> tuple[dict[V, float], list[dict[V, dict[V, float]]]]:
        """The prior and each annotator's confusions, from what each item probably is."""
        prior = {true: sum(shares[true] for shares in probable) / max(1, len(probable)) for true in values}
        confusions: list[dict[V, dict[V, float]]] = []
        for annotator in range(len(votes[0]) if votes else 0):
            counts = {true: dict.fromkeys(values, smoothing) for true in values}
            for item, shares in zip(votes, probable, strict=True):
                if (vote := item[annotator]) is not None:
                    for true in values:
                        counts[true][vote] += shares[true]
            confusions.append({true: _normal(row) for true, row in counts.items()})
        return prior, confusions

    def posterior(item: Sequence[V | None]) -> dict[V, float]:
        """What the item probably is, given how each annotator errs."""
        logs = {
            true: _log(prior[true])
            + sum(_log(confusions[n][true][vote]) for n, vote in enumerate(item) if vote is not None)
            for true in values
        }
        highest = max(logs.values(), default=0.0)
        return _normal({true: exp(value - highest) for true, value in logs.items()})

    probable = [_normal({value: float(item.count(value)) for value in values}) for item in votes]
    prior, confusions = errors(probable)
    for _ in range(rounds):
        before, probable = probable, [posterior(item) for item in votes]
        prior, confusions = errors(probable)
        if all(abs(now[v] - was[v]) <= tolerance for now, was in zip(probable, before, strict=True) for v in values):
            break
    winners = tuple(_winner(shares, item) for shares, item in zip(probable, votes, strict=True))
    return VoteResult(winners, tuple(probable), tuple(confusions))


def _winner(probable: dict[V, float], item: Sequence[V | None]) -> V | None:
    if all(vote is None for vote in item):
        return None
    ranked = sorted(probable.items(), key=lambda pair: -pair[1])
    return None if len(ranked) > 1 and ranked[0][1] - ranked[1][1] < EVEN else ranked[0][0]


def _normal(row: dict[V, float]) -> dict[V, float]:
    total = sum(row.values())
    return {value: weight / total if total else 1 / len(row) for value, weight in row.items()}


def _log(share: float) -> float:
    return log(max(share, 1e-300))


def finals(label: LabelDefinition, items: Sequence[Ballot], rule: VoteRule = "majority") -> list[Json | None]:
    """The final value of each item, or `None`.

    A part in which nothing wins is `None`, and so is an item without any vote.

    `items`: ballots of equal length, if the rule is `dawid-skene`. A word or number needs valid votes of more than half of
    those who were asked. Of a list, such as several intents, those of its values win that more than half named. A text
    is the one of the first annotator that agrees with the rest of the final value: texts are not counted.
    """
    weighed: list[dict[str, Vote | None]] = [{} for _ in items]
    for name, part in label.parts.items() if rule == "dawid-skene" else ():
        if not part.text and part.several is None:
            ballots = [[None if vote is None else vote.get(name) for vote in ballot] for ballot in items]
            for of_item, value in zip(weighed, dawid_skene(ballots).values, strict=True):
                of_item[name] = value
    return [_final(label, ballot, of_item) for ballot, of_item in zip(items, weighed, strict=True)]


def _final(label: LabelDefinition, ballot: Ballot, weighed: Mapping[str, Vote | None]) -> Json | None:
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
        elif name in weighed:
            final[name] = weighed[name]
        elif 2 * len(values) > voters:
            final[name] = aggregate(values).value
    return final


def _several(part: PartDefinition, lists: Sequence[Sequence[Vote]], voters: int) -> list[Vote] | None:
    assert part.several is not None
    named = list(dict.fromkeys(value for vote in lists for value in vote))
    won = [value for value in named if 2 * sum(value in vote for vote in lists) > voters]
    return won if 2 * len(lists) > voters and part.several[0] <= len(won) <= part.several[1] else None
