"""Shares of every kind of message, estimated from counts, and the probability that a draft is accepted.

Rejection sampling (von Neumann 1951): drafts with the shares q that are accepted with the probability p / (M q) have
the shares p. Here the draft at the bound is always accepted, and M is chosen for that.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import TypeAlias

from .traits import TraitCell, cells

PRIOR = 0.5
"""Added to the count of each value of a trait (Jeffreys), as a value without a message may still occur."""
STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0)
"""How many messages the shares of independent traits may count as; the best for messages left out one by one is taken."""

Marginal: TypeAlias = tuple[float, ...]
"""The share of each value of one trait."""


@dataclass(frozen=True)
class Shares:
    """The share of each cell among messages, and of each value of each trait."""

    joint: Mapping[TraitCell, float] = field(repr=False)
    """Of every cell that there can be; together 1."""
    marginals: tuple[Marginal, ...] = field(repr=False)
    """The classes of length first, then no and yes for each trait."""
    """Drawn towards each other a little, so that no share is 0."""
    having: tuple[float, ...]
    """Of each trait the share of messages that have it, as counted."""
    counted: int

    @classmethod
    def of(cls, counted: Iterable[TraitCell], classes: int, spare: float = 0.0) -> "Shares":
        """The shares of these messages: the counts of the cells, drawn towards those of independent traits.

        p(x) = (n(x) + s i(x)) / (n + s), where i is the product of the traits' own shares. The strength s is the one of
        `STRENGTHS` that gives each message the greatest mean log share when it is left out itself. `spare`: so many
        messages more, as likely in one cell as in any other.
        """
        counts = Counter(counted)
        total = counts.total()
        every = list(cells(classes))
        sizes = [classes] + [2] * (len(every[0]) - 1)
        marginals = tuple(
            tuple(
                (PRIOR + sum(n for cell, n in counts.items() if cell[place] == value)) / (PRIOR * size + total)
                for value in range(size)
            )
            for place, size in enumerate(sizes)
        )
        alone = {cell: _product(cell, marginals) for cell in every}
        strength = max(STRENGTHS, key=lambda strength: _left_out(counts, alone, strength))
        even, rest = spare / len(every), total + strength + spare
        joint = {cell: (counts[cell] + strength * alone[cell] + even) / rest for cell in every}
        having = (sum(n for cell, n in counts.items() if cell[place]) / total for place in range(1, len(sizes)))
        return cls(joint, marginals, tuple(having), total)


def _product(cell: TraitCell, marginals: Sequence[Marginal]) -> float:
    share = 1.0
    for place, value in enumerate(cell):
        share *= marginals[place][value]
    return share


def _left_out(counts: Counter[TraitCell], alone: Mapping[TraitCell, float], strength: float) -> float:
    """Sum of the log shares of the messages, each left out of the counts of its own cell."""
    rest = counts.total() - 1 + strength
    return sum(n * log((n - 1 + strength * alone[cell]) / rest) for cell, n in counts.items())


def distance(some: Mapping[TraitCell, float], others: Mapping[TraitCell, float]) -> float:
    """Total variation: half the sum of the differences of the shares, 0 to 1."""
    return sum(abs(some.get(cell, 0.0) - others.get(cell, 0.0)) for cell in {*some, *others}) / 2


def coming_out(people: Shares, drafts: Shares, scale: float, most: int) -> dict[TraitCell, float]:
    """The shares of accepted drafts, for drafts with the shares `drafts`.

    M is `scale`, and the draft numbered `most` is always accepted.
    """
    accepted = {cell: share * min(1.0, people.joint[cell] / (scale * share)) for cell, share in drafts.joint.items()}
    rate = sum(accepted.values())
    never = (1 - rate) ** (most - 1)
    times = (1 - never) / rate if rate > 0 else most - 1.0
    return {cell: accepted[cell] * times + never * share for cell, share in drafts.joint.items()}


def scale_for(people: Shares, drafts: Shares, most: int) -> float:
    """M: the weight p / q of a cell that brings the accepted drafts nearest to people.

    The greatest weight would follow people exactly if there were any number of drafts. With few drafts, a smaller M
    accepts earlier, so fewer of them are taken only because no further one is allowed.
    """
    weights = sorted({people.joint[cell] / share for cell, share in drafts.joint.items()})
    # Every cell's weight is tried, as long as there are few; of many, evenly chosen ones.
    step = max(1, len(weights) // 100)
    tried = [*weights[::step], weights[-1]]
    return min(tried, key=lambda scale: distance(coming_out(people, drafts, scale, most), people.joint))
