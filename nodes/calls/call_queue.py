"""The queue before an endpoint: first come, first served; cancelled calls cost nothing."""

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(eq=False)
class QueueTurn:
    """One wait for a turn, and then the turn."""

    tokens: int
    permission: asyncio.Future[bool] = field(repr=False)
    """Whether it may be sent; False: nothing is sent any more."""
    least: int = 0
    """Tokens that it takes at least, as a refusal has shown."""
    sent: float = 0.0
    probe: bool = False
    """It is sent to see whether the endpoint is there again."""
    one_of: int = 1
    """Calls that were under way with it when it was sent."""
    guess: int = 0
    """Its tokens, estimated only from its length."""
    ended: bool = False
    """Its tokens are those that it took."""
    refused: bool = False
    """It was refused as one too many, or never sent: it counts in no limit."""


class Turns:
    """Gives turns in the order of tickets, each when it is ready.

    `ready` returns when a turn may be given: a time of the loop, or None if not before something else has ended.
    `taken` is called with each turn that is given, and `returned` with each that a cancelled waiter had been given.
    """

    def __init__(
        self,
        ready: Callable[[QueueTurn, float], float | None],
        taken: Callable[[QueueTurn], None],
        returned: Callable[[QueueTurn], None],
    ) -> None:
        self._ready, self._taken, self._returned = ready, taken, returned
        self._heap: list[tuple[int, QueueTurn]] = []
        self._timer: asyncio.TimerHandle | None = None
        self.waiting = 0

    async def wait(self, ticket: int, tokens: int, least: int = 0) -> QueueTurn | None:
        """A turn; None if there will be none any more."""
        loop = asyncio.get_running_loop()
        turn = QueueTurn(tokens, loop.create_future(), least)
        heapq.heappush(self._heap, (ticket, turn))
        self.waiting += 1
        self.go()
        try:
            may_be_sent = await turn.permission
        except asyncio.CancelledError:
            if turn.permission.cancelled():
                self.waiting -= 1
            elif turn.permission.result():
                self._returned(turn)
            raise
        return turn if may_be_sent else None

    def go(self) -> None:
        """Give turns to those that may go, and come back when the next one may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._heap:
            turn = self._heap[0][1]
            if not turn.permission.done():  # else cancelled while it waited
                loop = turn.permission.get_loop()
                ready = self._ready(turn, loop.time())
                if ready is None:
                    return
                if ready > loop.time():
                    self._timer = loop.call_at(ready, self.go)
                    return
                self.waiting -= 1
                turn.permission.set_result(True)
            heapq.heappop(self._heap)
            if not turn.permission.cancelled():
                self._taken(turn)

    def end(self) -> None:
        """Send everybody away."""
        for _, turn in self._heap:
            if not turn.permission.done():
                self.waiting -= 1
                turn.permission.set_result(False)
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
