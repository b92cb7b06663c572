"""`sys.exit` in somebody's code: an error of that code, and not the end of the process that runs it.

asyncio lets SystemExit through every task and out of its loop: a command ended with the exit code of an agent, without a
result, and a loop in a thread of its own stood still for ever.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class ExitError(RuntimeError):
    """The code of an agent, tool, validator, scorer or world ended with SystemExit."""

    def __init__(self, error: SystemExit) -> None:
        super().__init__(f"code that a run calls has ended with SystemExit: {error.code}")


async def _exits_are_errors(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except SystemExit as error:
        raise ExitError(error).with_traceback(error.__traceback__) from None


def task_of(loop: asyncio.AbstractEventLoop, work: Any, **settings: Any) -> "asyncio.Task[Any]":
    """A task of the loop, as a task factory makes it, in which SystemExit is an ExitError."""
    return asyncio.Task(_exits_are_errors(work), loop=loop, **settings)
