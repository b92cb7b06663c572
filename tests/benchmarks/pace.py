"""What the gate of an endpoint makes of limits, refusals by chance and outages: `python -m tests.benchmarks.pace`.

All is in virtual time: no clock is read. First the share of a limit that 64 conversations use, and the share of requests
that it refuses. Then the time of 60 conversations of six calls one after another, of which a reply takes 0.2 s. `least`
is what the endpoint's limit, or the replies of a conversation one after another, allow at best.
"""

import asyncio
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from tests.faulty.limits import Limit, Limits
from tests.nodes.calls.simulator import Endpoint, Limited, always, fault, limited_run, run, seconds

SEEDS = range(5)
MINUTE = 60.0
SMALL, MIDDLE, LARGE = (5_000, MINUTE), (30_000, MINUTE), (90_000, MINUTE)
TIER: Mapping[str, tuple[float, float]] = {"requests": (500, MINUTE), "tokens": (200_000, MINUTE)}
CELLS: tuple[tuple[str, Mapping[str, tuple[float, float]], bool, str, Mapping[str, float]], ...] = (
    ("10 requests/s, window", {"requests": (10, 1.0)}, False, "none", {"duration": 120, "slow": 0.001}),
    ("10 requests/s, bucket", {"requests": (10, 1.0)}, True, "retry-after", {"duration": 120, "slow": 0.001}),
    ("10 requests/s, window", {"requests": (10, 1.0)}, False, "openai", {"duration": 120, "slow": 0.001}),
    ("90,000 tokens/min, window", {"tokens": LARGE}, False, "none", {"duration": 900}),
    ("90,000 tokens/min, bucket", {"tokens": LARGE}, True, "retry-after", {"duration": 900}),
    ("90,000 tokens/min, window", {"tokens": LARGE}, False, "openai", {"duration": 900}),
    ("30,000 tokens/min, bucket", {"tokens": MIDDLE}, True, "none", {"duration": 1200}),
    ("5,000 tokens/min, window", {"tokens": SMALL}, False, "retry-after", {"duration": 3600, "mean": 100}),
    ("5,000 tokens/min, bucket", {"tokens": SMALL}, True, "none", {"duration": 3600, "mean": 100}),
    ("both of a tier, window", TIER, False, "none", {"duration": 600, "slow": 0.003}),
    ("both of a tier, bucket", TIER, True, "openai", {"duration": 600, "slow": 0.003}),
)
"""Name, limits by unit (amount, seconds), whether it is a bucket, what headers it reports, and the run's own settings."""
CONVERSATIONS, CALLS, LATENCY = 60, 6, 0.2
TIMES: tuple[tuple[str, float | None, float, float, float], ...] = (
    ("no limit", None, 0.0, 0.0, 0.0),
    ("10 requests a second", 10, 0.0, 0.0, 0.0),
    ("1 request a second", 1, 0.0, 0.0, 0.0),
    ("10 % refused by chance", None, 0.1, 0.0, 0.0),
    ("30 % refused by chance", None, 0.3, 0.0, 0.0),
    ("10 requests a second, 20 % refused by chance", 10, 0.2, 0.0, 0.0),
    ("10 requests a second, gone for 30 s", 10, 0.0, 0.0, 30.0),
    ("10 requests a second, 30 % faults", 10, 0.04, 0.26, 0.0),
    ("10 requests a second, 30 % faults, gone for 30 s", 10, 0.04, 0.26, 30.0),
)
"""Name, requests a second, shares that are refused by chance and that fail, and seconds for which nobody is there."""


def finished(per_second: float | None, chance: float, faults: float, gone: float, seed: int) -> tuple[int, float, int]:
    """Conversations that finish, seconds, and requests."""

    async def main() -> tuple[int, float, int]:
        limit: Any = Limited(per_second, LATENCY) if per_second else always(LATENCY)

        async def answer(endpoint: Any, what: Any) -> Any:
            if 5.0 <= seconds() < 5.0 + gone:
                raise fault("unreachable")
            draw = endpoint.chance.random()
            if draw < chance + faults:
                await asyncio.sleep(0.002)
                raise fault("rate_limited", "limit") if draw < chance else fault("server_error")
            return await limit(endpoint, what)

        endpoint = Endpoint(answer, seed=seed)
        return await endpoint.conversations(CONVERSATIONS, CALLS), seconds(), len(endpoint.requests)

    return run(main())


def main() -> None:
    print("| limit | headers | used | at least | refused | at most |\n|---|---|---|---|---|---|")
    for name, units, bucket, headers, settings in CELLS:
        runs = []
        for seed in SEEDS:
            limits = Limits({unit: Limit(*limit, bucket) for unit, limit in units.items()}, headers)
            more: dict[str, Any] = {name: value for name, value in settings.items() if name != "duration"}
            runs.append(limited_run(limits, 64, settings["duration"], seed=seed, **more)[:2])
        used, refused = zip(*runs, strict=True)
        shares = f"{fmean(used):.2f} | {min(used):.2f} | {fmean(refused):.1%} | {max(refused):.1%}".replace("%", " %")
        print(f"| {name} | {headers} | {shares} |", flush=True)
    print("\n| endpoint | finished | least | took | longest | requests |\n|---|---|---|---|---|---|")
    for name, per_second, chance, faults, gone in TIMES:
        ended, took, requests = zip(*(finished(per_second, chance, faults, gone, seed) for seed in SEEDS), strict=True)
        number = CONVERSATIONS * CALLS / (1 - chance - faults)
        least = max(number / per_second if per_second else 0.0, CALLS * LATENCY) + gone
        times = f"{least:.0f} s | {fmean(took):.0f} s | {max(took):.0f} s"
        print(f"| {name} | {min(ended)} | {times} | {fmean(requests):.0f} |", flush=True)


if __name__ == "__main__":
    main()
