"""The event loop in which simulations run that are called from code that is not async."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from ...nodes.calls.gate import EndpointError
from ...nodes.foreign import new_loop, run_forever

LAST = 0.8
"""Seconds in which an interrupted call ends by itself, and in which a loop that is not blocked takes an order."""
WRITING = 30.0
"""Most seconds in which it may be written down."""

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
    tasks: list[asyncio.Task[Any] | None] = []
    over = threading.Event()

    async def to_its_end() -> T:
        tasks.append(asyncio.current_task())
        try:
            return await work
        finally:
            over.set()

    def cancel() -> None:
        for task in tasks:
            if task is not None:
                task.cancel()

    try:  # an interrupt may come before there is a future
        return asyncio.run_coroutine_threadsafe(to_its_end(), loop).result()
    except BaseException:
        if not over.is_set():  # the caller was interrupted: first let the running conversations be written down
            loop.call_soon_threadsafe(cancel)
            _settle(loop, over)
        raise


def waiting(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[[Callable[[], None]], Callable[P, T]]:
    """Give a function the parameters of `work`, for which it waits, in code that is async or not.

    The function's own part is its name and its docstring.
    """
    parameters = signature(work).parameters

    def _resume_line(arguments: tuple[Any, ...], settings: Mapping[str, Any]) -> str:
        out = signature(work).bind(*arguments, **settings).arguments.get("out")
        folder_line = f"what is finished is kept in {out}" if out is not None else "nothing is kept without out=FOLDER"
        return f"interrupted: {folder_line}; continue: the same call with out={str(out or 'FOLDER')!r}, resume=True"

    def waiting_for_it(described: Callable[[], None]) -> Callable[P, T]:
        @wraps(work)
        def wait(*arguments: P.args, **settings: P.kwargs) -> T:
            try:
                return blocking(work(*arguments, **settings))
            except KeyboardInterrupt as error:
                if "resume" in parameters:
                    error.add_note(_resume_line(arguments, settings))
                raise
            except EndpointError as error:  # its line has all; a caller needs no traceback of this package
                raise error.with_traceback(None) from None

        wait.__name__, wait.__qualname__, wait.__doc__ = described.__name__, described.__qualname__, described.__doc__
        return wait

    return waiting_for_it


def _settle(loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
    """Wait until a cancelled call has ended, but not in a loop that an agent blocks."""
    if over.wait(LAST):
        return
    heard = threading.Event()
    loop.call_soon_threadsafe(heard.set)
    if heard.wait(LAST):
        over.wait(WRITING)
    else:
        _forget_loop()


THREAD = "duologue simulations"
_lock = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _lock:
        if _running is None or _running.is_closed():
            _running = new_loop()
            threading.Thread(target=run_forever, args=(_running,), name=THREAD, daemon=True).start()
        return _running


def _forget_loop() -> None:
    """Make a new loop for the next call: this one is blocked, or without its thread in a fork."""
    global _lock, _running
    _lock, _running = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop)
