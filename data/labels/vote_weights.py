"""Votes weighed by how far each annotator can be trusted: the estimate of Dawid and Skene, without any true value."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Generic, TypeVar

V = TypeVar("V", bound=Hashable)

SMOOTHING = 0.01
"""Added to each count of an annotator's confusions, so that what was not seen once is not impossible."""
EVEN = 1e-9
"""Difference of two probabilities below which neither value wins."""


@dataclass(frozen=True)
class VoteResult(Generic[V]):
    """What votes come to."""

    values: tuple[V | None, ...]
    """The most probable value of each item; None if two are equally probable, or without votes."""
    probabilities: tuple[dict[V, float], ...]
    """The probability of each value, by item; they add up to 1."""
    prior: dict[V, float]
    """How often each value is the true one, as estimated."""
    confusions: tuple[dict[V, dict[V, float]], ...]
    """For each annotator and true value, how often it votes for each value."""
    rounds: int
    """Rounds of the estimate."""


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
    annotators = range(len(votes[0]) if votes else 0)
    probable = [_shares(item, values) for item in votes]
    done = 0
    prior, confusions = _errors(votes, probable, values, annotators, smoothing)
    for _ in range(rounds):
        done, before = done + 1, probable
        probable = [_posterior(item, values, prior, confusions) for item in votes]
        prior, confusions = _errors(votes, probable, values, annotators, smoothing)
        if all(abs(now[v] - was[v]) <= tolerance for now, was in zip(probable, before, strict=True) for v in values):
            break
    return VoteResult(
        tuple(_winner(shares, item) for shares, item in zip(probable, votes, strict=True)),
        tuple(probable),
        prior,
        confusions,
        done,
    )


def _shares(item: Sequence[V | None], values: Sequence[V]) -> dict[V, float]:
    valid = [vote for vote in item if vote is not None]
    return {v: valid.count(v) / len(valid) if valid else 1 / len(values) for v in values}


def _errors(
    votes: Sequence[Sequence[V | None]],
    probable: Sequence[dict[V, float]],
    values: Sequence[V],
    annotators: Sequence[int],
    smoothing: float,
) -> tuple[dict[V, float], tuple[dict[V, dict[V, float]], ...]]:
    """The prior and each annotator's confusions, from what each item probably is."""
    prior = {v: sum(shares[v] for shares in probable) / max(1, len(probable)) for v in values}
    confusions = []
    for annotator in annotators:
        counts = {true: dict.fromkeys(values, smoothing) for true in values}
        for item, shares in zip(votes, probable, strict=True):
            if (vote := item[annotator]) is not None:
                for true in values:
                    counts[true][vote] += shares[true]
        confusions.append({true: _normal(row) for true, row in counts.items()})
    return prior, tuple(confusions)


def _posterior(
    item: Sequence[V | None],
    values: Sequence[V],
    prior: dict[V, float],
    confusions: Sequence[dict[V, dict[V, float]]],
) -> dict[V, float]:
    """What the item probably is, given how each annotator errs."""
    logs = {}
    for true in values:
        seen = (confusions[n][true][vote] for n, vote in enumerate(item) if vote is not None)
        logs[true] = _log(prior[true]) + sum(map(_log, seen))
    highest = max(logs.values(), default=0.0)
    return _normal({true: exp(value - highest) for true, value in logs.items()})


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
