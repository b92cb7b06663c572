"""How a run that is under way is brought to its end before its plan is done."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ..nodes.calls.gates import Pace
from ..nodes.calls.kept import CallStore
from ..nodes.calls.service import Calls
from ..nodes.calls.spending import Spending
from .reports import EndpointNow, Report


@dataclass
class Control:
    """Is asked before each conversation whether to begin it; whoever holds it may end the run in order."""

    spending: Spending = field(default_factory=Spending)
    pace: Pace = field(default_factory=Pace)
    ending: str | None = None
    """Why no further conversation begins, in words; None if they do. What is under way goes on to its end."""
    said: Callable[[str], None] | None = None
    """Is told in a line when an endpoint goes and comes back."""
    calls: Calls | None = None
    """The calls of the run that is under way."""
    cutting: str | None = None
    """Why conversations under way end before their next turn, in words; None if they go on."""
    hurried: str | None = None
    """Why endpoints that are gone are waited for no more, in words."""
    elsewhere: Callable[[], Iterable[EndpointNow]] = tuple
    """The endpoints as other processes of the run see them."""
    _passed: str | None = None
    """The bound of money or tokens that is reached, in words."""

    def end(self, reason: str) -> None:
        """Begin nothing new from now on."""
        self.ending = self.ending or reason

    def cut(self, reason: str) -> None:
        """Begin nothing new from now on, and end what is under way before its next turn (`budget`)."""
        self.cutting = self.cutting or reason
        self.end(reason)

    def endpoints(self) -> Iterator[EndpointNow]:
        """The endpoints that the run has called, as they are now."""
        here = Report()
        if self.calls is not None:
            here.count_calls(self.calls, None)
        yield from here.endpoints.values()
        yield from self.elsewhere()

    @property
    def begins(self) -> bool:
        """Whether another conversation may begin."""
        return self.spent() is None and self.ending is None

    def spent(self) -> str | None:
        """Why a conversation under way ends before its next turn, in words; None if it goes on."""
        if self.cutting is None and (reason := self.spending.over()):
            self._passed = reason
            self.cut(reason)
        return self.cutting

    def over(self) -> None:
        """The run is over: what the calls took that were under way at its bound is in what is said of it too."""
        if self._passed is not None and (reason := self.spending.over()):
            self.ending = reason if self.ending == self._passed else self.ending
            self.cutting = reason if self.cutting == self._passed else self.cutting
            self._passed = reason

    def made(self, store: CallStore | None = None) -> Calls:
        """The calls of a run under this control."""
        self.calls = Calls(self.pace, store, self.spending, self.spent, self.said)
        return self.calls

    @contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        """Inside, in a running event loop, the run is cut after so many seconds; None: never."""
        if seconds is None:
            yield
            return
        over = f"--max-time is over, {seconds:g} seconds"
        timer = asyncio.get_running_loop().call_later(seconds, self._no_time_left, over)
        try:
            yield
        finally:
            timer.cancel()

    def _no_time_left(self, reason: str) -> None:
        """Cut the run, also where it waits for an endpoint: that may take longer than all the rest."""
        self.cut(reason)
        self.hurry(reason)

    def hurry(self, reason: str) -> None:
        """From now on wait for no endpoint that is gone."""
        self.hurried = self.hurried or reason
        for gate in () if self.calls is None else self.calls.gates.values():
            gate.hurry(reason)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside, runs that are given no control of their own are under this one."""
        token = _held.set(self)
        try:
            yield
        finally:
            _held.reset(token)


_held: ContextVar[Control | None] = ContextVar("control of runs", default=None)


def held_control() -> Control:
    """The control that is held here; a new one if there is none."""
    return _held.get() or Control()
