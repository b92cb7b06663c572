"""Distinguishes rate limits from refusals that do not depend on the number of calls."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

from .call_queue import QueueTurn

SECONDS = (1.0, 5.0, 20.0, 60.0)
"""Windows in which requests or tokens are usually counted."""


@dataclass(frozen=True)
class Cause:
    """The load that explains refusals best, by log likelihoods against refusals that depend on no load."""

    limit: float
    """Of only a limit: hardly a call below that load is refused, and most above it."""
    both: float
    """Of a limit and chance: more are refused above it than below."""
    share: float
    """Share of the calls that is refused."""
    below: float
    """The same, of those below that load."""
    explained: float
    """Share of the log likelihood that only a limit explains: McFadden's R squared (1974); below 0 it explains less."""


def cause(calls: Iterable[QueueTurn], last: int) -> Cause:
    """The load that explains the refusals among so many last calls best."""
    turns = list(calls)
    bad = [turn.refused for turn in turns[len(turns) - min(last, len(turns)) :]]
    refused = sum(bad)
    share = below = refused / max(1, len(bad))
    alike = _likelihood(refused, len(bad), share)
    limit, both = 0.0 if len(bad) < 2 else -math.inf, 0.0
    for loads in _loads(turns, len(bad)) if len(bad) > 1 else ():
        low = 0
        for number, ((load, one), (following, _)) in enumerate(pairwise(sorted(zip(loads, bad, strict=True))), 1):
            low += one
            left, high = len(bad) - number, refused - low
            if load == following or high * number <= low * left:
                continue
            under, over = low / number, high / left
            better = _likelihood(low, number, under) + _likelihood(high, left, over) - alike
            if better > both:
                both, below = better, under
            under, over = min(under, share / 10), max(over, 0.5)
            limit = max(limit, _likelihood(low, number, under) + _likelihood(high, left, over) - alike)
    return Cause(limit, both, share, below, limit / -alike if alike else 1.0)


def _loads(turns: Sequence[QueueTurn], last: int) -> Iterator[list[float]]:
    """What was sent before each of the last calls, and with it, by all that a limit may count.

    These are requests, requests that were not refused and their tokens in each window, and the latter two in a bucket
    that fills as fast as they went through.
    """
    times = [turn.sent for turn in turns]
    lasts = range(len(turns) - last, len(turns))
    for by_tokens, all_count in ((False, True), (False, False), (True, False)):
        costs = [max(1, turn.tokens) if by_tokens else 1 for turn in turns]
        through = [cost if all_count or not turn.refused else 0 for turn, cost in zip(turns, costs, strict=True)]
        sums = [0, *accumulate(through)]
        for seconds in SECONDS:
            yield [sums[n] - sums[bisect_right(times, times[n] - seconds)] + costs[n] for n in lasts]
        if all_count:
            continue
        per_second = (sums[-1] - sums[lasts[0]]) / max(1e-3, times[-1] - times[lasts[0]])
        level, before, levels = 0.0, times[lasts[0]], list[float]()
        for n in lasts:
            level = max(0.0, level - per_second * (times[n] - before))
            levels.append(level + costs[n])
            level, before = level + through[n], times[n]
        yield levels


def _likelihood(refused: int, calls: int, share: float) -> float:
    """Log likelihood that so many of the calls are refused."""
    through = calls - refused
    return (refused * math.log(share) if refused else 0.0) + (through * math.log(1 - share) if through else 0.0)


class Refusals:
    """Distinguishes a limit from chance.

    A limit refuses what is above it. A gateway that shares its capacity among many refuses some calls at any load. A
    client that slows down for each of them ends up without calls. So when the pace has fallen well below what the
    endpoint bore, refusals are compared with what was sent before each call. If they do not depend on it they come by
    chance, and from then on only more than that means too many.
    """

    TOLERATED = 0.015
    """Share of refusals, of the last calls, for which nothing is slowed down."""
    LATELY = 1 / 100
    """Share of the record of the last calls that fades with each new one."""
    FALLEN = 0.7
    """Of the pace that was borne: what is less is doubted."""
    FORGETS = 0.05
    """Share by which the pace that was borne fades with each refusal: that of a limit does not fall for long."""
    LAST = 128
    """Calls whose refusals are explained."""
    RARE, STEEP = 0.2, 1.5
    """Refusals come by chance where a limit explains less of them than `STEEP` times their share beyond `RARE`.

    Where there is a limit the pace follows it, so few are refused, and what was sent explains most of these. Of the
    doubted refusals in simulated runs 0.1 % of those of limits and 64 % of those by chance are below that line.
    """
    HALF = 0.5
    """Of the last refusals, as many as `OFTEN`, a limit must explain less than this: limits change."""
    MOST = 0.5
    """A larger share of refusals is not chance."""
    BOTH = 10.0
    """Log likelihood at which there is a limit beyond doubt."""
    BESIDE = 5.0
    """How much more a limit with chance explains than a limit without it."""
    LEAST = 0.1
    """A smaller share of refusals beside a limit is not taken for chance."""
    OFTEN = 8
    """Refusals that are enough to tell, and after which chance is doubted again."""
    FOLLOWS = 1 / 200
    """How much a single call changes what is taken for chance, while no pace is held."""

    def __init__(self) -> None:
        self.chance = 0.0
        """Share of calls that are refused by chance."""
        self.bore = 0.0
        """Requests a second that the endpoint bore, as far as is known."""
        self._doubted = 0
        """Refusals since chance was doubted."""
        self._calls = self._refused = 0.0
        """The last calls, of which the older ones fade."""

    def outcome(self, *, refused: bool) -> None:
        """A call was refused, or not."""
        self.chance += (refused - self.chance) * self.FOLLOWS if self.chance and not self.bore else 0.0
        self._calls += 1 - self._calls * self.LATELY
        self._refused += refused - self._refused * self.LATELY

    def too_many(self) -> bool:
        """Whether there are more refusals of late than chance explains, with three standard deviations to spare."""
        mean = self.chance * self._calls
        return self._refused > mean + 3 * math.sqrt(mean * (1 - self.chance)) + self.TOLERATED * self._calls

    def verdict(
        self, calls: Sequence[QueueTurn], per_second: float | None, *, again: bool
    ) -> Literal["limit", "chance"] | None:
        """Why a call was refused at this pace; None: as before; `again`: none has succeeded since the last such
        refusal."""
        self.bore = max(self.bore * (1 - self.FORGETS), per_second or 0.0)
        self._doubted += 1
        if self.chance and self._doubted >= self.OFTEN:
            self._explain(calls)
        if not self.too_many() and (self.chance or not again):
            return None
        if per_second is not None and per_second < self.FALLEN * self.bore:
            why = self._explain(calls)
            enough = sum(turn.refused for turn in calls) >= self.OFTEN and why.share <= self.MOST
            alike = why.both < self.BOTH and why.explained < self.STEEP * (why.share - self.RARE)
            if enough and alike and cause(calls, self._latest(calls)).explained < self.HALF:
                self.chance, self.bore = why.share, 0.0
                return "chance"
        if self.chance:
            self._calls = self._refused = 0.0  # the next refusal may be chance
        return "limit"

    def _latest(self, calls: Sequence[QueueTurn]) -> int:
        """The number of calls since so many refusals ago."""
        return [number for number, turn in enumerate(reversed(calls), 1) if turn.refused][: self.OFTEN][-1]

    def _explain(self, calls: Iterable[QueueTurn]) -> Cause:
        """Learn the share that is refused by chance beside a limit, if there is one."""
        self._doubted = 0
        why = cause(calls, self.LAST)
        beside = why.both - why.limit
        if why.share > self.MOST or (why.both >= self.BOTH and (why.below < self.LEAST or beside < 2)):
            self.chance = 0.0
        elif why.both >= self.BOTH and beside > self.BESIDE:
            self.chance = why.below
        return why
