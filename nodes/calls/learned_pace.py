"""How fast calls may follow each other: rates that are set, and one that is learned from an endpoint's refusals."""

import math
from collections import deque

from .call_queue import QueueTurn


class CallRate:
    """So many units a second, smoothly, and about those of one second at once after a rest.

    An amount may be larger than that: it goes when nothing is owed, and later amounts wait until it is paid for. The
    package aiolimiter has no such debt, takes nothing back, has one rate and lets small amounts overtake large ones.
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
        left = self._count * math.exp((self._last - now) / self._span)
        return left / (self._span * -math.expm1(-max(now - self._since, 1.0) / self._span))

    @property
    def _span(self) -> float:
        # Without the gaps a limit of one request a second takes a fifth longer.
        return max(1.0, 2 * self.latency, 5 * self._gap)


class LearnedPace:
    """The requests and tokens a second that an endpoint bears: unbounded until it refuses some as too many.

    Between two refusals the endpoint accepted as much as its limit gave anew in that time: that is the pace. This holds
    for a window and for a bucket, however calls were spread. Calls go a little slower, then steadily faster until the
    next refusal, the more slowly the more calls the pace was learned from. It is forgotten when it no longer holds
    anything back.
    """

    BACK = 0.02
    """Share by which calls go slower than what was learned."""
    CALLS = 64
    """Calls from which the pace is learned, at least, if there were so many."""
    FAST = 0.25
    """Share by which the rate grows in a second when nothing was refused for long."""
    SLOWEST = 1e-4

    def __init__(self) -> None:
        self._rates: tuple[CallRate, CallRate] | None = None
        self._base = 0.0, 0.0
        self._boost = 1.0
        self._closed = 1.0
        """Seconds for which there was no room, at least, the most of late: no window is shorter."""
        self._off = [0.0, 0.0]
        """How far both units were off at refusals."""
        self.calls: deque[QueueTurn] = deque(maxlen=2048)
        """The last calls."""
        self.forget(-math.inf)

    def forget(self, now: float) -> None:
        """Let calls go as fast as they come, until one is refused."""
        self._rates = None
        self._stretches: list[tuple[float, float, float]] = []
        """Requests, tokens and seconds between two refusals, of the last ones."""
        self._confirmed = 0
        """How often the pace was learned: at first it changes fast."""
        self._requests, self._tokens, self._begun = 0.0, 0.0, now
        """What went through since the last refusal."""
        self._since: float | None = None
        """When the endpoint had no room; None before the first refusal."""
        self._guess: float | None = None
        """When the first refusal came, if no other has confirmed it."""
        self._refused: tuple[float, float | None] | None = None
        """A refusal that is not yet taken in, and the wait that it asked for."""
        self._bound = self._sent = now
        self._free = 0
        """Calls one after another that did not wait for the pace."""

    @property
    def per_second(self) -> float | None:
        """Requests a second; None: as many as there are."""
        return self._rates[0].per_second / (1 + 0.2 * self.by_tokens) if self._rates else None

    @property
    def by_tokens(self) -> bool:
        """Whether the limit counts tokens rather than requests, as far as is known."""
        return self._off[1] < self._off[0]

    @property
    def _bases(self) -> tuple[float, float]:
        """Requests and tokens a second at first: a little more of what does not seem to be limited."""
        requests, tokens = (base * (1 - self.BACK) for base in self._base)
        return (1.2 * requests, tokens) if self.by_tokens else (requests, 1.2 * tokens)

    def quicken(self, now: float) -> None:
        """Go four times as fast, and soon faster: the pace was too low."""
        requests, tokens = self._base
        self.forget(now)
        self._set(4 * requests, 4 * tokens, 1.0, now)

    def ready(self, tokens: float) -> float:
        """When the next request may go."""
        return max(self._rates[0].ready(), self._rates[1].ready(tokens)) if self._rates else -math.inf

    def take(self, turn: QueueTurn, now: float, waited: bool, chance: float = 0.0) -> float | None:
        """A request goes; whether others wait behind it.

        Returns the pace, if it was learned anew from the last refusals.
        """
        learned = None if self._refused is None else self._learn(now, chance)
        if self._since is not None and not waited and self._rates:
            self._since += max(0.0, now - max(self._sent, self.ready(turn.tokens)))  # nobody wanted to go
        self._sent = now
        self.calls.append(turn)
        self._requests += 1
        self._tokens += turn.tokens
        if self._rates:
            if waited and now - self.ready(turn.tokens) < max(0.005, 0.5 / self._rates[0].per_second):
                self._bound, self._free = now, 0  # else it was not the pace that they waited for
            else:
                self._free += 1
            self._rates[0].take(1, now)
            self._rates[1].take(turn.tokens, now)
        return learned

    def correct(self, turn: QueueTurn, tokens: float) -> None:
        """A call took so many tokens more than was thought."""
        self._tokens += tokens if turn.sent >= self._begun else 0
        if self._rates:
            self._rates[1].correct(tokens)

    def not_through(self, turn: QueueTurn) -> None:
        """A call was refused."""
        turn.refused = True
        if turn.sent >= self._begun:
            self._requests -= 1
            self._tokens -= turn.tokens

    def never_sent(self, turn: QueueTurn) -> None:
        """A call that was taken in was never sent."""
        self.not_through(turn)
        if turn in self.calls:
            self.calls.remove(turn)

    def refused(self, now: float, after: float | None) -> None:
        """Go slower: a request that was sent at this pace was one too many."""
        if self._refused is None:
            self._refused = now, after

    def succeeded(self, now: float) -> None:
        """Go a little faster while the pace holds calls back, and without a bound when it has not for long."""
        if not self._rates:
            return
        rate = self._rates[0].per_second
        if self._free > 5 and now - self._bound > max(10.0, 5 / rate):
            self.forget(now)
            return
        grown = 1 + max(0.0, self._requests) / (3 * self._weight + self._weight**2 / 16)
        if grown > 1.2:
            self._boost *= 1 + min(min(self.FAST, 1 / self._closed) / rate, 0.1)
        for rate_now, base in zip(self._rates, self._bases, strict=True):
            rate_now.per_second = base * grown * self._boost

    def _learn(self, now: float, chance: float) -> float | None:
        """Take in the refusals before this call: requests a second, if they show more."""
        assert self._refused is not None
        refused, after = self._refused
        self._refused = None
        room, first = refused + (after or 0.0), refused if self._guess is None else self._guess
        self._closed = max(self._closed * 0.98, room - first)
        if self._since is None or (self._guess is not None and self._requests <= 0):
            return self._guessed(first, room, now, chance)
        if self._requests <= 0:
            return None  # the same refusal goes on
        stretch = self._requests, max(1.0, self._tokens), max(1e-3, room - self._since)
        if self._base[0] and stretch[0] >= 3:
            for unit in (0, 1):
                error = abs(math.log(stretch[unit] / stretch[2] / self._base[unit]))
                self._off[unit] = 0.9 * self._off[unit] + min(1.0, error)
        before = self._learned()
        self._stretches.append(stretch)
        if before is not None and stretch[0] >= 4 and not 0.67 < stretch[0] / stretch[2] / before[0] < 1.5:
            self._stretches, self._confirmed = self._stretches[-1:], 1
        self._since, self._guess, self._confirmed = room, None, self._confirmed + 1
        self._requests, self._tokens, self._begun = 0.0, 0.0, now
        rates = self._learned()
        assert rates is not None
        higher = self._lately(int(stretch[0])) / rates[0]
        higher = (math.sqrt(higher) if 1 < higher < 2 else 1.0) / (1 - chance)
        self._set(rates[0] * higher, rates[1] * higher, min(rates[2], 16.0 * self._confirmed), now)
        return self._base[0]

    def _learned(self) -> tuple[float, float, float] | None:
        """Requests and tokens a second, and the calls from which they were learned."""
        requests = tokens = seconds = 0.0
        for number, stretch in reversed(list(enumerate(self._stretches))):
            requests, tokens, seconds = requests + stretch[0], tokens + stretch[1], seconds + stretch[2]
            if requests >= self.CALLS:
                del self._stretches[:number]
                break
        return (requests / seconds, tokens / seconds, requests) if requests else None

    def _lately(self, calls: int) -> float:
        """Requests a second of the last ones that went through, of at most so many."""
        times = [turn.sent for turn in self.calls if not turn.refused][-min(calls, 16) :]
        return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 3 and times[-1] > times[0] else 0.0

    def _guessed(self, refused: float, room: float, now: float, chance: float) -> float | None:
        """The pace after the first refusal: the calls before it, over the time until there was room."""
        through = [turn for turn in self.calls if not turn.refused and turn.sent <= refused]
        if not through:
            return None
        if self._guess is None:
            self._guess, self._since = refused, room
            self._requests, self._tokens, self._begun = 0.0, 0.0, now
        again = max(room, now)
        begin = min(refused - max(1.0, 3 * (again - refused)), through[-min(8, len(through))].sent)
        begin = max(begin, through[0].sent)
        ended = [turn.tokens for turn in through if turn.ended] or [turn.tokens for turn in through]
        requests = sum(turn.sent >= begin for turn in through) / max(1e-3, again - begin) / (1 - chance)
        self._set(requests, requests * sum(ended) / len(ended), min(16.0, len(through)), now)
        return self._base[0]

    def _set(self, requests: float, tokens: float, weight: float, now: float) -> None:
        self._base = max(self.SLOWEST, requests), max(self.SLOWEST, tokens)
        self._weight, self._boost = max(1.0, min(self.CALLS, weight)), 1.0
        self._bound = now
        rates = []
        for unit, base in enumerate(self._base):
            strict = self.by_tokens == bool(unit)
            mean = base / self._base[0]
            # Timers are no finer than some milliseconds.
            rates.append(CallRate(self._bases[unit], at_once=base / 50 if strict else 16 * mean))
        self._rates = rates[0], rates[1]
