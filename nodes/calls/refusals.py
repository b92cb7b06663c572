"""Which refusals as too many say that there are too many calls, and which come however few there are."""

import math
from typing import Literal


class Refusals:
    """Tells a limit from chance.

    A limit refuses what is above it: refusals end when less is sent. A gateway that shares its capacity among many
    refuses some calls whatever is sent, and who slows down for each of them ends up at no calls at all. So when the pace
    has fallen well below what the endpoint bore, half of that is sent for a while, and its refusals are counted. If
    their share is as before, they come by chance, and from then on only more than that means too many.
    """

    TOLERATED = 0.015
    """Share of refusals, of the last calls, for which nothing is slowed down."""
    LATELY = 1 / 100
    """How much of what is known of the last calls fades with each."""
    FALLEN = 0.7
    """Of the pace that was borne: what is less is tried out."""
    ENOUGH = 4
    """Refusals at half the pace, after which it is known that they do not end."""
    SURE = 3.0
    """Logarithm of the odds at which a trial ends: that refusals go on as before, against a tenth of them."""
    MOST = 0.45
    """A larger share of refusals is no chance."""
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
        self._lately = _Share(self.LATELY)
        self._before = 0.0
        """Share of refusals before the trial."""
        self._tried: _Share | None = None
        self._since, self._odds = math.inf, 0.0

    @property
    def tries(self) -> bool:
        """Whether half of what was borne is sent, to see whether refusals end."""
        return self._tried is not None

    def outcome(self, sent: float, *, refused: bool) -> None:
        """A call that was sent then was refused, or not."""
        if self.chance:
            self.chance += (refused - self.chance) * self.FOLLOWS if not self.bore else -self.chance * self.FADES
        if self._tried is None:
            self._lately.add(refused)
        elif sent > self._since:
            self._tried.add(refused)
            share, few = self._before, self._before / 10
            self._odds += math.log(share / few if refused else (1 - share) / (1 - few))

    def too_many(self) -> bool:
        """Whether there are more refusals of late than chance explains."""
        return self._lately.refused > self._explained(self._lately) + self.TOLERATED * self._lately.calls

    def slowed(self, per_second: float, now: float) -> bool:
        """The pace was set to this; whether that is so low that half of what was borne is tried out instead."""
        if per_second >= self.FALLEN * self.bore:
            self.bore = max(self.bore, per_second)
            return False
        self.limit = per_second
        self._before = min(0.95, max(self.TOLERATED, self._lately.share))
        self._tried, self._since, self._odds = _Share(), now, 0.0
        return True

    def verdict(self) -> Literal["limit", "lower limit", "chance"] | None:
        """What a trial has shown; None as long as it goes on."""
        tried = self._tried
        if tried is None:
            return None
        if tried.row >= 6 or (tried.calls >= 8 and tried.share > self.MOST):
            return self._lower(tried)
        if tried.refused >= self.ENOUGH:
            if not 0.5 * self._before <= tried.share <= self.MOST:
                return self._lower(tried)
            if self._odds >= self.SURE:
                self.chance = tried.share
                return self._end("chance")
        if self._odds <= -self.SURE:
            self.chance = min(self.chance, tried.share)
            return self._end("limit")
        return None

    def _lower(self, tried: "_Share") -> Literal["lower limit"]:
        """Refusals have not ended, and are fewer or nearly all: half was still too much."""
        self._tried, self.bore = None, self.bore / 2
        self._lately.calls, self._lately.refused = tried.calls, tried.refused
        return "lower limit"

    def _end(self, verdict: Literal["limit", "chance"]) -> Literal["limit", "chance"]:
        self._tried, self._lately, self.bore = None, _Share(self.LATELY), 0.0
        return verdict

    def _explained(self, seen: "_Share") -> float:
        """Refusals that chance explains, with three standard deviations to spare."""
        mean = self.chance * seen.calls
        return mean + 3 * math.sqrt(mean * (1 - self.chance))


class _Share:
    """Refusals among calls, of which the older ones fade."""

    def __init__(self, fades: float = 0.0) -> None:
        self.calls = self.refused = 0.0
        self.row = 0
        """Refusals one after another."""
        self._fades = fades

    def add(self, refused: bool) -> None:
        """Count a call."""
        self.calls += 1 - self._fades * self.calls
        self.refused += refused - self._fades * self.refused
        self.row = self.row + 1 if refused else 0

    @property
    def share(self) -> float:
        """Refused ones of all."""
        return self.refused / self.calls if self.calls else 0.0
