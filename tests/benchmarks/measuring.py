"""One measurement, of itself: `python -m tests.benchmarks.measuring NAME SETTINGS` prints a line of JSON.

What is imported and warmed up before does not count. CPU is that of this process and of those that it started and
waited for; wall time that of the whole work; `window` that between the endpoint's first request and its last reply.
"""

import asyncio
import gc
import json
import resource
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import memory
from .processes import asked
from .workload import Workload, now

Work = Callable[[Workload, Path], Awaitable[Any]]
"""Does the work, and gives how many messages it came to, or a dictionary of findings."""


def ours() -> Work:
    from .ours import held

    return held


def ours_instant() -> Work:
    from .instant import InstantChatModel
    from .ours import held

    async def run(work: Workload, out: Path) -> dict[str, Any]:
        model = InstantChatModel()
        return {"messages": await held(work, out, model, model), "made": model.calls}

    return run


def idiomatic() -> Work:
    from .idiomatic import held, stock_model

    return lambda work, out: held(work, stock_model(work), out)


def idiomatic_instant() -> Work:
    from .idiomatic import held
    from .instant import InstantChatModel

    async def run(work: Workload, out: Path) -> dict[str, Any]:
        model = InstantChatModel()
        return {"messages": await held(work, model, out), "made": model.calls}

    return run


def instant_alone() -> Work:
    from .instant import called_alone

    async def run(work: Workload, out: Path) -> dict[str, Any]:
        return {"made": await called_alone(work)}

    return run


def bare() -> Work:
    from .bare import held

    return lambda work, out: held(work)


def one_by_one() -> Work:
    from .one_by_one import held

    async def run(work: Workload, out: Path) -> int:
        return held(work)

    return run


def openevals() -> Work:
    from .by_openevals import held
    from .idiomatic import stock_model

    return lambda work, out: held(work, stock_model(work))


def kept() -> Work:
    return memory.kept


def reading() -> Work:
    from .reading import read

    return read


IMPLEMENTATIONS: dict[str, Callable[[], Work]] = {
    made.__name__: made
    for made in (
        *(ours, idiomatic, bare, openevals, one_by_one),
        *(ours_instant, idiomatic_instant, instant_alone, kept, reading),
    )
}


def seconds_of_cpu(whose: int) -> float:
    """Of this process, or of those that it started and waited for."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


async def measure(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Warm up, do the work, and say what it took. Both in one event loop, to which stock clients are bound."""
    work, run = Workload.of(settings), IMPLEMENTATIONS[name]()
    if name != reading.__name__:  # whose commands are processes of their own
        await run(replace(work, conversations=2, turns=2, latency=0.0), Path("warm"))
    asked(work.port, "POST", "/settings", {"latency": work.latency, "jitter": work.jitter})
    gc.collect()
    memory.reset()
    before, began = memory.resident(), now()
    own, others = map(seconds_of_cpu, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    result = await run(work, Path("work"))
    wall = now() - began
    own, others = seconds_of_cpu(resource.RUSAGE_SELF) - own, seconds_of_cpu(resource.RUSAGE_CHILDREN) - others
    highest = memory.highest()
    result = result if isinstance(result, dict) else {"messages": result}
    others += result.pop("cpu_of_ray", 0.0)
    counts = asked(work.port, "GET", "/counts")
    return {
        "name": name,
        **result,
        "conversations": work.conversations,
        "expected": work.calls,
        **{key: counts[key] for key in ("calls", "connections", "bytes", "wrong", "most_under_way")},
        "window": counts["last"] - counts["first"],
        "endpoint_cpu": counts["cpu"],
        "cpu": own + others,
        "cpu_of_others": others,
        "wall": wall,
        "rss_before": before,
        "rss_highest": highest,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(sys.argv[1], json.loads(sys.argv[2])))))
