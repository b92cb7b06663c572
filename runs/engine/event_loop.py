"""The event loop in which simulations run that are called from code that is not async."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ...nodes.calls.endpoint_gate import EndpointError
from ...nodes.replies.worker_threads import new_loop

T = TypeVar("T")
P = ParamSpec("P")


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run the work in the process's own event loop and wait for it.

    It is always the same loop, because a model's connections belong to the loop that opened them. It has its own
    thread, because the caller may be inside a running loop already.
    """
    loop = _loop()
    if threading.current_thread().name == THREAD:
        work.close()
        raise RuntimeError("simulate was called from within a simulation: await asimulate there")
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        if not future.done():  # the caller was interrupted: first let the running conversations be written down
            future.cancel()
            _settle()
        raise


def waiting(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[[Callable[[], None]], Callable[P, T]]:
    """Give a function the parameters of `work`, for which it waits, in code that is async or not.

    The function's own part is its name and its docstring.
    """

    def waiting_for_it(described: Callable[[], None]) -> Callable[P, T]:
        @wraps(work)
        def wait(*arguments: P.args, **settings: P.kwargs) -> T:
            try:
                return blocking(work(*arguments, **settings))
            except EndpointError as error:  # its line has all; a caller needs no traceback of this package
                raise error.with_traceback(None) from None

        wait.__name__, wait.__qualname__, wait.__doc__ = described.__name__, described.__qualname__, described.__doc__
        return wait

    return waiting_for_it


def _settle() -> None:
    """Wait until every task of a cancelled call has ended."""

    async def others() -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run_coroutine_threadsafe(others(), _loop()).result(timeout=30)


THREAD = "duologue simulations"
_lock = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _lock:
        if _running is None or _running.is_closed():
            _running = new_loop()
            threading.Thread(target=_running.run_forever, name=THREAD, daemon=True).start()
        return _running


def _forget_loop() -> None:
    """A forked process inherits the loop without its thread, so it must make a new one."""
    global _lock, _running
    _lock, _running = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop)
