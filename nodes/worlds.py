"""The world of a conversation: what an agent's tools work on, such as a database or a sandbox.

A cast's `world` makes one for each conversation from its scenario. Tools, validators and scorers find it in the
runtime's context (`runtime.context.world`); no record, checkpoint, manifest or pickle holds it.
"""

import copy
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeAlias, runtime_checkable
from weakref import WeakKeyDictionary, WeakSet

from ..errors import DuologueError, SettingError
from .contract import check_function
from .limits import Limits
from .settings.redaction import error_line

log = logging.getLogger(__name__)

World: TypeAlias = Callable[[dict[str, Any]], Any]
"""A function from the scenario to the world of one conversation: an async context manager, a plain one, an object,
or something to await for one of these. What is entered is left when the conversation ends, however it ends; an object
with `aclose` or `close` is closed."""


class WorldError(DuologueError, RuntimeError):
    """A world could not be set up, put back or torn down."""


@runtime_checkable
class Restorable(Protocol):
    """A world that can be rolled back, so that a rejected draft has not happened.

    Both methods may be async.
    """

    def snapshot(self) -> Any:
        """A snapshot of the world for `restore`; lists and objects in it are copied."""
        ...

    def restore(self, snapshot: Any) -> Any:
        """Put the world back to a snapshot."""
        ...


@dataclass(frozen=True, kw_only=True)
class Context(Limits):
    """What the nodes of a conversation with a world are given as `runtime.context`: its limits, and the live world."""

    world: Any = field(default=None, repr=False, compare=False)
    before: list[Any] = field(default_factory=list, repr=False, compare=False)
    """The snapshot from before the draft that is made or waits for its verdict; empty without one."""
    at: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Snapshots from before the answer to an agent's question, by the question."""
    began: set[str] = field(default_factory=set, repr=False, compare=False)
    """Ids of the conversations that began in this world."""

    @classmethod
    def of(cls, limits: Limits, world: Any) -> "Context":
        """These limits with a world."""
        return cls(world=world, **limits.plain())

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Limits, **self.plain()), ()  # a world lives in this process only


def check_world(world: object) -> None:
    """Raises ContractError unless the object can be called with a scenario."""
    check_function("world", world, "(scenario) -> a context manager or an object", arguments=1, may_be_async=True)


@asynccontextmanager
async def living(world: World, scenario: Mapping[str, Any]) -> AsyncIterator[Any]:
    """The world of a conversation, from its beginning to its end.

    WorldError if it cannot be set up or torn down.

    It is torn down in the task that set it up. An error and a regular end are alike for it: the fault was the
    conversation's.
    """
    try:
        environment = await _awaited(world(copy.deepcopy(dict(scenario))))
        live = await _entered(environment)
    except (Exception, SystemExit) as error:
        raise WorldError(f"the world could not be set up: {error_line(error)}") from error
    _notice_one_for_all(world, live)
    try:
        yield live
    except BaseException:
        try:
            await _left(environment)
        except Exception as error:  # the first error, or the cancellation, is the one to go on with
            log.warning("the world could not be torn down: %s", error_line(error))
        raise
    try:
        await _left(environment)
    except (Exception, SystemExit) as error:
        raise WorldError(f"the world could not be torn down: {error_line(error)}") from error


_last_worlds: WeakKeyDictionary[World, object] = WeakKeyDictionary()
"""The world that each function made last."""
_shared_worlds: WeakSet[World] = WeakSet()
"""Functions that gave two conversations one world."""


def _notice_one_for_all(world: World, live: object) -> None:
    """Log one line if the function gives this conversation the world of the one before."""
    if live is None or isinstance(live, str | bytes | int | float | tuple | frozenset):  # nobody can change it
        return
    try:
        is_shared = _last_worlds.get(world) is live
        _last_worlds[world] = live
        if is_shared and world not in _shared_worlds:
            _shared_worlds.add(world)
            log.warning(
                "the world of several conversations is one object (%s): what one conversation does, the others see; "
                "make a new one in each call",
                type(live).__name__,
            )
    except TypeError:  # a callable without weak references or a hash
        return


async def _entered(environment: Any) -> Any:
    if hasattr(type(environment), "__aenter__"):
        return await environment.__aenter__()
    return environment.__enter__() if hasattr(type(environment), "__enter__") else environment


async def _left(environment: Any) -> None:
    if hasattr(type(environment), "__aexit__"):
        await environment.__aexit__(None, None, None)
    elif hasattr(type(environment), "__exit__"):
        environment.__exit__(None, None, None)
    elif close := getattr(environment, "aclose", None) or getattr(environment, "close", None):
        await _awaited(close())


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def state_of(world: Any) -> Any:
    """The state of a live world; SettingError if it has none."""
    state = getattr(world, "state", None)
    if isinstance(world, Mapping):
        return world
    if callable(state):
        return await _awaited(state())
    if state is None:
        raise SettingError(f"the world {type(world).__name__} has no state: give it a method `state()`")
    return state


def restorable(context: Limits) -> bool:
    """Whether the conversation has a world that can be put back."""
    return isinstance(context, Context) and isinstance(context.world, Restorable)


async def before_draft(context: Limits) -> None:
    """Take a snapshot of the world, if it can be put back; WorldError if that fails."""
    if isinstance(context, Context) and isinstance(context.world, Restorable):
        context.before[:] = [_copied(await snapshot_of(context.world))]


async def snapshot_of(world: Restorable) -> Any:
    """A snapshot of the world; WorldError if that fails."""
    try:
        return await _awaited(world.snapshot())
    except Exception as error:
        raise WorldError(f"no snapshot of the world could be taken: {error_line(error)}") from error


def _copied(snapshot: Any) -> Any:
    """A copy: a world that gives its own list or object would change the snapshot with itself."""
    try:
        return copy.deepcopy(snapshot)
    except Exception:  # such as a handle of a database, which cannot be copied and does not change
        return snapshot


async def put_back(context: Limits) -> None:
    """Put the world back to where it was before the draft under way; WorldError if that fails."""
    if isinstance(context, Context) and context.before:
        await restored(context.world, context.before.pop())


def stands(context: Limits) -> None:
    """Let what the draft under way did stand: it was said."""
    if isinstance(context, Context):
        context.before.clear()


def remember(context: Limits, question: str) -> None:
    """Keep the snapshot from before the draft under way for `back_to`, unless there is one of this question."""
    if isinstance(context, Context) and context.before:
        context.at.setdefault(question, _copied(context.before[0]))


async def back_to(context: Limits, question: str) -> None:
    """Put the world back to before the first answer to a question of the agent, which is answered once more."""
    if isinstance(context, Context) and question in context.at:
        await restored(context.world, _copied(context.at[question]))


async def restored(world: Any, snapshot: Any) -> None:
    """Put the world back to a snapshot; WorldError if that fails."""
    try:
        await _awaited(world.restore(snapshot))
    except Exception as error:
        raise WorldError(f"the world could not be put back: {error_line(error)}") from error
