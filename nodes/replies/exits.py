"""`sys.exit` and `CancelledError` in foreign code: an error of that code, and not the end of its caller.

asyncio lets SystemExit through every task and out of its loop. Without this module a command ends with the exit code of
an agent and without a result. A loop in a thread of its own stands still.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any

from ..calls.gate import RunOverError
from .agent_steps import TURN, stepped


class ExitError(RuntimeError):
    """Foreign code ended with SystemExit, or with another error that is not an Exception."""

    def __init__(self, error: BaseException) -> None:
        value = error.code if isinstance(error, SystemExit) else error
        super().__init__(f"code that a run calls has ended with {type(error).__name__}: {value}".removesuffix(": "))


def ends_process(error: BaseException) -> bool:
    """Whether an error of foreign code would end its caller: it is neither an Exception nor Ctrl-C, nor the run's end."""
    ours = Exception | BaseExceptionGroup | KeyboardInterrupt | asyncio.CancelledError | RunOverError
    return not isinstance(error, ours)


class OwnCancelError(RuntimeError):
    """The code of an agent raised CancelledError although the run has not cancelled it."""

    def __init__(self) -> None:
        super().__init__("code that a run calls has raised CancelledError although the run has not cancelled it")


class ExitsAreErrors(Coroutine[Any, Any, Any]):
    """A coroutine that raises ExitError where `work` raises SystemExit, and leaves a step of an agent that blocks.

    It hands on each step, so a task that is cancelled before its first one begins and ends `work` as any task does.
    """

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self.work = work
        self._context: Context | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.work, name)  # what asyncio shows of a task: its name, its frame

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.work.__await__()

    def send(self, value: Any) -> Any:
        """The next step of `work`."""
        return self._step(self.work.send, value)

    def throw(self, *error: Any) -> Any:
        """The step of `work` after an error."""
        return self._step(self.work.throw, *error)

    def _step(self, call: Callable[..., Any], *arguments: Any) -> Any:
        turn = TURN.get()
        try:
            if turn is None or turn.due is None or asyncio.get_running_loop().get_debug():  # which checks the thread
                return call(*arguments)
            self._context = self._context or copy_context()
            return stepped(turn, self._context, self.work, call, *arguments)
        except BaseException as error:
            if not ends_process(error) or any(error is one for one in arguments):
                raise
            raise ExitError(error).with_traceback(error.__traceback__) from None

    def close(self) -> None:
        """End `work`."""
        self.work.close()


def task_of(loop: asyncio.AbstractEventLoop, work: Any, **settings: Any) -> "asyncio.Task[Any]":
    """A task of the loop, as a task factory makes it, in which SystemExit is an ExitError."""
    return asyncio.Task(ExitsAreErrors(work), loop=loop, **settings)
