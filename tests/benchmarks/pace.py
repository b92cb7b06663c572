"""What the gate of an endpoint makes of limits, refusals by chance and outages: `python -m tests.benchmarks.pace`.

All is in virtual time: no clock is read. First the share of a limit that is used, then the time of 60 conversations of six
calls one after another, of which a reply takes 0.2 s. `least` is what the endpoint's limit, or the replies of a
conversation one after another, allow at best.
"""

import asyncio
import runpy
from itertools import product
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from tests.faulty.limits import Limit, Limits

calls: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().parents[1] / "nodes/calls/conftest.py")))
"""The clock that jumps and the endpoint of the gate's tests."""

CONVERSATIONS, CALLS, LATENCY = 60, 6, 0.2


def measured(
    per_second: float | None, chance: float, faults: float, gone: tuple[float, float], after: float | None, seed: int
) -> tuple[int, float, int, int]:
    """Conversations that finish, seconds, requests, and how many of these were refused as too many.

    Those by chance ask for a wait of `after` seconds.
    """

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
                raise calls.fault("rate_limited", "limit", after) if draw < chance else calls.fault("server_error")
            return await limit(endpoint, what)

        endpoint = calls.Endpoint(answer)
        endpoint.chance.seed(seed)
        finished = await endpoint.conversations(CONVERSATIONS, CALLS)
        return finished, calls.seconds(), len(endpoint.requests), refused + getattr(limit, "refused", 0)

    with asyncio.Runner(loop_factory=calls.JumpingLoop) as runner:
        return runner.run(main())


SECONDS, MINUTE = 120.0, 60.0
SEEDS = range(3)
LIMITS = {
    "10 requests/s": ({"requests": (10, 1.0)}, SECONDS, 200, 0.001),
    "90,000 tokens/min": ({"tokens": (90_000, MINUTE)}, 15 * MINUTE, 200, 0.01),
    "30,000 tokens/min": ({"tokens": (30_000, MINUTE)}, 20 * MINUTE, 200, 0.01),
    "5,000 tokens/min": ({"tokens": (5_000, MINUTE)}, 60 * MINUTE, 100, 0.01),
    "tier of both": ({"requests": (500, MINUTE), "tokens": (200_000, MINUTE)}, 10 * MINUTE, 200, 0.003),
}
"""Limits by name, the seconds of a run, the mean tokens of a reply and the seconds that each of these takes."""
KINDS = {"window": False, "bucket": True}
HEADERS = ("none", "retry-after", "openai", "anthropic")
RUNS = ((8, 0.0), (64, 0.0), (64, 0.2))
"""Conversations, and the share of requests that fail for another reason."""


def cell(name: str, kind: str, headers: str, conversations: int, faults: float) -> tuple[float, float]:
    """The share of a limit that is used and the share of requests that it refuses: means over the seeds."""
    units, duration, mean, slow = LIMITS[name]
    runs = []
    for seed in SEEDS:
        limits = Limits({unit: Limit(*limit, KINDS[kind]) for unit, limit in units.items()}, headers)
        run = calls.limited_run(limits, conversations, duration, faults=faults, mean=mean, slow=slow, seed=seed)
        runs.append(run[:2])
    used, refused = (sum(shares) / len(runs) for shares in zip(*runs, strict=True))
    return used, refused


def limited() -> None:
    """Print the share of each limit that is used, and of the requests that are refused."""
    print("| limit | kind | headers | 8 conversations | 64 | 64, 20 % faults |")
    print("|---|---|---|---|---|---|")
    for name, kind, headers in product(LIMITS, KINDS, HEADERS):
        if headers == "anthropic" and "requests/s" in name:
            continue  # its headers are in whole seconds
        cells = (cell(name, kind, headers, *run) for run in RUNS)
        shares = " | ".join(f"{used:.2f}, {refused:.1%}".replace("%", " %") for used, refused in cells)
        print(f"| {name} | {kind} | {headers} | {shares} |", flush=True)


def main() -> None:
    limited()
    print("| endpoint | finished | least | took | longest | requests | refused as too many |")
    print("|---|---|---|---|---|---|---|")
    for name, per_second, chance, faults, gone, after in (
        ("no limit", None, 0.0, 0.0, (0.0, 0.0), None),
        ("10 requests a second", 10, 0.0, 0.0, (0.0, 0.0), None),
        ("1 request a second", 1, 0.0, 0.0, (0.0, 0.0), None),
        ("10 % refused by chance", None, 0.1, 0.0, (0.0, 0.0), None),
        ("10 % refused by chance, `Retry-After: 1`", None, 0.1, 0.0, (0.0, 0.0), 1.0),
        ("30 % refused by chance", None, 0.3, 0.0, (0.0, 0.0), None),
        ("30 % refused by chance, `Retry-After: 1`", None, 0.3, 0.0, (0.0, 0.0), 1.0),
        ("10 requests a second, 20 % refused by chance", 10, 0.2, 0.0, (0.0, 0.0), None),
        ("10 requests a second, gone for 30 s", 10, 0.0, 0.0, (5.0, 35.0), None),
        ("10 requests a second, 30 % faults", 10, 0.04, 0.26, (0.0, 0.0), None),
        ("10 requests a second, 30 % faults, gone for 30 s", 10, 0.04, 0.26, (5.0, 35.0), None),
    ):
        runs = [measured(per_second, chance, faults, gone, after, seed) for seed in range(20)]
        finished, seconds, requests, refused = zip(*runs, strict=True)
        number = CONVERSATIONS * CALLS / (1 - chance - faults)
        least = max(number / per_second if per_second else 0.0, CALLS * LATENCY) + gone[1] - gone[0]
        took = f"{least:.0f} s | {fmean(seconds):.0f} s | {max(seconds):.0f} s"
        print(f"| {name} | {min(finished)} | {took} | {fmean(requests):.0f} | {fmean(refused):.0f} |", flush=True)


if __name__ == "__main__":
    main()
