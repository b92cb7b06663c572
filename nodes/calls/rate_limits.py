"""How fast calls may follow each other: rates that are set, and one that is learned from an endpoint's refusals."""

import math


class CallRate:
    """So many units a second, smoothly, and about those of one second at once after a rest.

    An amount may be larger than that: it goes when nothing is owed, and what follows waits until it is paid for.
    aiolimiter has no such debt, takes nothing back, keeps one rate and lets small amounts overtake large ones.
    """

    def __init__(self, per_second: float, at_once: float | None = None) -> None:
        self.per_second = per_second
        self._at_once = max(1.0, per_second if at_once is None else at_once)
        self._paid = -math.inf

    def ready(self, amount: float = 1) -> float:
        """When this amount may be taken."""
        return self._paid + (min(amount, self._at_once) - self._at_once) / self.per_second

    def take(self, amount: float, now: float) -> None:
        """Take an amount, whether it is ready or not."""
        self._paid = max(self._paid, now) + amount / self.per_second

    def correct(self, amount: float) -> None:
        """Take so much more than was thought; less than 0: so much less."""
        self._paid += amount / self.per_second


class RecentRate:
    """The number of calls a second that went through lately.

    It covers at least two round trips, five replies and one second, about.
    """

    def __init__(self) -> None:
        self._count = 0.0
        self._since = self._last = -math.inf
        self._gap = 0.0
        self.latency = 0.0
        """Seconds that a reply takes, about."""

    def add(self, sent: float, now: float) -> None:
        """A call was answered, with a reply or with a failure: it was not one too many."""
        if not self._count:
            self._since = self._last = sent
        self._count = self._count * math.exp((self._last - now) / self._span) + 1
        self._gap += (now - self._last - self._gap) * 0.2
        self.latency += (now - sent - self.latency) * (0.1 if self.latency else 1)
        self._last = now

    def per_second(self, now: float) -> float:
        """Replies a second."""
        if not self._count:
            return 0.0
        left = self._count * math.exp((self._last - now) / self._span)
        return left / (self._span * -math.expm1(-max(now - self._since, 1.0) / self._span))

    @property
    def _span(self) -> float:
        # Without the gaps a limit of one request a second takes a fifth longer.
        return max(1.0, 2 * self.latency, 5 * self._gap)


class LearnedPace:
    """The requests a second that an endpoint bears: unknown, so unbounded, until it refuses some as too many.

    Each refusal that is news lowers it to a little less than what went through, it then grows steadily, faster when
    nothing was refused for long, and is forgotten when it no longer holds anything back.
    """

    BACK = 0.9
    """What is kept of the rate that went through when it was too fast."""
    GROWTH = 0.05
    """Share by which the rate grows in a second."""
    FAST = 0.25
    """The same, when nothing was refused for long: without it the pace takes minutes after a limit is gone."""
    SLOWEST = 1 / 60

    def __init__(self) -> None:
        self._rate: CallRate | None = None
        self._base = 0.0
        self._refused = self._bound = -math.inf

    @property
    def per_second(self) -> float | None:
        """Requests a second; None: as many as there are."""
        return self._rate.per_second if self._rate else None

    def hold(self, per_second: float | None, now: float) -> None:
        """Set the pace; None: as many as there are."""
        self._refused = self._bound = now
        self._rate = None
        if per_second is not None:
            self._base = max(self.SLOWEST, per_second)
            self._set(self._base, now)

    def ready(self) -> float:
        """When the next request may go."""
        return self._rate.ready() if self._rate else -math.inf

    def take(self, now: float, waited: bool) -> None:
        """A request goes; whether others wait behind it."""
        if self._rate:
            if waited and now - self._rate.ready() < max(0.005, 0.5 / self._rate.per_second):
                self._bound = now  # else it was not the pace that they waited for
            self._rate.take(1, now)

    def refused(self, recent: RecentRate, now: float, chance: float = 0.0) -> None:
        """Go slower: a request that was sent at this pace was one too many.

        `chance`: share of requests that is refused at any pace.
        """
        through = recent.per_second(now) / (1 - chance)
        if not through:
            return  # it is still unknown what it bears
        if self._rate:
            through = min(self._rate.per_second, through)
        self._base = max(self.SLOWEST, through * self.BACK)
        self._refused = self._bound = now
        self._set(self._base, now)

    def succeeded(self, now: float) -> None:
        """Go a little faster while the pace holds calls back, and without a bound when it has not for long."""
        if not self._rate:
            return
        rate = self._rate.per_second
        if now - self._bound > max(10.0, 5 / rate):
            self._rate = None
        elif now - self._refused > max(10.0, min(60.0, 30 / rate)):
            self._rate.per_second += min(self.FAST / rate, 0.1) * rate
        else:
            self._rate.per_second += min(self.GROWTH / rate, 0.01) * self._base

    def _set(self, per_second: float, now: float) -> None:
        self._rate = CallRate(per_second, at_once=per_second / 50)  # timers are no finer than some milliseconds
        self._rate.take(1, now)
