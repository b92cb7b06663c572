"""Signals during a run: Ctrl-C once ends it in order, twice at once, and so does a `kill`."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import typer

from ...data.packages import is_own, place_of
from ..streams import say, stderr

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.engine.control import Control
    from ...runs.folder.summary import Summary

T = TypeVar("T")

AskingWork: TypeAlias = Callable[[Callable[[str], None]], Coroutine[Any, Any, T]]
"""Work that asks models, from what changes its line of progress."""

INTERRUPTED = 130
"""Exit code of a command that was interrupted, as a shell has it."""
TERMINATED = 143
"""Exit code of a command that SIGTERM ended, as a shell has it."""

STOPPED = "interrupted"
"""Why a run begins nothing new after Ctrl-C."""

OWN_INTERRUPT = "code of yours raised KeyboardInterrupt"
"""Beginning of the reason of a run that your code ended so."""

LAST = 0.5
"""Seconds in which what is left of a run may end."""

ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")
"""Signals that end a run at once: finished and unfinished conversations are written down."""


def exit_code(control: "Control") -> int:
    """Exit code of a command that a signal ended."""
    return TERMINATED if control.signal == signal.SIGTERM else INTERRUPTED


def run(
    work: Coroutine[Any, Any, T],
    control: "Control",
    under_way: Callable[[], int],
    max_time: float | None = None,
) -> T:
    """The work's result, under signals and for at most so many seconds; `under_way`: the conversations just now."""

    async def terminable() -> T:
        task = asyncio.current_task()
        assert task is not None
        with (
            terminating(control, task.cancel),
            interruptible(control, under_way, task.cancel),
            control.within(max_time),
        ):
            return await work

    with control.as_default():
        return _completed(terminable())


def _completed(work: Coroutine[Any, Any, T]) -> T:
    """The work's result in an event loop of its own.

    Tasks that go on although they are cancelled are left behind.
    """
    from ...nodes.foreign import new_loop, run_until_complete

    loop = new_loop()
    try:
        asyncio.set_event_loop(loop)
        return run_until_complete(loop, work)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=LAST))
        if not all(task.done() for task in left):
            # What is left behind would be reported below the line that resumes, when the process ends.
            loop.set_exception_handler(lambda *_: None)
            sys.unraisablehook = lambda _: None
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


@contextmanager
def terminating(control: "Control", cancel: Callable[[], Any]) -> Iterator[None]:
    """Inside, the signals of `ENDING` call `cancel` in the event loop that runs."""
    loop, process = asyncio.get_running_loop(), os.getpid()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if os.getpid() != process:  # a process that an agent forked, such as a worker of a pool, ends by it
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        control.signal = number
        loop.call_soon_threadsafe(cancel)

    before = {}
    for number in (getattr(signal, name) for name in ENDING if hasattr(signal, name)):
        # What is ignored from outside, as under nohup, stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(ValueError):  # not the main thread
                before[number] = signal.signal(number, on_signal)

    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interruptible(control: "Control", under_way: Callable[[], int], cancel: Callable[[], Any]) -> Iterator[None]:
    """Inside, the first Ctrl-C ends the run in order, the second calls `cancel`, the third is raised.

    The third is for code that lets the event loop wait for ever. An agent has a second to answer after the first one.
    """
    from ...runs.engine.control import GRACE, LAST_SECONDS

    loop = asyncio.get_running_loop()
    pressed = 0

    def first() -> None:
        control.close(STOPPED)
        loop.call_later(GRACE, control.drop)
        count = under_way()
        what = f"calls of models in {count} conversation{'' if count == 1 else 's'}" if count else "calls of models"
        limits = f"{GRACE:g} seconds for agents of your own, up to {LAST_SECONDS:g} for {what}"
        say(f"waiting {limits}; press Ctrl-C again to stop now")

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


def unless_interrupted(work: Callable[[], T], control: "Control") -> T | None:
    """What the work gives; None if it was interrupted, which is why the control ends then."""
    try:
        return work()
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        control.ending = _own_interrupt(error) or STOPPED  # also of a run that a bound was ending, and by a signal
        return None


def _own_interrupt(error: BaseException) -> str:
    """What to print of a KeyboardInterrupt that code of one's own raised; empty if somebody pressed Ctrl-C."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    if not isinstance(error, KeyboardInterrupt) or not frames or is_own(frames[-1]):  # raised by `on_interrupt`
        return ""
    place = place_of(error, installed=False)
    return f"{OWN_INTERRUPT}{place}" if place else ""


def or_so_far(work: Callable[[], "Summary"], folder: Path, control: "Control") -> "Summary":
    """The result of a run; if it is interrupted, what its folder holds by then.

    Ends the command if that is nothing.
    """
    from ...runs.folder.summary import summarize
    from ...runs.journals.journal import RunError

    if (summary := unless_interrupted(work, control)) is not None:
        return summary
    try:
        return replace(summarize(folder), stopped=control.ending)
    except RunError:
        say("interrupted: no conversation had begun, and nothing was written")
        raise typer.Exit(exit_code(control)) from None


def ask(work: AskingWork[T], control: "Control", begins: str, *, max_time: float | None) -> T | None:
    """The result of work that asks models, with a line of progress; None if it was interrupted.

    `work` is called with what changes the line, which begins as `begins`.
    """
    with stderr.status(begins) as status:
        return unless_interrupted(lambda: run(work(status.update), control, lambda: 0, max_time), control)


def ask_all(
    work: AskingWork[T], control: "Control", begins: str, *, max_time: float | None, left: str, early: bool = True
) -> T:
    """As `ask`, and print the outcome; Ctrl-C ends the command.

    `left`: what an interrupted command leaves. `early`: say also which bound ended it.
    """
    result = ask(work, control, begins, max_time=max_time)
    say(*control.spending.notes)
    if result is None or control.ending == STOPPED:
        pressed = control.ending == STOPPED
        say(f"{'interrupted' if pressed else f'ended early: {control.ending}'}: {left}")
        raise typer.Exit(exit_code(control) if pressed else 1)
    if early and control.ending is not None:
        say(f"ended early: {control.ending}")
    return result
