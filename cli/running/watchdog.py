"""The thread that ends a command whose event loop is blocked: signals and `--max-time` must not wait for it."""

import os
import signal
import socket
import sys
import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ...data.packages import place_now
from .forked_children import undone_in_forks

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.engine.control import Control

SILENT = 0.6
"""Seconds in which an event loop that is not blocked takes an order."""
REPORTING = 20.0
"""Seconds that the last reports may take: what blocks the process may hold what they need."""


@dataclass
class Watchdog:
    """Ends the process if the event loop takes no order after a signal or at the end of the time."""

    loop: AbstractEventLoop
    control: "Control"
    grace: float
    """Seconds from the first Ctrl-C, or the end of the time, until agents are waited for no more."""
    ending: Callable[[int | None], tuple[str, int]]
    """Last line and exit code by the signal's number; None: the time is over."""
    last: Callable[[str], object] = len
    """Writes what can be written before the end; called with the last line."""
    disarm: Callable[[], object] = tuple
    """Called right before the process ends."""

    def watch(self, orders: socket.socket, seconds: float | None) -> None:
        """Take the numbers of signals from a socket until it is closed."""
        due = inf if seconds is None else self.loop.time() + seconds + self.grace
        cause: int | None = None
        heard: threading.Event | None = None
        while True:
            orders.settimeout(None if due == inf else max(0.001, due - self.loop.time()))
            try:
                numbers = orders.recv(64)
            except TimeoutError:
                if heard is not None and self._must_wait(heard):
                    self._end(cause)
                heard, due = threading.Event(), self.loop.time() + SILENT
                self.loop.call_soon_threadsafe(heard.set)
                continue
            if not numbers:
                return
            for number in numbers:
                first = cause is None and number == signal.SIGINT
                cause, heard, due = number, None, self.loop.time() + (self.grace if first else 0.0)

    def _must_wait(self, heard: threading.Event) -> bool:
        """Whether work is under way that cannot be ended in order."""
        waiting = any(calls.agents.waiting for calls in self.control.services)
        return self.control.under_way > 0 and (not heard.is_set() or waiting)

    def _end(self, cause: int | None) -> None:
        line, code = self.ending(cause)
        from ...nodes.replies.agent_steps import STEPS_THREAD  # loaded by the run

        sys.setswitchinterval(1e-4)  # an agent that computes without end would let the reports wait at each step
        steps = [thread for thread in threading.enumerate() if thread.name == STEPS_THREAD]
        place = next(filter(None, map(place_now, [threading.main_thread(), *steps])), "")
        self.control.blocked_at = place
        reporting = threading.Thread(target=self._report, args=(line,), name="duologue reports", daemon=True)
        reporting.start()
        reporting.join(REPORTING)
        clear = "\r\x1b[2K\x1b[?25h" if sys.stderr.isatty() else ""  # the progress display hides the cursor
        blocked = f"code of yours{place} blocks the event loop, so what is under way is not written down\n"
        with suppress(OSError):
            os.write(2, f"{clear}{blocked}{line}\n".encode(errors="backslashreplace"))
        self.disarm()
        os._exit(code)

    def _report(self, line: str) -> None:
        with suppress(Exception, SystemExit):  # the end must come, whatever cannot be written
            self.last(line)


@contextmanager
def watched(dog: Watchdog, seconds: float | None) -> Iterator[None]:
    """Inside, signals for which a handler is set are watched, and the end of so many seconds.

    Their numbers come through a socket as soon as the system delivers them, also while the main thread is blocked.
    Outside the main thread, and where another one has this socket, nothing is watched.
    """
    orders, written = socket.socketpair()
    written.setblocking(False)
    try:
        before = signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)
    except ValueError:
        orders.close()
        written.close()
        yield
        return
    if before != -1:
        signal.set_wakeup_fd(before)
    thread = threading.Thread(target=dog.watch, args=(orders, seconds), name="duologue watchdog", daemon=True)
    thread.start()
    try:
        with undone_in_forks(lambda: signal.set_wakeup_fd(-1) if before == -1 else None):
            yield
    finally:
        if before == -1:
            signal.set_wakeup_fd(-1)
        written.close()
        thread.join()
        orders.close()
