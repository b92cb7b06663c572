"""The tries of calls: how they are to be made, what is tried again, when, and when it is enough."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tenacity import RetryCallState

from ...errors import DuologueError
from ..context_values import during
from ..models.faults import CallFault
from ..settings.redaction import error_line

T = TypeVar("T")

LONGEST = 30.0
"""Most seconds between two tries of a call."""
LAST_TURNS = 100
"""Turns of the event loop that a cancelled call has to take in a reply that is there already."""


ANSWERED = frozenset({"null_content", "no_choices", "not_json", "not_a_completion"})
"""Faults of an endpoint that answered all the same."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How calls to an endpoint are made."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    concurrency: int | None = None
    """Most calls under way; None: as many as the endpoint bears, found out by trying."""
    patience: float = 600.0
    """Seconds for which an endpoint that has answered in this run is waited for."""
    first_patience: float = 15.0
    """Seconds for which one that has never answered is tried."""
    tries: int = 10
    """Most tries of one call while other calls succeed."""
    wait: float = 0.5
    """Seconds before the second try, about; they double from try to try."""


@dataclass
class CallCounts:
    """What a gate has done so far."""

    calls: int = 0
    requests: int = 0
    """Calls as they were sent, each try counted."""
    succeeded: int = 0
    failed: int = 0
    """Calls that ended with an error; those that were cancelled are not among them."""
    faults: Counter[str] = field(default_factory=Counter)
    """Faults by name, each try counted."""


class EndpointError(DuologueError, RuntimeError):
    """An endpoint that this run cannot use: one line with the reason and the correction."""

    @property
    def record_line(self) -> str:
        """The line, for records."""
        return str(self)


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


class CallAttempts:
    """What tenacity asks about one call.

    Tries are bounded in number while other calls succeed: then it is this call that fails. When none does, it is the
    endpoint, and the breaker bounds them in time. Refusals as too many are bounded only in time: they contain nothing
    about the call.
    """

    BLAMED = 3
    """Failures while others succeeded, after which a call is to blame for its further ones too."""

    def __init__(
        self,
        most: int,
        wait: float,
        patience: float,
        uniform: Callable[[float, float], float],
        *,
        asked_for: bool = False,
    ) -> None:
        """`asked_for`: the number is the call's own, and holds whether others succeed or not."""
        self._most, self._wait, self._patience, self._uniform = most, wait, patience, uniform
        self._asked_for = asked_for
        self.retried: dict[str, int] = {}
        self.successes = 0
        """Calls of the gate that had succeeded when this one was tried last."""
        self.fault: CallFault | None = None
        self.rest = 0.0
        """Seconds to the next try."""
        self._own = self._limits = self._all = 0
        self._first: float | None = None
        self._over = False

    def begin(self, successes: int) -> None:
        """The call is sent."""
        if self.fault is not None:
            self.retried[self.fault.name] = self.retried.get(self.fault.name, 0) + 1
        else:
            self.successes = successes

    def failed(self, fault: CallFault, now: float, successes: int, *, shared: bool) -> None:
        """The call failed; `shared`: what it waits for is the same for all, and needs no rest of its own."""
        self.fault = fault
        self._first = now if self._first is None else self._first
        if fault.whose == "limit":
            self._limits += 1
            self._own += self._asked_for
            alone = self._limits - shared  # where all wait, the first rest is theirs
            self.rest = self._jitter(alone - 1) if alone else 0.0
            self.rest = self.rest if shared else max(self.rest, fault.after or 0.0)
        else:
            self._limits = 0
            answered = fault.name in ANSWERED  # it is there, and may answer this request so for ever
            self._own += self._asked_for or answered or successes > self.successes or self._own >= self.BLAMED
            self._all += 1
            self.rest = 0.0 if shared else max(self._jitter(self._all - 1), fault.after or 0.0)
        self.successes = successes
        self._over = self._own >= self._most or now - self._first + (fault.after or 0.0) > self._patience

    def again(self, error: BaseException) -> bool:
        """Whether an error can be gone at the next try."""
        return isinstance(error, CallError) and error.fault.whose in ("endpoint", "limit", "settings")

    def stop(self, state: RetryCallState) -> bool:
        """Whether it was tried often or long enough."""
        return self._over

    def wait(self, state: RetryCallState) -> float:
        """Seconds to the next try."""
        return self.rest

    def _jitter(self, doubled: int) -> float:
        """Exponential with full jitter, the first about `wait`."""
        return self._uniform(0.0, min(LONGEST, 2 * self._wait * 2.0 ** min(doubled, 16)))


async def reply_despite_cancellation(
    call: Coroutine[Any, Any, T], check: Callable[[T], object] | None = None
) -> tuple[T, asyncio.CancelledError | None]:
    """The reply of a call, and the cancellation that met it, if there was one.

    A reply that has come is paid for, so a cancellation of the waiting task does not lose it. The caller that gets a
    cancellation raises it once the reply is stored, and waits for nothing before.

    `check` raises for a reply that cannot be used. A call that has no reply within `LAST_TURNS` is cancelled itself.
    """
    task = asyncio.ensure_future(call)
    cancelled: asyncio.CancelledError | None = None
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError as error:
        cancelled = error
        await _last_turns(task)
    try:
        reply = task.result()
        if check is not None:
            check(reply)
    except Exception:
        if cancelled is not None:
            raise cancelled from None
        raise
    return reply, cancelled


async def _last_turns(task: "asyncio.Future[Any]") -> None:
    """Let a call end, or end it."""
    try:
        for _ in range(LAST_TURNS):
            if task.done():
                return
            await asyncio.sleep(0)
    finally:
        if not task.done():
            task.cancel()
    await asyncio.wait({task})


_LOST: ContextVar[list[str] | None] = ContextVar("duologue_lost_calls", default=None)


def lost_calls() -> AbstractContextManager[list[str]]:
    """The calls inside that got no reply, each in one line: also those whose error was caught."""
    return during(_LOST, list[str]())


def note_lost(error: Exception) -> None:
    """Note a call that got no reply."""
    if (lost := _LOST.get()) is not None:
        lost.append(error_line(error))
