"""Distinguishes rate limits from refusals that do not depend on the number of calls."""

import math
from typing import Literal


class Refusals:
    """Distinguishes a limit from chance.

    A limit refuses what is above it: refusals end when less is sent. A gateway that shares its capacity among many
    refuses some calls whatever is sent, and who slows down for each of them ends up at no calls at all. So when the pace
    has fallen well below what the endpoint bore, half of that is sent for a while, and its refusals are counted. If
    their share is as before, they come by chance, and from then on only more than that means too many.

    Simpler trials lose (docs/performance.md): of a fixed number of calls, or at each slowing down, they take a limit for
    chance or chance for a limit.
    """

    TOLERATED = 0.015
    """Share of refusals, of the last calls, for which nothing is slowed down."""
    LATELY = 1 / 100
    """Share of the record of the last calls that fades with each new one."""
    FALLEN = 0.7
    """Of the pace that was borne: what is less is tried out."""
    ENOUGH = 4
    """Refusals at half the pace that show that they do not end."""
    SURE = 3.0
    """Logarithm of the odds at which a trial ends: that refusals go on as before, against a tenth of them."""
    MOST = 0.45
    """A larger share of refusals is not chance."""
    FOLLOWS = 1 / 200
    """How much a single call changes what is taken for chance, while no pace is held."""
    FADES = 1 / 500
    """The same, while one is held: it may have been a limit after all, and is tried out again some day."""

    def __init__(self) -> None:
        self.chance = 0.0
        """Share of calls that are refused by chance."""
        self.bore = 0.0
        """Requests a second that the endpoint bore, as far as is known."""
        self.limit = 0.0
        """Requests a second that seemed too many before the last trial."""
        self._since: float | None = None
        """When the trial began; None without one."""
        self._before = 0.0
        """Share of refusals before the trial."""
        self._calls = self._refused = 0.0
        """Of the trial; without one of the last calls, of which the older ones fade."""
        self._odds = 0.0

    @property
    def tries(self) -> bool:
        """Whether half of what was borne is sent, to see whether refusals end."""
        return self._since is not None

    def outcome(self, sent: float, *, refused: bool) -> None:
        """A call that was sent then was refused, or not."""
        self.chance += (refused - self.chance) * self.FOLLOWS if self.chance and not self.bore else 0.0
        self.chance -= self.chance * self.FADES if self.bore else 0.0
        if self._since is None:
            self._calls -= self._calls * self.LATELY
            self._refused -= self._refused * self.LATELY
        elif sent > self._since:
            few = self._before / 10
            self._odds += math.log(self._before / few if refused else (1 - self._before) / (1 - few))
        else:
            return
        self._calls += 1
        self._refused += refused

    def too_many(self) -> bool:
        """Whether there are more refusals of late than chance explains, with three standard deviations to spare."""
        mean = self.chance * self._calls
        return self._refused > mean + 3 * math.sqrt(mean * (1 - self.chance)) + self.TOLERATED * self._calls

    def slowed(self, per_second: float, now: float) -> bool:
        """Whether this new pace is so low that half of the pace that was borne is tried out instead."""
        if per_second >= self.FALLEN * self.bore:
            self.bore = max(self.bore, per_second)
            return False
        self.limit, self._since = per_second, now
        self._before = min(0.95, max(self.TOLERATED, self._refused / max(1.0, self._calls)))
        self._calls = self._refused = self._odds = 0.0
        return True

    def verdict(self) -> Literal["limit", "lower limit", "chance"] | None:
        """The result of a trial; None while it lasts."""
        if self._since is None:
            return None
        share = self._refused / max(1.0, self._calls)
        if self._refused >= self.ENOUGH and not 0.5 * self._before <= share <= self.MOST:
            self._since, self.bore = None, self.bore / 2  # half was still too much
            return "lower limit"
        if abs(self._odds) < self.SURE or (self._odds > 0 and self._refused < self.ENOUGH):
            return None
        by_chance = self._odds > 0
        self.chance = share if by_chance else min(self.chance, share)
        self._since, self._calls, self._refused, self.bore = None, 0.0, 0.0, 0.0
        return "chance" if by_chance else "limit"
