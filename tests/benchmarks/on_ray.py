"""This package on a local Ray of two workers that is there before, as a cluster is: its start is not what a run costs."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray

from duologue.runs.divided import ray_tasks

from . import ours
from .workload import Workload

BETWEEN = 0.25
"""Seconds between two looks at the processes: what one of them does after the last look at it is not counted."""

_PROC = Path("/proc")


def begin() -> None:
    """Start Ray."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray_tasks.begin(ray, "local", 2)


async def held(work: Workload, out: Path) -> dict[str, Any]:
    """Hold all conversations; with the seconds of CPU of Ray's processes, idle ones and its daemons included.

    Nobody waits for a worker that Ray ends, so its time is in no other process's: all are looked at on the way.
    """
    before = below(os.getpid())
    latest = dict(before)

    async def look() -> None:
        while True:
            await asyncio.sleep(BETWEEN)
            latest.update(below(os.getpid()))

    looking = asyncio.create_task(look())
    try:
        messages = await ours.held(work, out)
    finally:
        looking.cancel()
    latest.update(below(os.getpid()))
    return {"messages": messages, "cpu_of_ray": sum(latest.values()) - sum(before.values())}


def below(parent: int) -> dict[int, float]:
    """Seconds of CPU of each process below this one, by its number. Linux only."""
    parents, seconds = dict[int, int](), dict[int, float]()
    for file in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended since
            fields = file.read_text().rpartition(")")[2].split()  # the name before it may hold anything
            number = int(file.parent.name)
            parents[number], seconds[number] = int(fields[1]), sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    family = {parent}
    while more := {number for number, above in parents.items() if above in family} - family:
        family |= more
    return {number: seconds[number] for number in family - {parent}}
