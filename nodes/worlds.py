"""The world of a conversation: what an agent's tools work on, such as a database or a sandbox.

A cast's `world` makes one for each conversation from its scenario. Tools, validators and scorers find it in the
runtime's context (`runtime.context.world`); no record, checkpoint, manifest or pickle holds it.
"""

import copy
import inspect
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeAlias, runtime_checkable

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
    """A world that can be rolled back, so that a rejected draft has not happened; both methods may be async."""

    def snapshot(self) -> Any:
        """A snapshot of the world for `restore`; lists and objects in it are copied."""

    def restore(self, snapshot: Any) -> Any:
        """Put the world back to a snapshot."""


@dataclass(frozen=True, kw_only=True)
class Context(Limits):
    """What the nodes of a conversation with a world are given as `runtime.context`: its limits, and the live world."""

    world: Any = field(default=None, repr=False, compare=False)
    before: list[Any] = field(default_factory=list, repr=False, compare=False)
    """The snapshot from before the draft that is made or waits for its verdict; empty without one."""
    threads: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The threads that agents are lent in this conversation."""
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
    """The world of a conversation, from its beginning to its end, left in the task that entered it.

    WorldError if it cannot be set up or torn down. An error and a regular end of the conversation are alike for it.
    """
    with _failing("could not be set up"):
        environment = await _awaited(world(copy.deepcopy(dict(scenario))))
        live = await _entered(environment)
    if '"refused"' in json.dumps(scenario.get("success"), default=str):  # which compares the end with the beginning
        _BEGUN[id(live)] = copy.deepcopy(await state_of(live))
    try:
        yield live
    except BaseException:
        try:
            await _left(environment)
        except Exception as error:  # the first error, or the cancellation, is the one to go on with
            log.warning("the world could not be torn down: %s", error_line(error))
        raise
    finally:
        _BEGUN.pop(id(live), None)
    with _failing("could not be torn down"):
        await _left(environment)


_BEGUN: dict[int, Any] = {}


def begun_state(world: Any) -> Any:
    """The state in which a live world began, where its scenario's success asks for a refusal; else None."""
    return _BEGUN.get(id(world))


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


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """Inside, an error of the world's own code is a WorldError: the world `what`."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise WorldError(f"the world {what}: {error_line(error)}") from error


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
        with _failing("gave no snapshot"):
            snapshot = await _awaited(context.world.snapshot())
            with suppress(Exception):  # a handle of a database cannot be copied, and does not change with the world
                snapshot = copy.deepcopy(snapshot)
            context.before[:] = [snapshot]


async def put_back(context: Limits) -> None:
    """Put the world back to where it was before the draft under way; WorldError if that fails."""
    if isinstance(context, Context) and context.before:
        with _failing("could not be put back"):
            await _awaited(context.world.restore(context.before.pop()))


def stands(context: Limits) -> None:
    """Let what the draft under way did stand: it was said."""
    if isinstance(context, Context):
        context.before.clear()
