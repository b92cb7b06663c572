"""The event loop of the functions that are not async: they work in scripts, in notebooks and in commands alike."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from ..nodes.calls.gate import EndpointError
from ..nodes.foreign import new_loop, run_forever

T = TypeVar("T")

LAST = 1.5
"""Seconds in which an interrupted call writes down what is under way: with what follows it ends within two."""
THREAD = "duologue simulations"
_lock = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def blocking(work: Coroutine[Any, Any, T], out: object = None) -> T:
    """Run the work in the process's own event loop and wait for it; `out`: the run folder, for who interrupts it.

    It is always the same loop, because a model's connections belong to the loop that opened them. It has its own
    thread: the caller may be inside a running loop, and Ctrl-C reaches it whatever an agent does. Interrupted, the work is
    cancelled, and has a moment to write down what is under way.
    """
    loop = _loop()
    if threading.current_thread().name == THREAD:
        work.close()
        raise RuntimeError("simulate was called from within a simulation: await asimulate there")
    over = threading.Event()

    async def to_its_end() -> T:
        try:
            return await work
        finally:
            over.set()

    future = asyncio.run_coroutine_threadsafe(to_its_end(), loop)
    try:
        return future.result()
    except EndpointError as error:  # its line has all; a caller needs no traceback of this package
        raise error.with_traceback(None) from None
    except BaseException as error:
        if not over.is_set():
            future.cancel()
            if not over.wait(LAST):
                _forget_loop()  # an agent blocks it
        if isinstance(error, KeyboardInterrupt):
            kept = "nothing is kept without out=FOLDER" if out is None else f"what is finished is kept in {out}"
            error.add_note(f"interrupted: {kept}; continue: the same call with out={str(out or 'FOLDER')!r}")
        raise


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
