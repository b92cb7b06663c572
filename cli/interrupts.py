"""Signals during a run: Ctrl-C once lets finish what is under way, twice ends it at once, and so does a `kill`."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from .output import say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..runs.control import Control
    from ..runs.summary import Summary

T = TypeVar("T")

INTERRUPTED = 130
"""Exit code of a command that was interrupted, as a shell has it."""

STOPPED = "interrupted"
"""Why a run begins nothing new after Ctrl-C."""

ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")
"""Signals that end a run at once: finished and unfinished conversations are written down."""


def run(
    work: Coroutine[Any, Any, T], control: "Control", under_way: Callable[[], int], max_time: float | None = None
) -> T:
    """The work's result, under signals and for at most so many seconds; `under_way`: the conversations just now."""

    async def terminable() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        for name in ENDING:
            number = getattr(signal, name, None)
            # What is ignored from outside, as under nohup, stays ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                with suppress(NotImplementedError, RuntimeError, ValueError):  # no signals, or not the main thread
                    loop.add_signal_handler(number, task.cancel)
        with interruptible(control, under_way, task.cancel), control.within(max_time):
            return await work

    with control.held():
        return asyncio.run(terminable())


@contextmanager
def interruptible(control: "Control", under_way: Callable[[], int], cancel: Callable[[], Any]) -> Iterator[None]:
    """Inside, the first Ctrl-C ends the run in order, the second calls `cancel`, the third is raised.

    The third is for code that lets the event loop wait for ever.
    """
    loop = asyncio.get_running_loop()
    pressed = 0

    def first() -> None:
        control.end(STOPPED)
        count = under_way()
        what = f"{count} conversation{'' if count == 1 else 's'}" if count else "what is under way"
        say(f"finishing {what}; press Ctrl-C again to stop now")

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 2:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(first if pressed == 1 else cancel)

    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:  # in the background of a shell
        yield
        return
    try:
        signal.signal(signal.SIGINT, on_interrupt)
    except ValueError:  # not the main thread: nobody presses Ctrl-C here
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def or_so_far(work: Callable[[], "Summary"], folder: Path, control: "Control") -> "Summary":
    """What a run has come to; if it is interrupted, what its folder holds by then. Ends the command if that is nothing."""
    from ..runs.journal import RunError
    from ..runs.summary import found

    try:
        return work()
    except (KeyboardInterrupt, asyncio.CancelledError):
        control.ending = STOPPED  # also of a run that a bound was ending, and by a signal
    try:
        return replace(found(folder), stopped=STOPPED)
    except RunError:
        say("interrupted: no conversation had begun, and nothing was written")
        raise typer.Exit(INTERRUPTED) from None
