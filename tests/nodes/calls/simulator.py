"""A clock that jumps, and endpoints of which everything is scripted, latency included."""

import asyncio
import random
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from duologue.nodes.calls.gate import Gate
from duologue.nodes.models.faults import CallFault, ReplyError
from tests.faulty.limits import Limits

T = TypeVar("T")


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


def run(main: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in virtual time."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(main)


def seconds() -> float:
    """Virtual seconds since the loop began."""
    return asyncio.get_running_loop().time()


def fault(name: str = "http_500", whose: Any = "endpoint", after: float | None = None) -> ReplyError:
    """A fault, as a call raises it."""
    return ReplyError(CallFault(name, whose, f"told {name}", after))


class RefusedError(ReplyError):
    """A refusal as too many, with headers."""

    def __init__(self, headers: dict[str, str]) -> None:
        after = headers.get("retry-after")
        super().__init__(CallFault("rate_limited", "limit", "limit", float(after) if after else None))
        self.headers = headers


Answer = Callable[["Endpoint", Any], Awaitable[Any]]


class Endpoint:
    """Counts the requests, and answers each as `answer` does: a coroutine of the endpoint and what is asked."""

    def __init__(self, answer: Answer, *, seed: int = 4711, **pace: Any) -> None:
        self.requests: list[tuple[float, Any]] = []
        self.under_way = self.most = 0
        self.lines: list[str] = []
        self.errors: list[BaseException] = []
        self._answer = answer
        self.chance = random.Random(seed)
        self.gate = Gate("http://x/v1", notify=self.lines.append, uniform=self.chance.uniform, **pace)

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
        self.errors = [end for end in ends if isinstance(end, BaseException)]
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
    first: float = 0.2,
    slow: float = 0.01,
    refusal: float = 0.005,
    seed: int = 4711,
) -> tuple[float, float, int]:
    """Share of the limits that is used, share of requests that is refused, and requests, in so many virtual seconds.

    Replies have `mean` tokens, with a standard deviation of two thirds of that, and take `first` seconds and `slow` more
    for each token; a refusal takes `refusal`. Of the requests, `faults` fail for another reason.
    """
    endpoint = Endpoint(always(0), seed=seed)
    chance, gate, requests = endpoint.chance, endpoint.gate, 0

    async def send(tokens: int, reply: int) -> tuple[int, dict[str, str]]:
        nonlocal requests
        requests += 1
        wait = limits.wait(tokens, seconds())
        headers = limits.head(wait, seconds())
        await asyncio.sleep(refusal if wait else first + slow * reply)
        if wait:
            raise RefusedError(headers)
        if chance.random() < faults:
            raise fault("server_error")
        return tokens, headers

    async def conversation() -> None:
        while True:
            for turn in range(10):
                prompt, reply = 60 + 30 * turn, 5 + round(chance.lognormvariate(0, 0.6) * mean * 0.8)
                await gate.call(
                    partial(send, prompt + reply, reply),
                    tokens=prompt + chance.randint(-10, 10) + 100,
                    spent=lambda sent: sent[0],
                    headers=lambda sent: sent[1],
                )

    async def main() -> None:
        tasks = [asyncio.create_task(conversation()) for _ in range(conversations)]
        await asyncio.sleep(duration)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(main())
    used = max(
        limits.admitted[unit] / limit.amount / (duration / limit.window + limit.bucket)
        for unit, limit in limits.limits.items()
    )
    return used, limits.refused / requests, requests
