"""A worker process: takes a shard and orders from its standard input, and writes reports to its standard output.

It ends with the process that has started it. That is at once where the system then sends a signal (Linux), elsewhere as
soon as the pipe is closed.
"""

import ctypes
import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from typing import IO, Any

from ..engine.reports import WorkerOrders, WorkerReport
from .processes import BEGIN, SIZE, framed
from .shard_work import work

_PR_SET_PDEATHSIG = 1
SILENT = 1.0
"""Seconds in which a worker takes an order to end, unless an agent blocks its event loop."""


def _handle_signals(handler: Any) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), handler)


def main(parent: int) -> None:
    """Simulate the shard that comes in; `parent` is the process that has started this one."""
    _end_with(parent)
    # The parent gets them too, and says what is to be done. Processes of an agent would inherit signals that are ignored.
    _handle_signals(lambda *_: None)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _handle_signals(signal.SIG_DFL))
    orders_in, reports_out = _pipes()
    shard: Any = _next(orders_in)
    latest = [_next(orders_in) or WorkerOrders()]

    reports = [0]

    def end_if_blocked(before: int) -> None:
        if reports[0] == before:  # nothing was reported meanwhile: an agent blocks the event loop
            os._exit(1)

    def listen() -> None:
        while (orders := _next(orders_in)) is not None:
            latest[0] = orders
            if orders.cancelled or orders.dropped:
                timer = threading.Timer(SILENT, end_if_blocked, reports[:])
                timer.daemon = True
                timer.start()
        os._exit(1)  # the parent is gone, and what is finished is on the disk

    reports_out.write(BEGIN)
    threading.Thread(target=listen, name="duologue orders", daemon=True).start()

    def exchange(report: WorkerReport) -> WorkerOrders:
        reports[0] += 1
        reports_out.write(framed(report))
        reports_out.flush()
        return latest[0]

    work(shard, exchange, f"{shard.name} {os.getpid()}")
    os._exit(0)  # nothing is left to be done, and threads of other packages are not waited for


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes to the parent.

    Other output goes to the standard error, and nothing else reads the orders.
    """
    orders_in, reports_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return orders_in, reports_out


def _next(pipe: IO[bytes]) -> Any:
    """The next object from the pipe; None at its end."""
    head = pipe.read(SIZE.size)
    if len(head) < SIZE.size:
        return None
    data = pipe.read(SIZE.unpack(head)[0])
    return pickle.loads(data) if len(data) == SIZE.unpack(head)[0] else None


def _end_with(parent: int) -> None:
    """Have the system kill this process when the one ends that has started it."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
