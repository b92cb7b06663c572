"""Memory of this process, and how much of it a run keeps for each conversation that is over."""

import gc
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from .workload import Workload

FIRST = 0.2
"""The part of a run after which growth is counted: until then caches fill."""
SAMPLES = 20

_STATUS = Path("/proc/self/status")


def _status(name: str) -> int | None:
    """A line of the process's status, in bytes; None where there is no such file."""
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None


def highest() -> int:
    """Most bytes that were resident since `reset`, where the system can tell since when."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _status("VmHWM") or (peak if sys.platform == "darwin" else peak * 1024)


def resident() -> int:
    """Bytes that are resident now; the most so far where the system does not tell."""
    return _status("VmRSS") or highest()


def reset() -> None:
    """Let `highest` begin anew."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def slope(points: list[tuple[int, int]]) -> float:
    """Bytes for each further conversation, by least squares."""
    count = len(points)
    if count < 2:
        return float("nan")
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


async def kept(work: Workload, out: Path) -> dict[str, Any]:
    """Hold conversations with an instant model into a run folder; bytes kept for each that is over.

    The plan is in memory before the first begins, so it is not a part of it.
    """
    from .instant import InstantChatModel
    from .ours import held

    over, points = 0, list[tuple[int, int]]()
    step = max(1, work.conversations // SAMPLES)

    def keep(conversation: Any) -> None:
        nonlocal over
        over += 1
        if over % step == 0 and over >= work.conversations * FIRST and over <= work.conversations - work.concurrency:
            gc.collect()
            points.append((over, resident()))

    model = InstantChatModel()
    await held(work, out, model, model, keep=keep)
    return {"kept": slope(points), "points": points, "over": over, "made": model.calls}
