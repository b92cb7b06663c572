"""What a user finds out about assistants of known order: agreement, size of differences, criteria, user faults."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from ...data.records import Conversation
from ..outcomes import scenario_key, score_of
from ..user_faults import user_fault
from .meetings import satisfaction_in

LinkOutcome: TypeAlias = Literal["success", "satisfaction", "cost"]
OUTCOMES: tuple[LinkOutcome, ...] = get_args(LinkOutcome)
"""Share of successes; the user's satisfaction by its rule or model, 1 to 5; characters of both sides' messages."""

BAND = 0.95
"""The band of a re-drawn run: this quantile, over assistants, of the difference between two sets of scenarios."""


@dataclass(frozen=True)
class KnownPair:
    """Two assistants of which one is known to be better, by an outcome that their fault should change."""

    outcome: LinkOutcome
    better: str
    worse: str
    neighbours: bool
    """Whether no assistant of known order is between them."""


def pairs_of(chains: Sequence[Sequence[str]], outcomes: Sequence[Sequence[LinkOutcome]]) -> tuple[KnownPair, ...]:
    """All pairs of each chain, best first, by each of its outcomes."""
    return tuple(
        KnownPair(outcome, chain[i], chain[j], j == i + 1)
        for chain, shown_by in zip(chains, outcomes, strict=True)
        for outcome in shown_by
        for i in range(len(chain))
        for j in range(i + 1, len(chain))
    )


@dataclass(frozen=True)
class UserOutcomes:
    """A user's conversations with each assistant in one domain, about two sets of scenarios."""

    user: str
    domain: str
    sets: tuple[Mapping[str, Sequence[Conversation]], Mapping[str, Sequence[Conversation]]]
    """The conversations with each assistant, by its name, about the first and about the second set."""

    @cached_property
    def conversations(self) -> tuple[Conversation, ...]:
        """All of them."""
        return tuple(one for by_name in self.sets for of_assistant in by_name.values() for one in of_assistant)

    @cached_property
    def faults(self) -> float | None:
        """Share of the conversations in which the user simulator is at fault (`analysis.user_faults`)."""
        return _mean(float(user_fault(one) is not None) for one in self.conversations)

    @cached_property
    def unscored(self) -> int:
        """Conversations without a success or a satisfaction."""
        return sum(
            value_of(one, "success") is None or value_of(one, "satisfaction") is None for one in self.conversations
        )

    def mean(self, assistant: str, outcome: LinkOutcome, which: Sequence[int] = (0, 1)) -> float | None:
        """Mean over scenarios, repeats averaged; None without a value. The higher, the better: cost is negative."""
        return self._means.get((assistant, outcome, tuple(which)))

    @cached_property
    def _means(self) -> dict[tuple[str, LinkOutcome, tuple[int, ...]], float]:
        values: dict[tuple[str, LinkOutcome, int], list[float]] = {}
        for number, by_name in enumerate(self.sets):
            for assistant, conversations in by_name.items():
                for outcome in OUTCOMES:
                    values[assistant, outcome, number] = _scenario_means(conversations, outcome)
        means: dict[tuple[str, LinkOutcome, tuple[int, ...]], float] = {}
        for assistant in self.assistants:
            for outcome in OUTCOMES:
                for which in ((0,), (1,), (0, 1)):
                    drawn = [value for number in which for value in values.get((assistant, outcome, number), ())]
                    if drawn:
                        mean = float(np.mean(drawn))
                        means[assistant, outcome, which] = -float(np.log(mean)) if outcome == "cost" else mean
        return means

    @cached_property
    def assistants(self) -> tuple[str, ...]:
        """Names of the assistants."""
        return tuple(dict.fromkeys(name for by_name in self.sets for name in by_name))

    def difference(self, pair: KnownPair, which: Sequence[int] = (0, 1)) -> float | None:
        """The better one's outcome less the worse one's, about 1 for the whole scale.

        Success in shares, satisfaction in fourths of a point, cost as a log ratio of characters.
        """
        better, worse = (self.mean(name, pair.outcome, which) for name in (pair.better, pair.worse))
        if better is None or worse is None:
            return None
        return (better - worse) / (4 if pair.outcome == "satisfaction" else 1)

    def order_score(self, pair: KnownPair) -> float | None:
        """1 in the known order, 0.5 without a difference, 0 in the other order; None where unknown."""
        difference = self.difference(pair)
        return None if difference is None else _sign(difference) / 2 + 0.5

    def same_at_twice(self, pairs: Sequence[KnownPair]) -> float | None:
        """Share of pairs whose order by the first set is that by both sets, twice as many scenarios."""
        return _mean(
            float(_sign(half) == _sign(whole))
            for pair in pairs
            if (half := self.difference(pair, (0,))) is not None and (whole := self.difference(pair)) is not None
        )

    def beyond_band(self, pairs: Sequence[KnownPair]) -> float | None:
        """Share of neighbours whose difference is in the known order and exceeds the band between the two sets."""
        bands = {outcome: self.band(outcome) for outcome in OUTCOMES}
        return _mean(
            float(difference > band)
            for pair in pairs
            if pair.neighbours
            and (difference := self.difference(pair)) is not None
            and (band := bands[pair.outcome]) is not None
        )

    def band(self, outcome: LinkOutcome) -> float | None:
        """What an assistant's outcome differs by between the two sets: the quantile `BAND` over assistants."""
        gaps = [
            abs(one - two)
            for name in self.assistants
            if (one := self.mean(name, outcome, (0,))) is not None
            and (two := self.mean(name, outcome, (1,))) is not None
        ]
        return float(np.quantile(gaps, BAND)) / (4 if outcome == "satisfaction" else 1) if gaps else None


def value_of(conversation: Conversation, outcome: LinkOutcome) -> float | None:
    """An outcome of one conversation; None without one."""
    if outcome == "cost":
        return float(sum(len(message.text) for message in conversation.messages)) or None
    if outcome == "satisfaction":
        return satisfaction_in(conversation)
    score = score_of(conversation)
    return None if isinstance(score, str) else float(score[0])


def _scenario_means(conversations: Sequence[Conversation], outcome: LinkOutcome) -> list[float]:
    by_scenario: dict[str, list[float]] = {}
    for one in conversations:
        if (value := value_of(one, outcome)) is not None:
            by_scenario.setdefault(scenario_key(one), []).append(value)
    return [sum(values) / len(values) for values in by_scenario.values()]


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-12 else 1 if value > 0 else -1


def _mean(values: Iterator[float]) -> float | None:
    drawn = list(values)
    return sum(drawn) / len(drawn) if drawn else None
