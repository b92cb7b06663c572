"""Daemon threads for code that blocks, so that an agent without an answer cannot keep a process alive."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

from .exits import ExitError, ends_process, task_of

T = TypeVar("T")

_Call: TypeAlias = tuple["Future[Any]", Callable[[], Any]]


class _PlacedTimeoutError(TimeoutError):
    """A TimeoutError with its place: asyncio replaces one of exactly that class by a new one."""


_PlacedTimeoutError.__name__ = TimeoutError.__name__  # records name the class


def _with_place(error: BaseException) -> BaseException:
    if isinstance(error, StopIteration):  # no future takes it, and its caller would wait for ever
        stopped = RuntimeError("code that a run calls has raised StopIteration")
        return stopped.with_traceback(error.__traceback__)
    if type(error) is not TimeoutError:
        return error
    placed = _PlacedTimeoutError(*error.args).with_traceback(error.__traceback__)
    placed.__cause__ = error.__cause__
    return placed


class WorkerThreads(ThreadPoolExecutor):
    """An executor of daemon threads: as many as there are calls, and an idle one is used again.

    A pool of the standard library has a bound, which calls without an end use up, and waits for them at exit.
    """

    def __init__(self) -> None:
        super().__init__(max_workers=1)  # of its threads none is ever begun; an event loop takes only this class
        self._begin()

    def _begin(self) -> None:
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._idle = threading.Semaphore(0)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **settings: Any) -> "Future[Any]":
        """Begin the call in a thread of its own."""
        future: Future[Any] = Future()
        self._calls.put((future, partial(function, *arguments, **settings)))
        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._serve, name="duologue worker", daemon=True).start()
        return future

    def _serve(self) -> None:
        while True:
            future, call = self._calls.get()
            if future.set_running_or_notify_cancel():
                try:
                    result = call()
                except BaseException as error:  # is the caller's
                    ended = ExitError(error).with_traceback(error.__traceback__) if ends_process(error) else error
                    future.set_exception(_with_place(ended))
                else:
                    future.set_result(result)
                    del result
            del future, call
            self._idle.release()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing: event loops share these threads, and a process that ends does not wait for them."""


WORKER_THREADS = WorkerThreads()
"""The worker threads of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKER_THREADS._begin)  # a forked process has none of the threads


def use_worker_threads() -> None:
    """Let the running event loop use the worker threads, also for what LangGraph puts to threads.

    A loop that has an executor keeps it.
    """
    loop = asyncio.get_running_loop()
    if (
        getattr(loop, "_default_executor", loop) is None
    ):  # nothing public says so; other loops than asyncio's keep theirs
        loop.set_default_executor(WORKER_THREADS)


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop with the worker threads, in which `sys.exit` of foreign code is an error of that code.

    An agent that blocks it is left behind when its turn is due.
    """
    loop = asyncio.new_event_loop()
    loop.set_default_executor(WORKER_THREADS)
    loop.set_task_factory(task_of)
    return loop


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """The function's result, from a worker thread with the context variables of here."""
    call = partial(copy_context().run, function, *arguments)
    return await asyncio.get_running_loop().run_in_executor(WORKER_THREADS, call)
