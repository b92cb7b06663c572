"""The gate of an endpoint: every call to it, of all conversations and both sides, passes here.

Calls go first come, first served: as many at a time as a window lets, and as fast as every rate lets: those that are set,
those that the endpoint reports, and one that its refusals teach. When call after call fails the endpoint is away: all wait,
and one at a time looks whether it is there again.
"""

import asyncio
import logging
import math
import random  # noqa: TID251  # when a call is tried again is recorded nowhere
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import TypeVar

from tenacity import AsyncRetrying, retry_if_exception

from ...errors import DuologueError
from ..models.faults import A_DAY, CallFault, fault_of, headers_of, seconds_of

T = TypeVar("T")

WAIT, LONGEST = 0.5, 30.0  # seconds before the second try, about, and at most before any: they double from try to try
START, MOST = 8.0, 512.0  # calls under way at the beginning, and at most
IN_A_ROW = 8  # faults one after another after which the endpoint is away
PROBE, PROBE_MOST = 1.0, 5.0  # seconds until one call looks whether it is there again, and most between two
PATIENCE = 600.0  # seconds for which an endpoint that has answered in this run is waited for
FIRST_PATIENCE = 15.0  # seconds for which an endpoint that has never answered is waited for
TRIES = 10  # most tries of one call while other calls succeed
REFUSALS = 3  # looks after which a key, model or account is refused for good, where the endpoint has answered
BLAMED = 3  # failures while others succeeded, after which a call is to blame for all its failures
ANSWERED = frozenset({"null_content", "no_choices", "not_json", "not_a_completion"})  # it may answer a call so for ever
LIMITS = [
    (unit, [pattern.format(name=name, unit=unit) for name in ("limit", "remaining", "reset")])
    for pattern in ("x-ratelimit-{name}-{unit}", "anthropic-ratelimit-{unit}-{name}")
    for unit in ("requests", "tokens")
]


class EndpointError(DuologueError, RuntimeError):
    """An endpoint that this run cannot use: one line with the reason and the correction."""

    record_line = property(str)


class CallError(Exception):
    """One call failed for good: `fault` is the last one, `retried` how often it was made again, by fault."""

    def __init__(self, fault: CallFault, retried: dict[str, int]) -> None:
        super().__init__(f"{fault.name}: {fault.detail}")
        self.fault, self.retried = fault, retried
        self.record_line = fault.line + (f"; tried {sum(retried.values()) + 1} times" if retried else "")


class RunOverError(BaseException):
    """No further call of the run may begin. No Exception: nothing on its way may take it for a call that failed."""

    record_line = "the run ended before this call"


@dataclass(slots=True)
class _Call:
    """One call: its turn, and what its tries have come to."""

    tokens: int
    successes: int  # calls that had succeeded when it was tried last
    sent: float = 0.0
    one_of: int = 0  # so many calls under way, when it was sent
    probe: bool = False  # it looks whether the endpoint is there, or has room again
    trial: bool = False  # it looks whether refusals come by chance
    refused: bool = False  # as one too many
    retried: dict[str, int] = field(default_factory=dict)
    rest: float | None = None  # seconds to the next try, None: there is none
    own: int = 0  # failures for which it is to blame itself
    failed_at: float = math.inf  # for the first time


def limits_in(headers: Mapping[str, str]) -> dict[str, tuple[float, float, float]]:
    """The limits in headers by unit (`requests`, `tokens`): amount, what is left, and seconds until all is left again.

    Read are OpenAI's `x-ratelimit-*`, which many copy, and `anthropic-ratelimit-*`; not where a value makes no sense.
    """
    values = {name.lower(): value for name, value in headers.items()} if headers else {}
    reports = {}
    for unit, keys in LIMITS:
        if keys[0] in values:
            amount, left, reset = (seconds_of(values.get(key, ""), values.get("date")) for key in keys)
            if 0 < amount < math.inf and 0 <= left < math.inf and reset <= A_DAY:
                reports[unit] = amount, left, max(0.0, reset)
    return reports


class Rate:
    """So many units (`requests`, `tokens`) a second, smoothly, and some at once after a rest.

    An amount may be larger than that: it goes when nothing is owed, and later ones wait until it is paid for.
    """

    def __init__(self, unit: str, per_second: float, at_once: float = 1.0) -> None:
        self.by_tokens, self.per_second, self._at_once = unit == "tokens", per_second, at_once
        self._paid = -math.inf

    def ready(self, amount: float) -> float:
        """When an amount may go."""
        return self._paid + (min(amount, self._at_once) - self._at_once) / self.per_second

    def take(self, amount: float, now: float = -math.inf) -> None:
        """An amount goes; without a time it is one that was forgotten, or below 0 is given back."""
        self._paid = max(self._paid, now) + amount / self.per_second


class ReportedRate(Rate):
    """The rate of a limit that an endpoint reports: what is left goes within a minute, what comes anew as it comes.

    The seconds to a full amount are the length of a window; those of a bucket grow to that while it empties. So the
    longest ones tell how fast the amount comes anew. The last of it is left: others may use the same limit.
    """

    _amount = _longest = 0.0

    def report(self, amount: float, left: float, reset: float) -> None:
        """Take in a report: how much there is and is left, and seconds until all is left again."""
        self._longest = max(self._longest if amount == self._amount else 1e-3, reset)
        self._amount = amount
        scarce = min(1.0, 0.5 + 10 * (left + 1) / amount)
        self.per_second = max(scarce * amount / self._longest, left / 60)


class LearnedRate(Rate):
    """The requests a second that refusals teach: as many as there are, until the first one.

    From refusal to refusal an endpoint takes what its limit gives anew in that time, be it a window or a bucket: that is
    the rate. Calls go a little slower then, and faster again: hardly for as many calls as it was learned from, but steeply
    after that. Gateways also refuse calls by chance, however few there are. So when
    the rate has fallen below the one that was borne, a few calls go at once: a limit that just refused one refuses most.
    """

    CALLS, LEAST, SECONDS = 60.0, 8.0, 10.0  # most and fewest calls, and seconds, in which it grows to what was learned
    FADE, FADE_BORNE = 0.75, 0.98  # what remains of what was seen before, from refusal to refusal
    FALLEN, TRIAL = 0.8, 4  # share of the borne rate below which refusals are doubted, and calls that then go at once
    SHARE = 1 / 32  # of one call in the share of the last ones that was refused

    def __init__(self, chance: float = 0.0) -> None:
        super().__init__("requests", math.inf)
        self.chance = self._share = chance  # of the calls that are refused: by chance, and lately
        self._base, self._borne, self._grown = 0.0, 0.0, 1.0
        self.begun, self._through = math.inf, 0  # when it began to learn, and what went through since
        self._requests = self._seconds = 0.0  # from refusal to refusal, the last ones counting most
        self.dry, self._refused_at = 0, -math.inf  # refusals since a call went through
        self.trial = 0  # calls that are still to go at once
        self._trial: list[bool] | None = None  # which of these were refused

    def went(self, call: _Call, now: float) -> None:
        """A call goes."""
        if self._refused_at > self.begun:
            self._learn(now)
        self.begun, self._through = min(self.begun, now), self._through + 1
        call.trial, call.refused = self.trial > 0, False
        self.trial -= call.trial
        self.take(1, now)

    def refused(self, call: _Call, now: float) -> float:
        """A call was one too many; seconds for which all shall wait, 0 where it tells nothing about the rate."""
        call.refused = True
        self._share += (1 - self._share) * self.SHARE
        self._through -= call.sent >= self.begun
        by_chance = self.chance and self._share < 1.5 * self.chance + 0.05
        if self._trial is not None or call.sent <= self._refused_at or by_chance:
            return 0.0
        if self._base < self.FALLEN * self._borne:
            self.trial, self._trial = self.TRIAL, []
            return 0.0
        self._refused_at, self.dry = now, self.dry + 1
        return min(LONGEST, min(5.0, 1.5 / self.per_second if self._base else WAIT) * 2.0 ** min(self.dry - 1, 16))

    def ended(self, call: _Call, now: float) -> bool:
        """A call ended, in whatever way; whether what was learned holds no more."""
        if call.trial and self._trial is not None:
            self._trial.append(call.refused)
            if len(self._trial) == self.TRIAL:
                self.chance = min(0.4, self._share) if sum(self._trial) <= self.TRIAL / 4 else 0.0
                self._borne, self._trial = self._base, None
                return self.chance > 0
        if call.refused:
            return False
        self._share -= self._share * self.SHARE
        self.chance = self.chance if self._share > self.chance / 4 else 0.0
        self.dry = 0 if call.sent > self._refused_at else self.dry
        calls = min(self.CALLS, max(self.LEAST, self._requests))
        far = min(6.0, self._through / calls, (now - self.begun) / (self.SECONDS * calls / self.CALLS))
        self._grown = math.exp(0.03 * (far**3 - 1))
        self.per_second = self._base * self._grown or math.inf
        return far > 5 and self._base > 0 and self._trial is None

    def _learn(self, now: float) -> None:
        """Take in the last refusal when the next call goes: by then it is known what was refused together with it."""
        through, seconds, before = self._through, max(1e-3, now - self.begun), self._base
        self.begun, self._through = now, 0
        keep = self.FADE if through > 0 else 1.0  # there is no room yet: what had gone through before takes longer
        self._requests, self._seconds = keep * self._requests + max(0, through), keep * self._seconds + seconds
        self._base = self._requests / self._seconds
        if through > 0 and before:
            self._borne = max(self.FADE_BORNE * self._borne, self._base)
            self._base *= math.sqrt(max(1.0, self._grown))  # it was slower than that most of the time
        self.per_second, self._grown = self._base or math.inf, 1.0


@dataclass(eq=False)
class Gate:
    """The gate of one endpoint in one event loop; in another one it begins anew.

    `notify` is called with one line when the endpoint goes away, comes back or asks to wait, and `on_room` when `room` has
    changed.
    """

    endpoint: str
    _: KW_ONLY
    concurrency: int | None = None  # most calls under way; None: as many as the endpoint bears, found out by trying
    rpm: float | None = None  # requests a minute that are kept to
    tpm: float | None = None  # likewise tokens
    notify: Callable[[str], None] | None = None
    uniform: Callable[[float, float], float] = random.uniform
    on_room: Callable[[], object] | None = field(default=None, init=False)
    answered: bool = field(default=False, init=False)  # in this run, if only that there are too many calls
    requests: int = field(default=0, init=False)  # each try is one
    succeeded: int = field(default=0, init=False)
    faults: Counter[str] = field(default_factory=Counter, init=False)  # of all tries, by name
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        minute = {"requests": self.rpm, "tokens": self.tpm}
        self._rates = [Rate(unit, most / 60, max(1.0, most / 60)) for unit, most in minute.items() if most]
        self._learned, self._reported = LearnedRate(), {unit: ReportedRate(unit, math.inf) for unit in minute}
        self._rates += self._reported.values()
        self._most = float(self.concurrency or MOST)
        self._window = self._most if self.concurrency else START  # calls under way: what was set is begun with
        self._away, self._probing, self._in_a_row = False, False, 0  # faults one after another
        self._since, self._paused = math.inf, -math.inf  # the first fault after a success; until then nothing is sent
        self._inside, self._idle = 0, 0.0  # calls in here, and since when there is none
        self._ready = -math.inf  # when the rates let the next call go
        self._over, self.ended = asyncio.Event(), ""  # nothing is sent any more; why, if the endpoint is the reason
        self._line, self._front = asyncio.Lock(), asyncio.Lock()  # where calls wait, and where the next ones do
        self._change = asyncio.Event()  # for which the next one waits
        self.under_way, self._room = 0, self.room

    @property
    def room(self) -> int:
        """The useful number of conversations under way: as many as calls may be, and some to spare."""
        return math.ceil(1.25 * self._window)

    @property
    def held_back_by(self) -> str | None:
        """What holds the calls back now, in words; None: nothing."""
        now = math.inf if self._loop is None else self._loop.time()
        if self.ended or self._away:
            return "given up" if self.ended else "gone, tried again from time to time"
        if self._paused > now:
            return "it asked to wait"
        if (rate := self._learned.per_second) < math.inf:
            return f"slowed down to {rate:.2g} calls a second by refusals as too many"
        return "as fast as the rate that is set, or that it reports" if now < self._ready < math.inf else None

    def close(self) -> None:
        """Send nothing any more, since the run ends: calls that wait for their turn or for another try are over."""
        self._over.set()
        self._change.set()

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
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            self.__post_init__()
        self._loop = loop
        call = _Call(tokens, self.succeeded)

        async def once() -> T:
            await self._turn(call)
            try:
                reply = await send()
                self._succeeded(call, spent(reply) if spent else 0, headers(reply) if headers else {})
                return reply
            except Exception as error:
                self._failed(call, error)
                raise
            finally:
                self._leave(call)

        if not self._inside:  # time without calls tries no patience, and says little of a rate
            self._since += loop.time() - self._idle
            self._learned.begun += max(0.0, loop.time() - self._idle - self._learned.SECONDS)
        self._inside += 1
        try:
            return await once(), call.retried
        except CallError:  # only then tenacity is set up: that costs more than all else that is done here
            if call.rest is None:
                raise
            rests, again = partial(_heard, self._over), retry_if_exception(lambda error: call.rest is not None)
            await rests(call.rest)
            retrying = AsyncRetrying(retry=again, wait=lambda state: call.rest or 0.0, sleep=rests, reraise=True)
            return await retrying(once), call.retried
        finally:
            self._inside, self._idle = self._inside - 1, loop.time()

    async def _turn(self, call: _Call) -> None:
        """Wait until the call may be sent: first come, first served, and those that were tried before come first."""
        loop, call.rest = asyncio.get_running_loop(), None
        async with nullcontext() if call.retried else self._line, self._front:
            while not self._over.is_set():
                now, ready, trial = loop.time(), math.inf, self._learned.trial > 0
                call.probe = self._away or (self._learned.dry > 1 and not trial)  # then one at a time goes, and looks
                if not self._probing and (call.probe or trial or self.under_way + 1 <= self._window):
                    rates = self._rates if trial else (self._learned, *self._rates)
                    ready = max([self._paused, *(rate.ready(call.tokens if rate.by_tokens else 1) for rate in rates)])
                if ready <= now:
                    self._learned.went(call, now)
                    self._take(1, call.tokens, now)
                    call.sent, self._probing = now, call.probe
                    self.under_way, self.requests = self.under_way + 1, self.requests + 1
                    call.one_of = self.under_way
                    return
                self._ready = ready
                self._change.clear()
                await _heard(self._change, ready - now)
        raise EndpointError(self.ended) if self.ended else RunOverError

    def _take(self, requests: float, tokens: float, now: float = -math.inf) -> None:
        for rate in self._rates:
            rate.take(tokens if rate.by_tokens else requests, now)

    def _leave(self, call: _Call) -> None:
        """A call has ended, in whatever way."""
        self.under_way -= 1
        self._probing = self._probing and not call.probe
        if self._learned.ended(call, asyncio.get_running_loop().time()):
            self._learned = LearnedRate(self._learned.chance)
        self._change.set()
        if self.on_room is not None and self._room != self.room:
            self._room = self.room
            self.on_room()

    def _report(self, headers: Mapping[str, str]) -> None:
        for unit, report in limits_in(headers).items():
            self._reported[unit].report(*report)

    def _succeeded(self, call: _Call, took: int, headers: Mapping[str, str]) -> None:
        self.succeeded += 1
        if max(call.one_of, self.under_way) >= 0.7 * self._window:  # it is the window that bounds the calls
            self._window = min(self._most, self._window + 1)
        self._is_back()
        self._report(headers)
        self._take(0, took - call.tokens if took else 0)

    def _is_back(self, since: float = math.inf) -> None:
        """The endpoint says something; `since`: from then on nothing that is of use."""
        if self._away:
            self._say("answers again")
        self._away, self._in_a_row, self.answered, self._since = False, 0, True, since

    def _say(self, what: str) -> None:
        (self.notify or logging.getLogger(__name__).warning)(f"{self.endpoint} {what}")

    def _failed(self, call: _Call, error: Exception) -> None:
        """Take in what an error means for all calls and for its own, and raise what it is; a bug stays what it is."""
        fault, now = fault_of(error), asyncio.get_running_loop().time()
        self.faults[fault.name] += 1
        if fault.whose == "ours":
            return
        if fault.whose == "request":
            self._is_back()
        else:
            self._report(headers_of(error))
            self._since = min(self._since, now)
            ends = (self._limited if fault.whose == "limit" else self._missed)(call, fault, now)
            self._plan(call, fault, now, ends=ends)
        raise (EndpointError(self.ended) if self.ended else CallError(fault, dict(call.retried))) from error

    def _limited(self, call: _Call, fault: CallFault, now: float) -> bool:
        """There are too many calls: go slower, or wait as it asks. Whether the endpoint is given up."""
        self._is_back(self._since)
        wait = self._learned.refused(call, now)
        if wait:
            self._window = max(min(START / 2, self._most), 0.7 * self._window)
        if fault.after is not None:
            wait = fault.after
            if wait >= 5 and now + wait > self._paused:
                self._say(f"asks to wait {wait:.0f} s")
        self._paused = max(self._paused, now + wait)
        return self._left(now) <= (fault.after or 0.0)

    def _missed(self, call: _Call, fault: CallFault, now: float) -> bool:
        """There is no usable reply: when that goes on, all wait but for one. Whether the endpoint is given up."""
        left = self._left(now)
        if not self._away or call.probe:
            self._in_a_row += 1
            if self._in_a_row == IN_A_ROW:
                self._window = min(2.0, self._most)
                self._say(f"fails call after call, last {fault.name}: all calls wait while one at a time tries")
            if self._in_a_row >= IN_A_ROW:
                wait = max(min(PROBE_MOST, PROBE * 2.0 ** (self._in_a_row - IN_A_ROW)), fault.after or 0.0)
                self._away, self._paused = True, now + (min(wait, left) if left > 0 else wait)  # the last look is then
        if fault.whose == "settings" and (not self.succeeded or self._in_a_row >= IN_A_ROW + REFUSALS):
            return True
        return left <= 0 and self.under_way <= 1  # else what is under way may yet succeed

    def _left(self, now: float) -> float:
        """Seconds for which the endpoint is still waited for."""
        return (PATIENCE if self.answered else FIRST_PATIENCE) - (now - self._since)

    def _plan(self, call: _Call, fault: CallFault, now: float, *, ends: bool) -> None:
        """Decide whether a call that failed is to be made again and when, or that none is."""
        if ends and not self.ended:
            tried = f"tried for {now - self._since:.0f} s, patience is {self._left(self._since):.0f} s"
            asks = f"; it asks to wait {fault.after:.0f} s" if fault.after else ""
            self.ended = f"{self.endpoint}: {fault.line}{asks} ({tried}); see to it, and run again"
            self.close()
        call.failed_at = min(call.failed_at, now)
        others, call.successes = self.succeeded > call.successes, self.succeeded
        call.own += fault.whose != "limit" and (fault.name in ANSWERED or others or call.own >= BLAMED)
        over = call.own >= TRIES or now - call.failed_at + (fault.after or 0.0) > PATIENCE
        if not over and not self.ended:
            left = self._left(now)
            longest = min(LONGEST, 2 * WAIT * 2.0 ** min(sum(call.retried.values()), 16), left if left > 0 else LONGEST)
            together = self._away or self._paused > now  # what it waits for is the same for all
            call.rest = 0.0 if together else max(self.uniform(0.0, longest), fault.after or 0.0)
            call.retried[fault.name] = call.retried.get(fault.name, 0) + 1


async def _heard(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most so long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds if seconds < math.inf else None):
            await event.wait()
