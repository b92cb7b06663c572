"""A run whose parts are tasks of Ray (extra `ray`), on a cluster or on a local Ray for this run only.

Ray schedules the tasks and begins one again whose worker or machine is gone. A task simulates 64 conversations of the plan
in a folder of its own below the run folder, which all machines share, and goes on there from its kept replies.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.formats import record_lines
from ..data.records import Conversation
from ..errors import of_extra
from ..graphs import Cast
from ..graphs.casts import CastSpec, built
from ..nodes.calls.gate import Pace
from ..nodes.calls.spending import Spending
from ..nodes.limits import Limits
from ..nodes.settings.redaction import error_line
from ..nodes.state import Planned
from .engine.conduct import Conduct
from .engine.control import Control
from .engine.reports import add_spending
from .journals.journal import BrokenOffError, RunError

PART = 64
"""Conversations of a task."""
TRIES = 4
"""Times that a task is begun again whose worker or machine is gone."""
REACHED = 10.0
"""Seconds within which a cluster answers."""
PARTS = "parts"
"""Where the folders of the tasks are, in the run folder, until the run is complete."""


@dataclass(frozen=True)
class Part:
    """A part of the plan with all that a task needs."""

    folder: Path
    here: Path
    """The working folder, from which relative paths and own modules are found."""
    spec: CastSpec
    states: list[Planned]
    limits: Limits
    pace: Pace
    max_cost: float | None
    max_tokens: int | None

    def simulated(self) -> tuple[Spending, str | None]:
        """Simulate what is missing; gives what was spent, and why the part ended early."""
        from .running import arun

        os.chdir(self.here)
        spending = Spending(max_cost=self.max_cost, max_tokens=self.max_tokens)
        conduct = Conduct(control=Control(spending, self.pace), keep_calls=True, progress=False)
        work = arun(built(self.spec), self.states, self.folder, limits=self.limits, resume=True, conduct=conduct)
        summary = asyncio.run(work)
        return spending, str(summary.stopped_by) if summary.stopped_by else None


async def on_ray(
    cast: Cast,
    plan: Sequence[Planned],
    folder: Path,
    address: str,
    limits: Limits,
    control: Control,
    missing: Callable[[Planned], bool],
    keep: Callable[[Conversation], None],
) -> None:
    """Simulate the parts of a plan in which something is missing; `keep` gets each conversation as its part is over."""
    spec, here, spending = cast.travelling(), Path.cwd(), control.spending
    async with _connected(address) as ray:
        most = max(1, int(ray.cluster_resources().get("CPU", 1)))
        numbers = [first for first in range(0, len(plan), PART) if any(map(missing, plan[first : first + PART]))]
        pace = control.pace
        task = ray.remote(Part.simulated).options(max_retries=TRIES)
        waiting, running = numbers[::-1], dict[Any, Path]()
        try:
            while running or (waiting and control.begins):
                while waiting and len(running) < most and control.begins:
                    first = waiting.pop()
                    cost = spending.max_cost and (spending.max_cost - (spending.total.cost or 0)) / most
                    left = None if spending.max_tokens is None else spending.max_tokens - spending.total.tokens
                    tokens = None if left is None else int(left / most)
                    own = folder / PARTS / f"{first // PART:05d}"
                    part = Part(own, here, spec, list(plan[first : first + PART]), limits, pace, cost, tokens)
                    running[task.remote(part)] = own
                done, _ = await asyncio.to_thread(ray.wait, list(running), num_returns=1, timeout=1.0)
                for ref in done:
                    own = running.pop(ref)
                    try:
                        spent, stopped = await asyncio.to_thread(ray.get, ref)
                    except ray.exceptions.RayError as error:
                        raise BrokenOffError(f"Ray: {error_line(error)}: mend it, then call it again") from None
                    add_spending(spending, spent)
                    if stopped is not None:
                        control.end(stopped)
                    for conversation in (*record_lines.iterate_run(own), *record_lines.cut_short(own)):
                        keep(conversation)
        finally:
            for ref in running:  # what is under way goes on from its kept replies the next time
                ray.cancel(ref, force=True)


@asynccontextmanager
async def _connected(address: str) -> AsyncIterator[Any]:
    """Inside, this process is connected to Ray, without its statistics, its dashboard and its logs."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a change to come
    ray = of_extra("ray", "ray")
    if ray.is_initialized():  # by whoever called us, who will need it again
        yield ray
        return
    _check_reachable(address)
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


def _check_reachable(address: str) -> None:
    """RunError at once if no program answers at HOST:PORT, where Ray would try for ten minutes and react to no signal."""
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    if not separator or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACHED).close()
    except (OSError, ValueError, OverflowError) as error:
        raise RunError(f"Ray at {address}: cannot be reached ({error}): check the address and its machines") from None
