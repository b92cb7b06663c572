"""A run whose parts are tasks of Ray (extra `ray`), on a cluster or on a local Ray for this run only.

Ray schedules the tasks and begins one again whose worker or machine is gone. A task simulates 64 conversations of the plan
in a folder of its own below the run folder, which all machines share, and goes on there from its kept replies.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any

from ..data.formats.record_lines import attempted
from ..data.records import Conversation
from ..errors import of_extra
from ..graphs import Cast
from ..graphs.casts import CastSpec, built
from ..nodes.calls.service import Calls
from ..nodes.calls.spending import Spending
from ..nodes.calls.store import merge
from ..nodes.limits import Limits
from ..nodes.settings.redaction import error_line
from ..nodes.state import Planned
from .settings import REPLIES, RunSettings
from .store import BrokenOffError, RunError, name_of

PART = 64  # conversations of a task


def simulated(
    here: Path, specs: Mapping[str, CastSpec], states: list[Planned], limits: Limits, settings: RunSettings
) -> tuple[Spending, str | None]:
    """Simulate what is missing of a part of the plan, from a working folder; gives what was spent, and why it ended early."""
    from .simulate import arun

    os.chdir(here)
    casts = {version: built(spec) for version, spec in specs.items()}
    run = asyncio.run(arun(casts, states, settings, limits=limits))
    return run.calls.spending, str(run.stopped) if run.stopped else None


async def on_ray(
    casts: Mapping[str, Cast],
    plan: Sequence[Planned],
    work: Sequence[tuple[str, Planned]],
    settings: RunSettings,
    limits: Limits,
    calls: Calls,
    keep: Callable[[Conversation], None],
) -> None:
    """Simulate the parts of the plan in which there is work; `keep` gets each conversation as its part is over."""
    assert settings.out is not None
    parts, missing = settings.out.absolute() / "parts", {(version, name_of(state)) for version, state in work}
    specs, spending = {version: cast.travelling() for version, cast in casts.items()}, calls.spending
    numbers = {name_of(state): number // PART * PART for number, state in enumerate(plan)}
    waiting = sorted({numbers[name] for _, name in missing}, reverse=True)
    async with _connected(str(settings.ray)) as ray:
        most = max(1, int(ray.cluster_resources().get("CPU", 1)))
        task, running = ray.remote(simulated).options(max_retries=4), dict[Any, Path]()
        try:
            while running or (waiting and calls.goes_on):
                while waiting and len(running) < most and calls.goes_on:
                    first = waiting.pop()
                    own = parts / f"{first // PART:05d}"
                    how: dict[str, Any] = {"out": own, "concurrency": settings.concurrency, "progress": False}
                    if spending.max_cost is not None:
                        how["max_cost"] = max(1e-6, (spending.max_cost - (spending.cost or 0)) / most)
                    if spending.max_tokens is not None:
                        how["max_tokens"] = max(1, int((spending.max_tokens - spending.total.tokens) / most))
                    ref = task.remote(Path.cwd(), specs, plan[first : first + PART], limits, RunSettings(**how))
                    running[ref] = own
                done, _ = await asyncio.to_thread(ray.wait, list(running), num_returns=1, timeout=1.0)
                for ref in done:
                    own = running.pop(ref)
                    try:
                        spent, stopped = await asyncio.to_thread(ray.get, ref)
                    except ray.exceptions.RayError as error:
                        raise BrokenOffError(f"Ray: {error_line(error)}: mend it, then call it again") from None
                    spending.include(spent)
                    if stopped is not None:
                        calls.end(stopped)
                    for one in (one for version in casts for one in attempted(own, version=version)):
                        if (one.version, one.id) in missing:
                            keep(one)
                            missing -= {(one.version, one.id)} if one.finished else set()
                    merge(own / REPLIES, parts.parent / REPLIES)
        finally:
            for ref in running:  # what is under way goes on from its kept replies the next time
                ray.cancel(ref, force=True)
    if not missing:
        rmtree(parts, ignore_errors=True)


@asynccontextmanager
async def _connected(address: str) -> AsyncIterator[Any]:
    """Inside, this process is connected to Ray, without its statistics, its dashboard and its logs."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a change to come
    ray = of_extra("ray", "ray")
    if ray.is_initialized():  # by whoever called us, who will need it again
        yield ray
        return
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    if separator and port.isdecimal():  # Ray itself would try for ten minutes and react to no signal
        try:
            socket.create_connection((host.strip("[]"), int(port)), 10.0).close()
        except (OSError, ValueError, OverflowError) as error:
            raise RunError(f"Ray at {address}: cannot be reached ({error}): check the address") from None
    own: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        await asyncio.to_thread(ray.init, address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except Exception as error:  # Ray raises what comes
        ray.shutdown()
        raise RunError(f"Ray at {address}: {error_line(error)}: check the address and its machines") from None
    try:
        yield ray
    finally:
        await asyncio.to_thread(ray.shutdown)
