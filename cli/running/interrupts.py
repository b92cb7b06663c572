"""Ctrl-C and SIGTERM end a command in order, within two seconds whatever an agent does; a second one at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import typer

from ..streams import flush, say

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes of a command that was interrupted, or ended by SIGTERM, as a shell has them."""
SECONDS = 2.0
"""Most seconds in which what is under way is written down."""


@contextmanager
def ending_in_order(again: str) -> Iterator[None]:
    """Inside, an interrupt ends the work, which writes down what is under way; then the command, with `again` in its line.

    The work runs in a loop of its own thread (`runs.loop.blocking`): the main thread, which waits for it, hears the signal
    also while an agent blocks.
    """
    code = INTERRUPTED

    def at_once() -> NoReturn:
        say(f"interrupted: {again}")
        flush()
        os._exit(code)

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal code
        if timer.is_alive():
            at_once()
        code = INTERRUPTED if number == signal.SIGINT else TERMINATED
        timer.start()
        raise KeyboardInterrupt

    timer = threading.Timer(SECONDS, at_once)
    timer.daemon = True
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    if threading.current_thread() is threading.main_thread():
        # What is ignored from outside, as under nohup, stays ignored.
        before = {one: signal.signal(one, on_signal) for one in numbers if signal.getsignal(one) is not signal.SIG_IGN}
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted: {again}")
        raise typer.Exit(code) from None
    finally:
        timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
