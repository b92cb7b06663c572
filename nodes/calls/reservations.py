"""Room in a run's budget for the calls under way, so that all of them together do not pass it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

from ..context_values import during
from .prices import PriceQuery, price
from .spending import Spending

ENOUGH = 32
"""Ended calls of a kind after which any number of them may be under way; before, twice as many as have ended."""

_INSIDE: ContextVar[bool] = ContextVar("duologue_inside_a_reserved_turn", default=False)


class RunOverError(Exception):
    """No further call of the run may begin: its time or its money is over, or it was interrupted."""

    record_line = "the run ended before this call"


class CallKind(NamedTuple):
    """Calls that take about as much as one another."""

    role: str
    query: PriceQuery | None
    """None: what the calls cost is unknown, as those of an agent."""


@dataclass
class _KindSoFar:
    """The calls of one kind: those under way, and what the others have taken."""

    under_way: int = 0
    expected: int = 0
    """Tokens that those under way send, by characters."""
    ended: int = 0
    before: int = 0
    """Tokens that the ended ones were expected to send."""
    sent: int = 0
    replied: int = 0
    squares: int = 0

    def ended_with(self, expected: int, sent: int, replied: int) -> None:
        self.ended += 1
        self.before += expected
        self.sent += sent
        self.replied += replied
        self.squares += replied * replied

    def tokens(self, calls: int, expected: int, otherwise: tuple[float, float]) -> tuple[int, int]:
        """Tokens that so many calls take, in and out: each reply as long as the mean and its deviation.

        `otherwise`: what other calls of the run took on average, in and out, where none of these has ended yet.
        """
        if not self.ended:
            return max(expected, round(calls * otherwise[0])), round(calls * otherwise[1])
        mean = self.replied / self.ended
        deviation = sqrt(max(0.0, self.squares / self.ended - mean * mean))
        sent = expected * self.sent / self.before if self.before else expected
        return round(sent), round(calls * (mean + deviation))


@dataclass
class Reservations:
    """The calls under way in one event loop, each with its part of what is left of the budget.

    A call's part is what is sent, by its characters, and a reply as long as earlier ones in the same role.
    """

    spending: Spending
    closed: bool = False
    """Whether no call may begin any more."""
    short: int = 0
    """Tokens of a call that waits for more of the budget while no other is in progress; 0 without one."""
    _kinds: dict[CallKind, _KindSoFar] = field(default_factory=dict[CallKind, _KindSoFar])
    _waiting: list[asyncio.Future[None]] = field(default_factory=list[asyncio.Future[None]])

    @asynccontextmanager
    async def room(self, kind: CallKind, expected: int) -> AsyncIterator[Callable[[int, int], None]]:
        """Inside, a call is under way that sends about so many tokens; waits until there is room.

        Gives what is called with the tokens that were sent and replied. RunOverError if there will be no room. Calls
        that an agent makes inside its turn have their room there.
        """
        if self.closed:
            raise RunOverError
        if not self.spending.bounded or _INSIDE.get():
            yield lambda sent, replied: None
            return
        so_far = self._kinds.setdefault(kind, _KindSoFar())
        while not self._fits(kind, expected):
            await self._other_end(so_far.tokens(1, expected, self._mean))
        so_far.under_way += 1
        so_far.expected += expected
        try:
            with during(_INSIDE, True):
                yield lambda sent, replied: so_far.ended_with(expected, sent, replied)
        finally:
            so_far.under_way -= 1
            so_far.expected -= expected
            self.wake()

    @property
    def _mean(self) -> tuple[float, float]:
        """Tokens of the run's calls on average, in and out."""
        total = self.spending.total
        return total.input_tokens / max(1, total.calls), total.output_tokens / max(1, total.calls)

    def wake(self) -> None:
        """Let waiting calls look again whether there is room."""
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def close(self) -> None:
        """Let no call begin any more."""
        self.closed = True
        self.wake()

    async def _other_end(self, tokens: tuple[int, int]) -> None:
        """Wait until another call has ended, or there is more of the budget; RunOverError if neither can be."""
        alone = not any(so_far.under_way for so_far in self._kinds.values())
        if alone and not self.spending.is_part:
            self.spending.leave_no_room(sum(tokens))
        if self.spending.over() is not None:
            raise RunOverError
        self.short = sum(tokens) if alone else 0
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter
        self.short = 0
        if self.closed:
            raise RunOverError

    def _fits(self, kind: CallKind, expected: int) -> bool:
        """Whether the call may begin beside those that are under way."""
        own = self._kinds[kind]
        if own.ended < ENOUGH and own.under_way >= max(1, 2 * own.ended):
            return False
        tokens, cost = 0, 0.0
        for other, so_far in self._kinds.items():
            calls, sent = so_far.under_way + (other == kind), so_far.expected + expected * (other == kind)
            if calls:
                inputs, outputs = so_far.tokens(calls, sent, self._mean)
                tokens += inputs + outputs
                if self.spending.max_cost is not None and other.query is not None:
                    call = {"input_tokens": inputs // calls, "output_tokens": outputs // calls}
                    cost += calls * (price(other.query, call) or 0.0)
        return self.spending.has_room(tokens, cost)
