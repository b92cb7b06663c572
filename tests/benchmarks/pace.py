"""What the gate of an endpoint makes of limits, refusals by chance and outages, in virtual time: no clock is read.

60 conversations of six calls one after another; a reply takes 0.2 s. `least` is what the endpoint's limit, or the replies
of a conversation one after another, allow at best.
"""

import asyncio
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

calls: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().parents[1] / "nodes/calls/conftest.py")))
"""The clock that jumps and the endpoint of the gate's tests."""

CONVERSATIONS, CALLS, LATENCY = 60, 6, 0.2


def measured(
    per_second: float | None, chance: float, faults: float, gone: tuple[float, float]
) -> tuple[int, float, int, int]:
    """Conversations that finish, seconds, requests, and how many of these were refused as too many."""

    async def main() -> tuple[int, float, int, int]:
        limit = calls.Limited(per_second, LATENCY) if per_second else calls.always(LATENCY)
        refused = 0

        async def answer(endpoint: Any, what: Any) -> Any:
            nonlocal refused
            if gone[0] <= calls.seconds() < gone[1]:
                raise calls.fault("unreachable")
            draw = endpoint.chance.random()
            if draw < chance + faults:
                await asyncio.sleep(0.002)
                refused += draw < chance
                raise calls.fault("rate_limited", "limit") if draw < chance else calls.fault("server_error")
            return await limit(endpoint, what)

        endpoint = calls.Endpoint(answer)
        finished = await endpoint.conversations(CONVERSATIONS, CALLS)
        return finished, calls.seconds(), len(endpoint.requests), refused + getattr(limit, "refused", 0)

    with asyncio.Runner(loop_factory=calls.JumpingLoop) as runner:
        return runner.run(main())


def main() -> None:
    print(f"{'endpoint':52}{'finished':>9}{'least':>7}{'took':>8}{'requests':>10}{'refused':>9}")
    for name, per_second, chance, faults, gone in (
        ("no limit", None, 0.0, 0.0, (0.0, 0.0)),
        ("10 requests a second", 10, 0.0, 0.0, (0.0, 0.0)),
        ("1 request a second", 1, 0.0, 0.0, (0.0, 0.0)),
        ("10 % refused by chance", None, 0.1, 0.0, (0.0, 0.0)),
        ("30 % refused by chance", None, 0.3, 0.0, (0.0, 0.0)),
        ("10 requests a second, gone for 30 s", 10, 0.0, 0.0, (5.0, 35.0)),
        ("10 requests a second, 30 % faults", 10, 0.04, 0.26, (0.0, 0.0)),
        ("10 requests a second, 30 % faults, gone for 30 s", 10, 0.04, 0.26, (5.0, 35.0)),
    ):
        finished, seconds, requests, refused = measured(per_second, chance, faults, gone)
        number = CONVERSATIONS * CALLS / (1 - chance - faults)
        least = max(number / per_second if per_second else 0.0, CALLS * LATENCY) + gone[1] - gone[0]
        print(f"{name:52}{finished:9}{least:6.0f} s{seconds:6.0f} s{requests:10}{refused:9}")


if __name__ == "__main__":
    main()
