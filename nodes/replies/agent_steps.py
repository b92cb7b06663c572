"""Steps of agents in a thread beside the event loop's own, which leaves one behind that blocks.

An `async` function that blocks (`time.sleep`) would hold up its event loop for ever, with every conversation in it.
While the loop's thread waits, nothing else runs in the loop: for an agent it is the loop's thread all the same.
"""

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any
from weakref import WeakKeyDictionary, finalize

STEPS_THREAD = "duologue steps of agents"
"""Name of the threads."""
UNWINDING = 0.2
"""Least seconds in which a step may end: one of a turn that is due raises, and cleans up."""


class TurnTimeoutError(Exception):
    """A turn of an agent took longer than its limit."""


@dataclass(eq=False)
class AgentTurn:
    """A turn of an agent, for whose steps the event loop waits until it is due."""

    limit: float
    """Its limit in seconds."""
    due: float | None
    """When it must be over, by the loop's clock; None: it is over, and what it left running is not waited for here."""
    dropped: bool = False
    """Whether the run is ending, and left a step of it behind."""

    def error(self) -> TurnTimeoutError:
        """The error of this turn when it takes too long."""
        return TurnTimeoutError(f"no reply within {self.limit:g} seconds")


TURN: ContextVar[AgentTurn | None] = ContextVar("turn of an agent", default=None)
"""The turn to which a task belongs; an agent's own tasks inherit it."""


@dataclass(eq=False)
class _Step:
    """A step of a coroutine."""

    turn: AgentTurn
    context: Context
    """Of the coroutine: the task's own one is entered in the loop's thread."""
    work: Coroutine[Any, Any, Any]
    call: Callable[..., Any]
    """Its method."""
    arguments: tuple[Any, ...]
    left: bool = False
    """Whether no caller waits for it any more."""
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    task: "asyncio.Task[Any] | None" = field(default_factory=asyncio.current_task)
    hooks: Any = field(default_factory=sys.get_asyncgen_hooks)  # a thread has its own ones
    over: threading.Event = field(default_factory=threading.Event)
    outcome: tuple[Any, BaseException | None] | None = None
    """What it gave or raised; None until it has come back."""

    def run(self) -> None:
        """In the thread of steps: take the step, as if in the loop's thread."""
        result, error = None, None
        asyncio._set_running_loop(self.loop)
        sys.set_asyncgen_hooks(*self.hooks)
        if sys.version_info >= (3, 14) and self.task is not None:  # the current task is one of the thread
            asyncio.tasks._enter_task(self.loop, self.task)
        try:
            result = self.context.run(self.call, *self.arguments)
        except BaseException as raised:  # is the task's
            error = raised
        finally:
            if self.left:  # nobody takes another step
                with suppress(BaseException):
                    self.context.run(self.work.close)
            if sys.version_info >= (3, 14) and self.task is not None:
                asyncio.tasks._leave_task(self.loop, self.task)
            asyncio._set_running_loop(None)
        self.outcome = result, error
        self.over.set()


class _StepsThread:
    """The thread of an event loop for steps of agents; another replaces one that is left behind."""

    def __init__(self) -> None:
        self._steps: SimpleQueue[_Step | None] | None = None

    def take(self, step: _Step) -> None:
        """Let the step be taken, and wait for it until its turn is due."""
        if self._steps is None:
            self._steps = SimpleQueue()
            threading.Thread(target=_serve, args=(self._steps,), name=STEPS_THREAD, daemon=True).start()
        assert step.turn.due is not None
        _UNDER_WAY.add(step)
        try:
            self._steps.put(step)
            step.over.wait(max(UNWINDING, min(step.turn.due - step.loop.time(), threading.TIMEOUT_MAX)))
        finally:
            _UNDER_WAY.discard(step)
            if step.outcome is None:
                step.left = True
                self.end()

    def end(self) -> None:
        """Let the thread end, as soon as its step has come back."""
        if self._steps is not None:
            self._steps.put(None)
            self._steps = None


def _serve(steps: "SimpleQueue[_Step | None]") -> None:
    while (step := steps.get()) is not None:
        step.run()
        del step  # and what it holds, while nothing is to be done


_UNDER_WAY: set[_Step] = set()
_THREADS: "WeakKeyDictionary[asyncio.AbstractEventLoop, _StepsThread]" = WeakKeyDictionary()


def stepped(
    turn: AgentTurn, context: Context, work: Coroutine[Any, Any, Any], call: Callable[..., Any], *arguments: Any
) -> Any:
    """What a step of `work` gives or raises; TurnTimeoutError if it is left behind when its turn is due."""
    step = _Step(turn, context, work, call, arguments)
    if turn.due is not None and step.loop.time() >= turn.due and call == work.send:
        step.call, step.arguments = work.throw, (turn.error(),)
    if (thread := _THREADS.get(step.loop)) is None:
        thread = _THREADS[step.loop] = _StepsThread()
        finalize(step.loop, thread.end)
    thread.take(step)
    if step.outcome is None:
        raise asyncio.CancelledError if turn.dropped else turn.error()
    result, error = step.outcome
    if error is not None:
        raise error
    return result


def drop_steps() -> None:
    """Wait for no step that is under way in this process: the run is ending."""
    for step in list(_UNDER_WAY):
        step.turn.dropped = True
        step.over.set()
