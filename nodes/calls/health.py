"""The state of an endpoint by its replies and refusals, and what may be sent to it now."""

import math
from collections.abc import Callable, Mapping

from ..models.faults import CallFault
from ..models.reported_limits import ReportedLimit, limits_in
from .call_queue import QueueTurn
from .circuit_breaker import SILENT, Breaker
from .concurrency import Window
from .learned_pace import CallRate, LearnedPace, RecentRate
from .refusal_causes import Refusals
from .tries import LONGEST, Pace


class Health:
    """The limits that are set, and those that an endpoint shows: window, pace, pauses and breaker.

    It has no loop: callers pass the time. `notify` is called when the endpoint becomes unreachable or reachable.
    """

    def __init__(self, pace: Pace, notify: Callable[[str], None], uniform: Callable[[float, float], float]) -> None:
        self.breaker = Breaker(pace.patience, pace.first_patience)
        self.learned = LearnedPace()
        self.paused = -math.inf
        """Until then nothing is sent: it asked for that."""
        self._window, self._recent, self._refusals = Window(pace.concurrency), RecentRate(), Refusals()
        self._requests = CallRate(pace.requests_per_minute / 60) if pace.requests_per_minute else None
        self._tokens = CallRate(pace.tokens_per_minute / 60) if pace.tokens_per_minute else None
        self._wait, self._notify, self._uniform = pace.wait, notify, uniform
        self._doubt = self._slowed = self._sent = -math.inf
        self._slowings = 0
        self.reported: dict[str, ReportedLimit] = {}
        """The limits in the endpoint's headers, by unit."""
        self._waited = False
        """Whether it was noted that calls wait for these."""
        self.under_way = 0
        self._mean = self._more = self._error = 0.0
        """Tokens of calls, those more than their guess, and how far they are from what is then expected, on average."""

    @property
    def room(self) -> int:
        """The useful number of conversations under way: the calls that the endpoint bears, and some to spare."""
        bears = self._window.size
        for rate in (self.learned.per_second, self._requests.per_second if self._requests else None):
            if rate is not None and self._recent.latency:
                bears = min(bears, max(4.0, 2 * rate * self._recent.latency + 1))
        return math.ceil(1.25 * bears)

    def ready(self, turn: QueueTurn, now: float) -> float | None:
        """When the next call may go; None: not before another one has ended."""
        tokens = self._expected(turn)
        breaker = self.breaker
        if breaker.probing:
            return None
        if not breaker.open:
            careful = breaker.refusals or (self._slowings > 1 and self.learned.per_second is None)
            if self.under_way >= (1 if careful else int(self._window.size)):
                return None
        return max(
            breaker.probe_at if breaker.open else -math.inf,
            self.paused,
            self._doubt,
            self.learned.ready(tokens),
            self._requests.ready() if self._requests else -math.inf,
            self._tokens.ready(tokens) if self._tokens else -math.inf,
            self.room_at(tokens, now) if self.reported else -math.inf,
        )

    def room_at(self, tokens: int, now: float) -> float:
        """When the limits in the endpoint's headers leave room for a call; sooner if that is too long."""
        costs = {"requests": 1, "tokens": tokens + (5 + 0.5 * self.under_way) * self._error}
        room, unit = max((limit.ready(costs[unit], now), unit) for unit, limit in self.reported.items())
        if room - now >= 5 and not self._waited:
            self._waited = True
            self._notify(
                f"allows {self.reported[unit].amount:,.0f} {unit} in a while: calls wait for room, now {room - now:.0f} s"
            )
        return room if room - now < self.breaker.patience else -math.inf

    def wait_for_room(self, now: float) -> float:
        """Seconds until those limits leave room for a call as calls are on average; 0: they do."""
        return max(0.0, self.room_at(round(self._mean), now) - now) if self.reported else 0.0

    def report(self, headers: Mapping[str, str], turn: QueueTurn) -> None:
        """Take in the headers of the reply to a call."""
        for unit, report in limits_in(headers).items():
            self.reported.setdefault(unit, ReportedLimit(unit, self.learned.calls)).report(report, turn.sent)

    def _expected(self, turn: QueueTurn) -> int:
        """The tokens of a call, as far as earlier ones have shown what was wrong with the guess."""
        return max(turn.least, round(turn.tokens + self._more)) if turn.tokens else 0

    def take(self, turn: QueueTurn, now: float, *, others: bool) -> None:
        """A call goes; whether others wait."""
        if self._requests:
            self._requests.take(1, now)
        turn.guess, turn.tokens = turn.tokens, self._expected(turn)
        if self._tokens:
            self._tokens.take(turn.tokens, now)
        self._sent = turn.sent = max(now, self._sent + 1e-6)  # in their order, whatever the clock says
        for limit in self.reported.values():
            limit.take(turn)
        learned = self.learned.take(turn, now, others, self._refusals.chance)
        if learned is not None:
            self._window.refused(max(4.0, 2 * learned * self._recent.latency))
        self.under_way += 1
        turn.one_of = self.under_way
        turn.probe = self.breaker.probing = self.breaker.open

    def leave(self, turn: QueueTurn) -> None:
        """Count the end of a call, successful or not."""
        self.under_way -= 1
        if turn.probe:
            self.breaker.probing = False

    def give_back(self, turn: QueueTurn) -> None:
        """A call that had its turn was never sent."""
        if self._requests:
            self._requests.correct(-1)
        self._charge(-turn.tokens)
        self.learned.never_sent(turn)
        self.leave(turn)

    def correct(self, turn: QueueTurn, tokens: int) -> None:
        """A call took so many tokens."""
        more = tokens - turn.tokens
        self._more += 0.1 * (tokens - turn.guess - self._more)
        self._error += 0.1 * (abs(more) - self._error)
        self._mean += 0.1 * (tokens - self._mean)
        turn.tokens, turn.ended = tokens, True
        self.learned.correct(turn, more)
        self._charge(more)

    def _charge(self, tokens: float) -> None:
        if self._tokens:
            self._tokens.correct(tokens)

    def succeeded(self, turn: QueueTurn, now: float) -> None:
        """The endpoint replied."""
        if turn.sent > self._slowed:
            self._slowings = 0
        self._refusals.outcome(refused=False)
        self._recent.add(turn.sent, now)
        self.learned.succeeded(now)
        self._window.succeeded(turn.sent, turn.one_of, now, self.under_way)
        self._answered(now)

    def failed(self, turn: QueueTurn, fault: CallFault, now: float) -> str | None:
        """A call failed; why none will succeed any more, in words, if that is so."""
        if fault.whose == "request":
            self._answered(now)
        elif fault.whose == "settings":
            return self._refused(turn, fault, now)
        elif fault.whose == "limit":
            return self._limited(turn, fault, now)
        elif fault.whose == "endpoint":
            return self._missed(turn, fault, now)
        return None

    def _answered(self, now: float) -> None:
        """The endpoint is there, whatever it said."""
        since = self.breaker.since
        self._doubt = -math.inf
        if self.breaker.succeeded():
            self._notify(f"answers again, after {now - (since or now):.0f} s")

    def _refused(self, turn: QueueTurn, fault: CallFault, now: float) -> str | None:
        """The key, the model or the account is refused."""
        final = self.breaker.refused(turn.sent, now)
        self._doubt = now + self._backoff(self.breaker.refusals)
        if not final:
            return None
        return f"{fault.name}: {fault.detail}; {_TO_CORRECT.get(fault.name, 'see to it')}, and run again"

    def _missed(self, turn: QueueTurn, fault: CallFault, now: float) -> str | None:
        """The endpoint gave no usable reply."""
        breaker = self.breaker
        self._window.failed(turn.sent, now)
        if fault.name not in SILENT:
            self._refusals.outcome(refused=False)
            self._recent.add(turn.sent, now)
        if breaker.failed(fault, now, probe=turn.probe):
            self._window.restarted()
            wait = f"all calls wait while one at a time tries, for up to {breaker.patience:.0f} s"
            self._notify(f"fails call after call, last {fault.name}: {wait}")
        if now < breaker.deadline() or self.under_way > 1:  # what is under way may yet succeed
            return None
        ever = "no usable reply any more" if breaker.answered else "no usable reply at all"
        seconds = f"{now - (breaker.since or now):.0f} s"
        return f"{ever}, tried for {seconds}; last {fault.name}: {fault.detail}; see to it, and run again"

    def _limited(self, turn: QueueTurn, fault: CallFault, now: float) -> str | None:
        """There are too many calls."""
        breaker = self.breaker
        if breaker.limited(now):
            self._notify("is there again, and refuses calls as too many")
        deadline = breaker.deadline()
        self.learned.not_through(turn)
        self._refusals.outcome(refused=True)
        explained = [limit for unit, limit in self.reported.items() if limit.refused(turn, now)]
        why = None
        if turn.sent > self._slowed and not explained:  # of those that were under way together one is enough
            why = self._refusals.verdict(self.learned.calls, self.learned.per_second, again=bool(self._slowings))
        if why == "limit":
            self._slow(now, fault.after)
        elif why == "chance":
            self.learned.quicken(now)
            self._window.forget()
            self._slowed, self._slowings, self.paused = max(now, self._sent), 0, now
        alone = self._refusals.chance and why != "limit"  # then the wait is for this call
        if fault.after is not None and now + fault.after > self.paused and not alone:
            self.paused = now + fault.after
            if fault.after >= 5:
                self._notify(f"asks to wait {fault.after:.0f} s")
        if self.paused <= deadline and now < deadline:
            return None
        wait = f"asks to wait {self.paused - now:.0f} s" if self.paused > now else "refuses all calls as too many"
        return f"{wait}, longer than the outage timeout (--patience, {breaker.patience:.0f} s): {fault.detail}; run again later"

    def _slow(self, now: float, after: float | None) -> None:
        """There are too many calls: go slower, and wait a little."""
        rate = self.learned.per_second
        self.learned.refused(now, after)
        self._slowed, self._slowings = max(now, self._sent), self._slowings + 1
        if after is None:
            first = self._wait if rate is None else min(self._wait, 1.5 / rate)
            wait = self._uniform(0.75, 1.0) * min(LONGEST, first * 3.0 ** min(self._slowings - 1, 16))
            self.paused = max(self.paused, min(now + wait, max(now, self.breaker.deadline())))

    def _backoff(self, times: int) -> float:
        """Seconds for all to wait after so many refusals in a row."""
        return self._uniform(0.5, 1.0) * min(LONGEST, self._wait * 2.0 ** min(times - 1, 16))


_TO_CORRECT = {
    "wrong_key": "correct the key",
    "forbidden": "correct the key",
    "unknown_model_or_url": "correct the model or the address",
    "quota_spent": "see to the account",
    "redirected": "correct the address",
    "proxy_refused": "correct the proxy's address, which has the user name and the password",
    "certificate_refused": "name the authority's certificate in SSL_CERT_FILE, or correct the address",
}
"""How to correct a configuration error, by its name."""
