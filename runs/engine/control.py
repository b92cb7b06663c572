"""Ending a run that is under way before its plan is done."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ...nodes.calls.gate import Pace
from ...nodes.calls.service import Calls, during, store_outside
from ...nodes.calls.spending import Spending
from ...nodes.calls.store import CallStore, Replies, SharedReplies
from ..journals.in_memory import StoreInMemory
from .reports import EndpointNow
from .turns import LoopTurns

T = TypeVar("T")

LAST_SECONDS = 10.0
"""Most seconds that calls under way have when a run ends before its plan is done."""
GRACE = 0.5
"""Seconds that agents under way have to answer when a run ends in order."""


@dataclass
class Control:
    """Decides before each conversation whether it begins; its holder may end the run in order."""

    spending: Spending = field(default_factory=Spending)
    pace: Pace = field(default_factory=Pace)
    ending: str | None = None
    """Why no further conversation begins, in words; None if they do. What is under way goes on to its end."""
    notify: Callable[[str], None] | None = None
    """Called with one line when an endpoint becomes unreachable or reachable."""
    works: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])
    """The pieces of work under way, such as conversations, each a task."""
    services: list[Calls] = field(default_factory=list[Calls])
    """The calls of the run that is under way, or of each of the runs."""
    turns: LoopTurns | None = None
    """Of runs that are made at the same time; None for one."""
    shared: SharedReplies = field(default_factory=SharedReplies)
    """What the user's model replied in other of these runs."""
    cutting: str | None = None
    """Why conversations under way end before their next turn, in words; None if they go on."""
    closed: bool = False
    """Whether no call of a model begins any more."""
    dropped: bool = False
    """Whether agents are waited for no more: conversations that wait for one are cancelled."""
    signal: int | None = None
    """Number of the signal that ended it."""
    lasting: bool = False
    """Whether it is of many small runs: in one event loop they share endpoints and the room in the budget."""
    records: set[Path] = field(default_factory=set)
    """Files of replies that a run under this control has begun: the next ones write into them too."""
    _loop: asyncio.AbstractEventLoop | None = None
    """The loop of the run that began last."""
    _passed: str | None = None
    """The bound of money or tokens that is reached, in words."""

    def end(self, reason: str) -> None:
        """Begin nothing new from now on."""
        self.ending = self.ending or reason

    def cut(self, reason: str) -> None:
        """Begin nothing new from now on, and end what is under way before its next turn (`budget`)."""
        self.cutting = self.cutting or reason
        self.end(reason)
        for calls in self.services:
            calls.reservations.wake()

    def endpoints(self) -> Iterator[EndpointNow]:
        """The endpoints that the run has called, as they are now."""
        for calls in self.services[-1:]:  # all have the same endpoints
            for gate in list(calls.gates.values()):
                yield EndpointNow(gate.endpoint, gate.requests, dict(gate.faults), gate.held_back_by)

    @property
    def begins(self) -> bool:
        """Whether another conversation may begin."""
        return self.spent() is None and self.ending is None

    def spent(self) -> str | None:
        """Why a conversation under way ends before its next turn, in words; None if it does not."""
        if self.cutting is None and (reason := self.spending.over()):
            self._passed = reason
            self.cut(reason)
        return self.cutting

    def over(self) -> None:
        """The run is over: calls that were under way at its bound are added to the reported spending."""
        if self._passed is not None and (reason := self.spending.over()):
            self.ending = reason if self.ending == self._passed else self.ending
            self.cutting = reason if self.cutting == self._passed else self.cutting
            self._passed = reason

    def call_service(self, store: CallStore | None = None, *, shared: SharedReplies | None = None) -> Calls:
        """The calls of a run under this control; `shared`: with replies of an earlier run."""
        others = self.services if self.turns is not None else []
        if self.turns is not None:
            store = store or store_outside() or StoreInMemory()
            self.shared.stores.append(store)
        replies = Replies(store or store_outside(), shared or self.shared)
        calls = Calls(self.pace, replies, self.spending, self.spent, self.notify)
        loop = asyncio.get_running_loop() if self.lasting else None
        for other in self.services[-1:] if loop is not None and loop is self._loop else others[:1]:
            calls.gates, calls.reservations = other.gates, other.reservations
        if loop is not None:  # an endpoint that one run gave up is tried again by the next
            for endpoint in [name for name, gate in calls.gates.items() if gate.ended]:
                del calls.gates[endpoint]
        self._loop = loop
        calls.dropped = self.dropped
        if self.closed:
            calls.close()
        self.services = [*others, calls]
        return calls

    @property
    def calls(self) -> Calls | None:
        """The calls of the run that began last; None before any."""
        return self.services[-1] if self.services else None

    @contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        """Inside, in a running event loop, the run is cut after this many seconds; None: never."""
        if seconds is None:
            yield
            return
        over = time_over(seconds)
        loop = asyncio.get_running_loop()
        timers = loop.call_later(seconds, self._no_time_left, over), loop.call_later(seconds + GRACE, self.drop)
        try:
            yield
        finally:
            for timer in timers:
                timer.cancel()

    def _no_time_left(self, reason: str) -> None:
        self.cut(reason)
        self.close(reason)

    def drop(self) -> None:
        """Cancel the conversations that wait for an agent: it may never answer."""
        self.dropped = True
        for calls in self.services:
            calls.drop_agents()

    def close(self, reason: str) -> None:
        """Begin nothing new from now on, also no call and no further try of one; what is under way has ten seconds."""
        self.end(reason)
        if not self.closed and self.services:
            asyncio.get_running_loop().call_later(LAST_SECONDS, lambda: [work.cancel() for work in list(self.works)])
        self.closed = True
        for calls in self.services:
            calls.close()

    async def in_turns(self, runs: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """The results of runs that are made at the same time under this control, a conversation of each in turn.

        Where the user's model is sent the same in several, it is asked once. Of errors the first, as it is: the other
        runs are cancelled then.
        """
        self.turns, self.services, self.shared = LoopTurns(len(runs)), [], SharedReplies(together=True)
        try:
            async with asyncio.TaskGroup() as tasks:
                under_way = [tasks.create_task(run) for run in runs]
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            self.turns, self.shared = None, SharedReplies()
        return [task.result() for task in under_way]

    def as_default(self) -> AbstractContextManager["Control"]:
        """Inside, runs without a control of their own use this one."""
        return during(_default, self)


def time_over(seconds: float) -> str:
    """Why a run ends that has taken all its time, in words."""
    return f"--max-time is over, {seconds:g} seconds"


_default: ContextVar[Control | None] = ContextVar("control of runs", default=None)


def default_control() -> Control:
    """The control of the surrounding `Control.as_default`; a new one outside."""
    return _default.get() or Control()
