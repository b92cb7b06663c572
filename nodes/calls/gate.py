"""The gate of an endpoint: every call to it, of all conversations and both sides, passes here.

Calls go first come, first served: as many at a time as a window lets, and as fast as every rate lets. There are rates
that are set, rates that the endpoint reports, and one that its refusals teach. When call after call fails the endpoint is
away: all wait, and one at a time looks whether it is there again.
"""

import asyncio
import heapq
import logging
import math
import random  # noqa: TID251  # when a call is tried again is recorded nowhere
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import count
from typing import TypeVar

from tenacity import AsyncRetrying, retry_if_exception

from ...errors import DuologueError
from ..models.faults import CallFault, fault_of, headers_of
from ..models.rate_headers import Rate, ReportedRate, limits_in

T = TypeVar("T")
log = logging.getLogger(__name__)

WAIT, LONGEST = 0.5, 30.0  # seconds before the second try, about, and at most before any: they double from try to try
START, MOST = 8.0, 512.0  # calls under way at the beginning, and at most
IN_A_ROW = 8  # faults one after another after which an endpoint is away
PROBE, PROBE_MOST = 1.0, 5.0  # seconds until one call looks whether it is there again, and most between two
REFUSALS = 3  # how often a refused key, model or account is tried again, where the endpoint has answered
BLAMED = 3  # failures while others succeeded, after which a call is to blame for all its failures
ANSWERED = frozenset({"null_content", "no_choices", "not_json", "not_a_completion"})  # it may answer a call so for ever


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How calls to an endpoint are made."""

    concurrency: int | None = None  # most calls under way; None: as many as the endpoint bears, found out by trying
    patience: float = 600.0  # seconds for which an endpoint that has answered in this run is waited for
    first_patience: float = 15.0  # the same of one that has never answered
    tries: int = 10  # most tries of one call while other calls succeed
    parts: int = 1  # processes of a run, among which the rates that a model's name sets are divided


@dataclass
class CallCounts:
    """What a gate has done: calls, requests (each try), calls that succeeded or failed, faults of all tries by name."""

    calls: int = 0
    requests: int = 0
    succeeded: int = 0
    failed: int = 0
    faults: Counter[str] = field(default_factory=Counter)


class EndpointError(DuologueError, RuntimeError):
    """An endpoint that this run cannot use: one line with the reason and the correction."""

    record_line = property(str)


class CallError(Exception):
    """One call failed for good: `fault` is the last one, `retried` how often it was made again, by fault."""

    def __init__(self, fault: CallFault, retried: dict[str, int]) -> None:
        super().__init__(f"{fault.name}: {fault.detail}")
        self.fault, self.retried = fault, retried

    @property
    def record_line(self) -> str:
        """What the fault means, and how often the call was made, for records."""
        tries = sum(self.retried.values()) + 1
        return self.fault.line + (f"; tried {tries} times" if tries > 1 else "")


class RunOverError(BaseException):
    """No further call of the run may begin. No Exception: nothing on its way may take it for a call that failed."""

    record_line = "the run ended before this call"


@dataclass(slots=True)
class _Call:
    """One call: its turn, and what its tries have come to."""

    ticket: int
    guess: int  # tokens, estimated from its length
    successes: int  # calls that had succeeded when it was tried last
    tokens: float = 0.0  # those that it is expected to take
    sent: float = 0.0
    probe: bool = False  # it looks whether the endpoint is there again
    trial: bool = False  # it looks whether refusals come by chance
    refused: bool = False  # as one too many
    retried: dict[str, int] = field(default_factory=dict)
    rest: float = 0.0  # seconds to the next try
    failures: int = 0
    own: int = 0  # of these, those for which it is to blame itself
    failed_at: float = math.inf  # for the first time


class LearnedRate(Rate):
    """The requests a second that refusals teach: as many as there are, until the first one.

    From refusal to refusal an endpoint takes what its limit gives anew in that time, be it a window or a bucket: that is
    the rate. Calls go a little slower then, and faster again: hardly for about as many calls as it was learned from, and
    no sooner than a window may take, but steeply after that.

    Gateways also refuse calls by chance, however few there are. So when the rate has fallen well below the one that was
    borne, a few calls go at once: a limit that has just refused one refuses most of them.
    """

    CALLS, SECONDS = 60.0, 10.0  # in which it grows to what was learned, fewer if it was learned from fewer calls
    FADE, FADE_CLOSED, FADE_BORNE = 0.8, 0.85, 0.98  # what remains of what was seen before, from refusal to refusal
    FALLEN, TRIAL = 0.8, 4  # share of the borne rate below which refusals are doubted, and calls that then go at once
    SHARE = 1 / 32  # of one call in the share of the last ones that was refused

    def __init__(self) -> None:
        super().__init__("requests", math.inf)
        self.dry, self._refused_at, self._dry_since = 0, -math.inf, 0.0  # refusals since a call went through
        self._closed = 0.0  # seconds for which there was no room, lately
        self._share = self._chance = 0.0  # of the calls that are refused: lately, and by chance
        self.trial, self._trial = 0, list[bool]()  # calls that are still to go at once, and which of them were refused
        self._forget()

    def _forget(self) -> None:
        self.per_second, self._base, self._borne, self._grown = math.inf, 0.0, 0.0, 1.0
        self._begun, self._through = math.inf, 0  # what went through since
        self._requests = self._seconds = 0.0  # from refusal to refusal, the last ones counting most

    def went(self, call: _Call, now: float) -> None:
        """A call goes."""
        if self._refused_at > self._begun:
            self._learn(now)
        self._begun, self._through = min(self._begun, now), self._through + 1
        call.trial, call.refused = self.trial > 0, False
        self.trial -= call.trial
        self.take(1, now)

    def refused(self, call: _Call, now: float) -> float:
        """A call was one too many; seconds for which all shall wait, 0 where it tells nothing about the rate."""
        call.refused = True
        self._share += (1 - self._share) * self.SHARE
        self._through -= call.sent >= self._begun
        by_chance = self._chance and self._share < 1.5 * self._chance + 0.05
        if call.trial or self.trial or self._trial or call.sent <= self._refused_at or by_chance:
            return 0.0
        if self._base < self.FALLEN * self._borne:
            self.trial = self.TRIAL
            return 0.0
        self._dry_since = self._dry_since if self.dry else now
        self._refused_at, self.dry = now, self.dry + 1
        return min(LONGEST, min(5.0, 1.5 / self.per_second if self._base else WAIT) * 3.0 ** min(self.dry - 1, 16))

    def ended(self, call: _Call, now: float) -> None:
        """A call ended, in whatever way."""
        if call.trial:
            self._trial.append(call.refused)
            if len(self._trial) == self.TRIAL:
                self._chance = self._share if sum(self._trial) <= self.TRIAL / 4 else 0.0
                self._borne, self._trial = self._base, []
                if self._chance:
                    self._forget()
        if call.refused:
            return
        self._share -= self._share * self.SHARE
        self._chance = self._chance if self._share > self._chance / 4 else 0.0
        self.dry = 0 if call.sent > self._refused_at else self.dry
        if self._base:
            few = min(1.0, max(8.0, self._requests) / self.CALLS)
            far = min(self._through / self.CALLS, (now - self._begun) / max(self.SECONDS, self._closed)) / few
            self._grown = math.exp(0.03 * (far**3 - 1))
            self.per_second = self._base * self._grown
            if far > 5:  # it does not hold calls back any more
                self._forget()

    def _learn(self, now: float) -> None:
        """Take in the last refusal when the next call goes: by then it is known what was refused together with it."""
        through, seconds, base = self._through, max(1e-3, now - self._begun), self._base
        self._begun, self._through = now, 0
        keep = 1.0
        if through <= 0:  # there is no room yet: what had gone through before takes longer
            self._closed = max(self._closed, now - self._dry_since)
        else:
            alike = through < 3 or 0.67 < through / seconds / (base or math.inf) < 1.5
            keep = self.FADE if alike else 0.0
            self._closed *= self.FADE_CLOSED
        self._requests, self._seconds = keep * self._requests + max(0, through), keep * self._seconds + seconds
        self._base = self._requests / self._seconds
        if through > 0 and base:
            self._borne = max(self.FADE_BORNE * self._borne, self._base)
            self._base *= math.sqrt(max(1.0, self._grown))
        self.per_second, self._grown = self._base or math.inf, 1.0


@dataclass(eq=False)
class Gate:
    """The gate of one endpoint in one event loop.

    `rpm` and `tpm`: requests and tokens a minute that are kept to. `notify` is called with one line when the endpoint goes
    away, comes back or asks to wait, and `on_room` when `room` has changed.
    """

    endpoint: str
    pace: Pace
    _: KW_ONLY
    rpm: float | None = None
    tpm: float | None = None
    notify: Callable[[str], None] | None = None
    uniform: Callable[[float, float], float] = random.uniform

    def __post_init__(self) -> None:
        self.counts, self._tickets = CallCounts(), count()
        self.on_room: Callable[[], object] | None = None
        self._is_there = False  # whether it has said anything in this run, if only that there are too many calls
        self._closed, self._ended = False, ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._begin()

    def _begin(self) -> None:
        """Begin to measure the endpoint, in a loop with a clock of its own."""
        self._learned, self._reported = LearnedRate(), dict[str, ReportedRate]()
        minute = {"requests": self.rpm, "tokens": self.tpm}
        self._rates = [Rate(unit, most / 60, max(1.0, most / 60)) for unit, most in minute.items() if most]
        self._most = float(self.pace.concurrency or MOST)
        self._window, self._fast_until = min(START, self._most), math.inf  # calls under way; up to where it grows fast
        self._latency = self._more = 0.0  # seconds of a reply, and tokens of a call beyond their guess, on average
        self._away = self._probing = False
        self._in_a_row, self._refusals, self._distance = 0, 0, PROBE  # faults, refused keys; seconds between probes
        self._since, self._paused = math.inf, -math.inf  # the first fault after the last success; nothing is sent until
        self._queue: list[tuple[int, _Call, asyncio.Future[bool]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self.under_way = self._resting = 0
        self._room = self.room

    @property
    def room(self) -> int:
        """The useful number of conversations under way: the calls that the endpoint bears, some more, and those that
        rest between two tries."""
        bears = 2 * self._learned.per_second * self._latency + 1 if self._latency else MOST
        return math.ceil(1.25 * min(self._window, max(4.0, bears))) + self._resting

    @property
    def waiting(self) -> int:
        """Calls that are not under way: they wait for their turn, or rest between two tries."""
        return sum(not turn.done() for _, _, turn in self._queue) + self._resting

    @property
    def per_second(self) -> float | None:
        """Requests a second that the endpoint was found to bear; None: nothing holds them back."""
        return self._learned.per_second if self._learned.per_second < math.inf else None

    @property
    def state(self) -> str:
        """One of `running`, `paused` (it asked to wait), `away` (call after call fails) and `ended`."""
        if self._ended or self._away:
            return "ended" if self._ended else "away"
        return "paused" if self._loop is not None and self._paused > self._loop.time() else "running"

    @property
    def held_back_by(self) -> str | None:
        """What holds the calls back now, in words; None: nothing."""
        reasons = {"away": "gone, tried again from time to time", "paused": "it asked to wait", "ended": "given up"}
        if (reason := reasons.get(self.state)) or not self.waiting or self.per_second is None:
            return reason
        return f"slowed down to {self.per_second:.2g} calls a second by refusals as too many"

    @property
    def _patience(self) -> float:
        return self.pace.patience if self._is_there else self.pace.first_patience

    def answered_before(self) -> None:
        """The endpoint has answered this run in an earlier process: when it is gone it is waited for."""
        self._is_there = True

    def close(self) -> None:
        """Send nothing any more, since the run ends: calls that wait for their turn or for another try are over."""
        self._closed, queue, self._queue = True, self._queue, []
        if self._loop is not None and not self._over.done():
            self._over.set_result(None)
        for _, _, turn in queue:
            if not turn.done():
                turn.set_result(False)

    async def call(
        self,
        send: Callable[[], Awaitable[T]],
        *,
        tokens: int = 0,
        spent: Callable[[T], int] | None = None,
        headers: Callable[[T], Mapping[str, str]] | None = None,
    ) -> tuple[T, dict[str, int]]:
        """The reply of a call, and how often it was made again, by fault.

        `send` makes one try. `tokens`: those that the call will take, about; `spent` returns those that it took, and
        `headers` the headers of its reply. CallError: this call fails. EndpointError: no call will succeed.
        RunOverError: the gate was closed before. Any other error is a bug, and passes as it is.
        """
        self._enter()
        self.counts.calls += 1
        call = _Call(next(self._tickets), tokens, self.counts.succeeded)

        async def once() -> T:
            await self._turn(call)
            try:
                self.counts.requests += 1
                reply = await send()
                self._succeeded(call)
                self._report(headers(reply) if headers else {})
                if spent and (took := spent(reply)):
                    self._more += 0.1 * (took - call.guess - self._more)
                    self._take(0, took - call.tokens)
                return reply
            except Exception as error:
                failure = self._failed(call, error)
                if failure is None:
                    raise
                raise failure from error
            finally:
                self._leave(call)

        try:
            try:
                return await once(), call.retried
            except CallError as error:  # only then tenacity is set up: that costs more than all else that is done here
                if not self._again(call, error):
                    raise
            await self._rest(call.rest)
            again = retry_if_exception(lambda error: self._again(call, error))
            retrying = AsyncRetrying(retry=again, wait=lambda state: call.rest, sleep=self._rest, reraise=True)
            return await retrying(once), call.retried
        except Exception:
            self.counts.failed += 1
            raise

    def _enter(self) -> None:
        """Belong to the running loop; what an ended one has left is forgotten."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None and not self._loop.is_closed() and (self.under_way or self.waiting):
                raise RuntimeError(f"the gate of {self.endpoint} is in use in another event loop")
            self._loop, self._over = loop, loop.create_future()
            self._begin()

    async def _turn(self, call: _Call) -> None:
        """Wait until the call may be sent."""
        if not self._closed:
            turn = asyncio.get_running_loop().create_future()
            heapq.heappush(self._queue, (call.ticket, call, turn))
            self._go()
            try:
                if await turn:
                    return
            except asyncio.CancelledError:
                if not turn.cancelled() and turn.result():  # it had its turn in this moment, and is not sent
                    self._take(-1, -call.tokens)
                    self._leave(call)
                raise
        raise EndpointError(self._ended) if self._ended else RunOverError

    def _take(self, requests: float, tokens: float, now: float = -math.inf) -> None:
        for rate in self._rates:
            rate.take(tokens if rate.by_tokens else requests, now)

    def _ready(self, call: _Call) -> float:
        """When the next call may go; infinity: not before another one has ended."""
        most = 1.0 if self._learned.dry > 1 else self._window  # one at a time looks for room
        if self._probing or (not self._away and self.under_way + 1 > most):
            return math.inf
        call.tokens = max(1.0, call.guess + self._more) if call.guess else 0.0
        ready = self._paused if self._learned.trial else max(self._paused, self._learned.ready(1))
        for rate in self._rates:
            ready = max(ready, rate.ready(call.tokens if rate.by_tokens else 1))
        return ready

    def _go(self) -> None:
        """Give turns to those that may go, and come back when the next one may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while self._queue:
            _, call, turn = self._queue[0]
            if not turn.done():  # else cancelled while it waited
                now, ready = loop.time(), self._ready(call)
                if ready > now:
                    self._timer = loop.call_at(ready, self._go) if ready < math.inf else None
                    return
                self._learned.went(call, now)
                self._take(1, call.tokens, now)
                call.sent, call.probe, self._probing = now, self._away, self._away
                self.under_way += 1
                turn.set_result(True)
            heapq.heappop(self._queue)

    def _leave(self, call: _Call) -> None:
        """A call has ended, in whatever way."""
        self.under_way -= 1
        self._probing = self._probing and not call.probe
        self._learned.ended(call, asyncio.get_running_loop().time())
        self._go()
        if (room := self.room) != self._room:
            self._room = room
            if self.on_room is not None:
                self.on_room()

    def _report(self, headers: Mapping[str, str]) -> None:
        for unit, report in limits_in(headers).items():
            if unit not in self._reported:
                self._rates.append(self._reported.setdefault(unit, ReportedRate(unit, math.inf)))
            self._reported[unit].report(report)

    def _succeeded(self, call: _Call) -> None:
        self.counts.succeeded += 1
        now = asyncio.get_running_loop().time()
        self._latency += (now - call.sent - self._latency) * (0.1 if self._latency else 1.0)
        if self.under_way >= 0.7 * self._window:  # it is the window that bounds the calls
            self._window = min(self._most, self._window + (1 if self._window < self._fast_until else 1 / self._window))
            if self._window > 2 * self._fast_until:  # the trouble is over
                self._fast_until = math.inf
        self._answers(now)

    def _answers(self, now: float) -> None:
        """The endpoint is there, whatever it said."""
        if self._away:
            self._say(f"answers again, after {now - self._since:.0f} s")
        self._away, self._is_there = False, True
        self._in_a_row, self._since, self._refusals = 0, math.inf, 0

    def _say(self, what: str) -> None:
        (self.notify or log.warning)(f"{self.endpoint} {what}")

    def _failed(self, call: _Call, error: Exception) -> Exception | None:
        """What an error means for all calls, and what becomes of it; None: it is a bug."""
        fault, now = fault_of(error), asyncio.get_running_loop().time()
        self.counts.faults[fault.name] += 1
        if fault.whose == "ours":
            return None
        self._report(headers_of(error))
        if fault.whose == "request":
            self._answers(now)
        else:
            self._since = min(self._since, now)
            why = (self._limited if fault.whose == "limit" else self._missed)(call, fault, now)
            if why and not self._ended:
                self._ended = f"{self.endpoint}: {why}"
                self.close()
            if self._ended:
                return EndpointError(self._ended)
        return CallError(fault, dict(call.retried))

    def _limited(self, call: _Call, fault: CallFault, now: float) -> str:
        """There are too many calls; why none will succeed any more, in words, if that is so."""
        if self._away:
            self._say("is there again, and refuses calls as too many")
        self._away, self._is_there, self._in_a_row = False, True, 0
        wait = self._learned.refused(call, now)
        if wait:
            bears = max(4.0, 2 * min(MOST, self._learned.per_second * self._latency))
            self._window = self._fast_until = max(1.0, 0.7 * self._window, min(self._window, bears))
        if fault.after is not None:
            wait = fault.after
            if wait >= 5 and now + wait > self._paused:
                self._say(f"asks to wait {wait:.0f} s")
        self._paused = max(self._paused, now + wait)
        if now - self._since + (fault.after or 0.0) < self._patience:
            return ""
        what = f"asks to wait {wait:.0f} s" if fault.after else "refuses all calls as too many"
        return f"{what}, longer than --patience, {self._patience:.0f} s: {fault.detail}; run again later"

    def _missed(self, call: _Call, fault: CallFault, now: float) -> str:
        """There is no usable reply, or the key, the model or the account is refused; the same."""
        left = self._patience - (now - self._since)
        self._in_a_row += 1
        refused = fault.whose == "settings"
        goes = not self._away and (refused or self._in_a_row >= IN_A_ROW)
        if goes or call.probe:
            self._refusals += refused
            self._distance = PROBE if goes else min(PROBE_MOST, 2 * self._distance)
            wait = max(self._distance, fault.after or 0.0)
            self._away, self._paused = (
                True,
                now + (min(wait, left) if left > 0 else wait),
            )  # the last look is at the end
        if refused and (not self.counts.succeeded or self._refusals > REFUSALS):
            return f"{fault.line}; correct it, and run again"
        if goes and not refused:
            self._fast_until, self._window = max(2.0, self._window / 2), min(2.0, self._most)
            what = f"fails call after call, last {fault.name}: all calls wait while one at a time tries"
            self._say(f"{what}, for up to {self._patience:.0f} s")
        if left > 0 or self.under_way > 1:  # what is under way may yet succeed
            return ""
        return f"no usable reply, tried for {now - self._since:.0f} s; last {fault.line}; see to it, and run again"

    def _again(self, call: _Call, error: BaseException) -> bool:
        """Whether a call that failed is to be made again; then it rests for `call.rest`."""
        if not isinstance(error, CallError) or error.fault.whose == "request":
            return False
        fault, now = error.fault, asyncio.get_running_loop().time()
        call.failed_at, call.failures = min(call.failed_at, now), call.failures + 1
        others, call.successes = self.counts.succeeded > call.successes, self.counts.succeeded
        call.own += fault.whose != "limit" and (fault.name in ANSWERED or others or call.own >= BLAMED)
        if call.own >= self.pace.tries or now - call.failed_at + (fault.after or 0.0) > self.pace.patience:
            return False
        call.retried[fault.name] = call.retried.get(fault.name, 0) + 1
        longest = min(LONGEST, 2 * WAIT * 2.0 ** min(call.failures - 1, 16))
        together = self._away or self._paused > now  # what it waits for is the same for all
        left = self._patience - (now - self._since)
        rest = min(self.uniform(0.0, longest), left if left > 0 else longest)  # the last try is when patience ends
        call.rest = 0.0 if together else max(rest, fault.after or 0.0)
        if call.probe:
            call.ticket = next(self._tickets)  # the next probe is another call: this one may be to blame
        return True

    async def _rest(self, seconds: float) -> None:
        """Wait between two tries, or until nothing is sent any more."""
        self._resting += 1
        try:
            await asyncio.wait([self._over], timeout=seconds)
        finally:
            self._resting -= 1
