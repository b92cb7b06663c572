"""The gate of an endpoint: every call to it, of all conversations and both sides, passes here."""

import asyncio
import logging
import random  # noqa: TID251  # when a call is tried again is recorded nowhere
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import TypeVar

from tenacity import AsyncRetrying, retry_if_exception

from ..context_values import during
from ..models.faults import CallFault, fault_of, headers_of
from ..models.reported_limits import listener
from .call_queue import QueueTurn, Turns
from .health import Health
from .reservations import RunOverError
from .tries import CallAttempts, CallCounts, CallError, EndpointError, Pace

__all__ = ["CallCounts", "CallError", "EndpointError", "Gate", "Pace"]

T = TypeVar("T")
log = logging.getLogger(__name__)


class Gate:
    """The gate of one endpoint in one event loop.

    `notify` is called with one line when the endpoint becomes unreachable or reachable, and each of `on_room` with
    each new `room`.
    """

    def __init__(
        self,
        endpoint: str,
        pace: Pace,
        *,
        notify: Callable[[str], None] | None = None,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self.endpoint, self.pace, self.counts = endpoint, pace, CallCounts()
        self.on_room: list[Callable[[int], object]] = []
        self._notify, self._uniform = notify, uniform
        self._tickets = count()
        self._ended: str | None = None
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._begin()

    def _begin(self) -> None:
        """Begin to measure the endpoint, in a loop with a clock of its own."""
        self._health = Health(self.pace, self._say, self._uniform)
        self._turns = Turns(lambda turn, now: self._health.ready(turn, now), self._taken, self._returned)
        self._resting: set[asyncio.Future[None]] = set()
        self._room = self.room

    @property
    def room(self) -> int:
        """The useful number of conversations under way.

        It counts the calls that the endpoint bears, some to spare, and those that rest between two tries.
        """
        return self._health.room + len(self._resting)

    @property
    def under_way(self) -> int:
        """Calls that were sent and have not ended."""
        return self._health.under_way

    @property
    def waiting(self) -> int:
        """Calls that are not under way: they wait for their turn, or rest between two tries."""
        return self._turns.waiting + len(self._resting)

    @property
    def per_second(self) -> float | None:
        """Requests a second that the endpoint was found to bear; None: nothing holds them back."""
        return self._health.learned.per_second

    @property
    def state(self) -> str:
        """One of `running`, `paused` (it asked to wait), `away` (the breaker is open) and `ended`."""
        if self._ended is not None:
            return "ended"
        if self._health.breaker.open:
            return "away"
        return "paused" if self._loop is not None and self._health.paused > self._loop.time() else "running"

    @property
    def waits_for(self) -> str | None:
        """Why no call is sent just now, in words; None if calls are sent."""
        reasons = {"away": "gone, tried again from time to time", "paused": "it asked to wait", "ended": "given up"}
        return reasons.get(self.state)

    def answered_before(self) -> None:
        """The endpoint has answered this run in an earlier process: when it is gone it is waited for."""
        self._health.breaker.has_replied = True

    @property
    def held_back_by(self) -> str | None:
        """What holds the calls back now, in words: that none is sent, or the pace that refusals have taught."""
        if (waits_for := self.waits_for) is not None:
            return waits_for
        if not self.waiting:
            return None
        if self._loop is not None and (wait := self._health.wait_for_room(self._loop.time())) >= 1:
            return f"no room within its reported limit for {wait:.0f} s"
        pace = self.per_second
        if pace is None:
            return None
        return f"slowed down to {pace:.2g} calls a second by refusals as too many"

    async def call(
        self,
        send: Callable[[], Awaitable[T]],
        *,
        tokens: int = 0,
        spent: Callable[[T], int] | None = None,
        failed: Callable[[CallFault], None] | None = None,
        most: int | None = None,
    ) -> tuple[T, dict[str, int]]:
        """The reply of a call, and how often it was made again, by fault.

        `tokens`: the tokens that the call will take, about; `spent` returns those that it took. `failed` is called with
        each fault. `most`: maximum tries of this call while others succeed, in place of the pace's.
        CallError: this call fails. EndpointError: no call will succeed. RunOverError: the gate was closed before.
        """
        self._enter()
        ticket, least = next(self._tickets), 0
        own = most is not None
        tries = CallAttempts(most or self.pace.tries, self.pace.wait, self.pace.patience, self._uniform, asked_for=own)

        async def once() -> T:
            nonlocal ticket, least
            sends = self._ended is None and not self._closed
            turn = await self._turns.wait(ticket, tokens, least) if sends else None
            if turn is None:
                raise RunOverError if self._ended is None else EndpointError(self._ended)
            if turn.probe:
                ticket = next(self._tickets)  # the next probe is another call: this one may be to blame
            try:
                return await self._sent(send, turn, tries, spent, failed)
            finally:
                least = turn.least
                self._leave(turn)

        self.counts.calls += 1
        try:
            try:
                return await once(), tries.retried
            except CallError as error:  # only then tenacity is set up: that costs more than all else that is done here
                return await self._again(error, once, tries), tries.retried
        except RunOverError:
            raise
        except Exception:
            self.counts.failed += 1
            raise

    async def _again(self, error: CallError, once: Callable[[], Awaitable[T]], tries: CallAttempts) -> T:
        """The reply of a call that failed once, if it is to be made again; else its error."""
        first: CallError | None = error

        async def following() -> T:
            nonlocal first
            if first is None:
                return await once()
            error, first = first, None
            raise error

        again = AsyncRetrying(
            retry=retry_if_exception(tries.again), stop=tries.stop, wait=tries.wait, sleep=self._rest, reraise=True
        )
        return await again(following)

    async def _sent(
        self,
        send: Callable[[], Awaitable[T]],
        turn: QueueTurn,
        tries: CallAttempts,
        spent: Callable[[T], int] | None,
        failed: Callable[[CallFault], None] | None,
    ) -> T:
        """The reply of one try."""
        loop = asyncio.get_running_loop()
        tries.begin(self.counts.succeeded)
        self.counts.requests += 1
        reports = 0

        def listen(headers: Mapping[str, str]) -> None:
            nonlocal reports
            reports += 1
            self._health.report(headers, turn)

        try:
            with during(listener, listen):
                reply = await send()
        except Exception as error:
            if not reports:  # of another package's client only the errors have them
                listen(headers_of(error))
            fault = fault_of(error)
            self._judge(turn, fault, tries, loop.time())
            if failed is not None:
                failed(fault)
            if fault.whose == "ours":
                raise
            if self._ended is not None and fault.whose != "request":
                raise EndpointError(self._ended) from error
            raise CallError(fault, dict(tries.retried)) from error
        self.counts.succeeded += 1
        self._health.succeeded(turn, loop.time())
        if spent is not None:
            self._health.correct(turn, spent(reply) or turn.tokens)
        return reply

    def _judge(self, turn: QueueTurn, fault: CallFault, tries: CallAttempts, now: float) -> None:
        """Take in a fault: what it means for all calls, and for this one."""
        self.counts.faults[fault.name] += 1
        why = self._health.failed(turn, fault, now)
        if why is not None:
            self._end(why)
        breaker = self._health.breaker
        shared = breaker.open or fault.whose == "settings" or (fault.whose == "limit" and self._health.paused > now)
        tries.failed(fault, now, self.counts.succeeded, shared=shared)
        if breaker.since is not None and now < breaker.deadline():
            tries.rest = min(tries.rest, breaker.deadline() - now)  # the last try is made when patience ends

    def _enter(self) -> None:
        """Belong to the running loop; what an ended one has left is forgotten."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            if not self._loop.is_closed() and (self.under_way or self.waiting):
                raise RuntimeError(f"the gate of {self.endpoint} is in use in another event loop")
            self._begin()
        self._loop = loop

    def _taken(self, turn: QueueTurn) -> None:
        """A call has its turn."""
        self._health.take(turn, turn.permission.get_loop().time(), others=self._turns.waiting > 0)

    def _returned(self, turn: QueueTurn) -> None:
        """A call was cancelled in the moment in which it was given its turn."""
        self._health.give_back(turn)
        self._turns.go()

    def _leave(self, turn: QueueTurn) -> None:
        """A call has ended, in whatever way."""
        self._health.leave(turn)
        self._turns.go()
        room = self.room
        if room == self._room:
            return
        self._room = room
        for on_change in self.on_room:
            on_change(room)

    async def _rest(self, seconds: float) -> None:
        """Wait between two tries, or until nothing is sent any more."""
        if seconds <= 0 or self._ended is not None or self._closed:
            return
        loop = asyncio.get_running_loop()
        rest = loop.create_future()
        timer = loop.call_later(seconds, _wake, rest)
        self._resting.add(rest)
        try:
            await rest
        finally:
            timer.cancel()
            self._resting.discard(rest)

    def _end(self, why: str) -> None:
        """Send nothing any more: whoever waits gets the reason."""
        if self._ended is None:
            self._ended = f"{self.endpoint}: {why}"
            self._send_nothing()

    def close(self) -> None:
        """Send nothing any more, since the run ends: calls that wait for their turn or for another try are over."""
        self._closed = True
        self._send_nothing()

    def _send_nothing(self) -> None:
        self._turns.end()
        for rest in self._resting:
            _wake(rest)

    def _say(self, what: str) -> None:
        log.log(logging.INFO if self._notify else logging.WARNING, "%s %s", self.endpoint, what)
        if self._notify is not None:
            self._notify(f"{self.endpoint} {what}")


def _wake(rest: asyncio.Future[None]) -> None:
    if not rest.done():
        rest.set_result(None)
