"""A clock that jumps, and an endpoint of which everything is scripted, latency included."""

import asyncio
import random
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from duologue.nodes.calls.gate import Gate, Pace
from duologue.nodes.models.faults import CallFault, ReplyError
from duologue.nodes.models.reported_limits import note_headers
from tests.faulty.limits import Limits


class JumpingLoop(asyncio.SelectorEventLoop):
    """When nothing is ready it does not wait for the next timer: its time is that timer's."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Impatient(self))

    def time(self) -> float:
        return self.now


class _Impatient(selectors.DefaultSelector):
    def __init__(self, loop: JumpingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("nothing is ready, and nothing will ever be: the calls wait for each other")
        # A step of no time at all would be asked for again for ever.
        self._loop.now += max(timeout, 1e-9) if timeout else 0.0
        return super().select(0)


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine in virtual time."""

    def run(main: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=JumpingLoop) as runner:
            return runner.run(main)

    return run


def fault(name: str = "http_500", whose: Any = "endpoint", after: float | None = None) -> ReplyError:
    """A fault, as a call raises it."""
    return ReplyError(CallFault(name, whose, f"told {name}", after))


def seconds() -> float:
    """Virtual seconds since the loop began."""
    return asyncio.get_running_loop().time()


Answer = Callable[["Endpoint", Any], Awaitable[Any]]


class Endpoint:
    """Counts the requests, and answers each as `answer` does: a coroutine of the endpoint and what is asked."""

    def __init__(self, answer: Answer, **pace: Any) -> None:
        self.requests: list[tuple[float, Any]] = []
        self.under_way = self.most = 0
        self.lines: list[str] = []
        self._answer = answer
        self.chance = random.Random(4711)
        self.gate = Gate("http://x/v1", Pace(**pace), notify=self.lines.append, uniform=self.chance.uniform)

    async def send(self, what: Any) -> Any:
        self.requests.append((seconds(), what))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            return await self._answer(self, what)
        finally:
            self.under_way -= 1

    async def call(self, what: Any = None, **more: Any) -> Any:
        """The reply of one call through the gate."""
        reply, _ = await self.gate.call(lambda: self.send(what), **more)
        return reply

    async def conversations(self, number: int, calls: int, pause: float = 0.001) -> int:
        """How many of so many conversations finish, each of so many calls one after another."""

        async def conversation(which: int) -> bool:
            for turn in range(calls):
                await self.call((which, turn))
                await asyncio.sleep(pause)
            return True

        ends = await asyncio.gather(*(conversation(which) for which in range(number)), return_exceptions=True)
        self.errors = [end for end in ends if end is not True]
        return sum(end is True for end in ends)


def always(latency: float) -> Answer:
    """An endpoint that bears anything."""

    async def answer(endpoint: Endpoint, what: Any) -> Any:
        await asyncio.sleep(latency)
        return what

    return answer


class Limited:
    """An endpoint with a limit of requests a second, by a bucket or by the clock.

    The bucket holds a second's worth.
    """

    def __init__(self, per_second: float, latency: float, *, windows: bool = False, after: float | None = None) -> None:
        self.per_second, self.latency, self.windows, self.after = per_second, latency, windows, after
        self.level, self.last, self.refused = per_second, 0.0, 0

    async def __call__(self, endpoint: Endpoint, what: Any) -> Any:
        time = seconds()
        if self.windows:
            self.level = max(1.0, self.per_second) if int(time) > int(self.last) else self.level
        else:
            self.level = min(max(1.0, self.per_second), self.level + (time - self.last) * self.per_second)
        self.last = time
        if self.level < 1:
            self.refused += 1
            await asyncio.sleep(0.002)
            raise fault("rate_limited", "limit", self.after)
        self.level -= 1
        await asyncio.sleep(self.latency)
        return what


def limited_run(
    limits: Limits,
    conversations: int,
    duration: float,
    *,
    faults: float = 0.0,
    mean: float = 200.0,
    slow: float = 0.01,
    seed: int = 4711,
) -> tuple[float, float, int]:
    """Share of the limits that is used, share of requests that is refused, and requests, in so many virtual seconds.

    Replies have `mean` tokens, with a standard deviation of two thirds of that, and take `slow` seconds a token.
    """
    counts = {"requests": 0}

    async def main() -> None:
        endpoint = Endpoint(always(0))
        chance, gate = endpoint.chance, endpoint.gate
        chance.seed(seed)

        async def send(tokens: int, reply: int) -> int:
            counts["requests"] += 1
            wait = limits.wait(tokens, seconds())
            headers = limits.head(wait, seconds())
            await asyncio.sleep(0.005 if wait else 0.2 + slow * reply)
            note_headers(headers)
            if wait:
                after = headers.get("retry-after")
                raise fault("rate_limited", "limit", float(after) if after else None)
            if chance.random() < faults:
                raise fault("server_error")
            return tokens

        async def conversation() -> None:
            while True:
                for turn in range(10):
                    prompt, reply = 60 + 30 * turn, 5 + round(chance.lognormvariate(0, 0.6) * mean * 0.8)
                    await gate.call(
                        partial(send, prompt + reply, reply),
                        tokens=prompt + chance.randint(-10, 10) + 100,
                        spent=lambda tokens: tokens,
                    )

        tasks = [asyncio.create_task(conversation()) for _ in range(conversations)]
        await asyncio.sleep(duration)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(main())
    used = max(
        limits.admitted[unit] / limit.amount / (duration / limit.window + limit.bucket)
        for unit, limit in limits.limits.items()
    )
    return used, limits.refused / counts["requests"], counts["requests"]


@pytest.fixture
def calls() -> Any:
    """What the tests of this folder share: Endpoint, Limited, limited_run, always, fault, seconds."""
    from types import SimpleNamespace

    return SimpleNamespace(
        Endpoint=Endpoint, Limited=Limited, limited_run=limited_run, always=always, fault=fault, seconds=seconds
    )
