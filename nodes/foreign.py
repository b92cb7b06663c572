"""Code that a run calls and does not know: the threads in which it may block, its exits, and the time of its turn."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

from .calls.gate import RunOverError

T = TypeVar("T")

log = logging.getLogger(__name__)

LAG = 1.0
"""Seconds by which the event loop may be late before it is said that an agent blocks it."""
LAST = 0.5
"""Seconds in which a cancelled turn may end; after that it is left behind."""
_ENTERED: list[str] = []
"""The agent that was called last in this process, if it has a coroutine in the event loop."""


class ExitError(RuntimeError):
    """Foreign code ended with SystemExit, a cancellation of its own, or another error that a coroutine cannot raise."""

    def __init__(self, error: BaseException) -> None:
        value = error.code if isinstance(error, SystemExit) else error
        super().__init__(f"code that a run calls has ended with {type(error).__name__}: {value}".removesuffix(": "))


class TurnTimeoutError(Exception):
    """A turn of an agent took longer than its limit."""


def as_error(error: BaseException) -> BaseException:
    """The error, or an ExitError of one that would end the process or, as StopIteration does, a coroutine."""
    is_error = isinstance(error, Exception | BaseExceptionGroup | asyncio.CancelledError | RunOverError)
    if is_error and not isinstance(error, StopIteration):
        return error
    return ExitError(error).with_traceback(error.__traceback__)


class DaemonThreads(ThreadPoolExecutor):
    """An executor of as many daemon threads as there are calls: one without an end keeps no process alive.

    An event loop takes only this class, whose own threads have a bound and are waited for at exit: none is begun. A
    thread that is idle does not end: what a call began may end with its thread, such as the processes of Ray.
    """

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        """Have no thread yet, as a forked process has none of its parent's."""
        self.calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.idle = threading.Semaphore(0)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **settings: Any) -> "Future[Any]":
        """Begin the call."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # a cancelled caller waits no more; the outcome still has a place

        def run() -> None:
            try:
                future.set_result(function(*arguments, **settings))
            except BaseException as error:  # is the caller's
                future.set_exception(as_error(error))

        self.calls.put(run)
        if not self.idle.acquire(blocking=False):
            threading.Thread(target=self._serve, name="duologue call", daemon=True).start()
        return future

    def _serve(self) -> None:
        calls, idle = self.calls, self.idle
        while True:
            calls.get()()
            idle.release()


THREADS = DaemonThreads()
"""The threads of this process."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=THREADS.begin)


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """The function's result, from a thread with the context variables of here."""
    context = copy_context()

    def outcome() -> tuple[
        Any, BaseException | None
    ]:  # Python 3.11 replaces a future's TimeoutError by one without a place
        try:
            return context.run(function, *arguments), None
        except BaseException as error:
            return None, as_error(error)

    result, error = await asyncio.wrap_future(THREADS.submit(outcome))
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop that puts what LangGraph calls in threads, such as nodes that are not async, into daemon threads."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(THREADS)
    return loop


def run_forever(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped.

    asyncio lets an exit or a KeyboardInterrupt of foreign code out of the loop, although it is the outcome of one task,
    and who waits for that has it: here the loop goes on. Ctrl-C reaches the main thread alone.
    """
    while True:
        try:
            return loop.run_forever()
        except SystemExit:
            continue
        except KeyboardInterrupt:
            if threading.current_thread() is threading.main_thread():
                raise


async def within(
    seconds: float,
    turn: Coroutine[Any, Any, T],
    name: str,
) -> T:
    """The result of an agent's turn; TurnTimeoutError after these seconds.

    One that goes on although it is cancelled is left behind. One that blocks the event loop cannot be ended, and counts
    by the time that it took. `name`: whom `heartbeat` names then; empty for one that has a thread.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    _ENTERED[:] = [name] if name else []
    task = loop.create_task(_guarded(turn), name=name)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done() and loop.time() - began <= seconds:
            try:
                return task.result()
            except asyncio.CancelledError as error:
                raise ExitError(error).with_traceback(error.__traceback__) from None
    finally:
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody else asks for its error
        if task.cancel():  # it goes on; it may end at once
            await asyncio.wait({task}, timeout=LAST)
    raise TurnTimeoutError(f"no reply within {seconds:g} seconds")


async def _guarded(turn: Coroutine[Any, Any, T]) -> T:
    try:
        return await turn
    except BaseException as error:
        if (told := as_error(error)) is error:
            raise  # with its cause, which may be an endpoint's
        raise told from None


async def heartbeat() -> None:
    """Say once, for as long as this runs, that an agent blocks the event loop, and with it all other conversations.

    An agent that waits takes no time of the processor, one that computes takes all of it. What is late with a part of it
    has been kept waiting by other programs, and nothing is said.
    """
    loop = asyncio.get_running_loop()
    while True:
        began, worked = loop.time(), time.thread_time()
        await asyncio.sleep(LAG / 4)
        late = loop.time() - began - LAG / 4
        share = (time.thread_time() - worked) / (late + LAG / 4)
        if late > LAG and _ENTERED and not 0.1 < share < 0.9:
            log.warning(
                "%s blocks the event loop (%.1f seconds just now): all conversations wait for it meanwhile; let it await, "
                "or make its function a plain one, which gets a thread of its own",
                _ENTERED[0],
                late,
            )
            return
