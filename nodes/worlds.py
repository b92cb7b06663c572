"""The world of a conversation: what an agent's tools work on, such as a database or a sandbox.

A cast's `world` makes one for each conversation from its scenario. Tools, validators and scorers find it in the
runtime's context (`runtime.context.world`); no record, checkpoint, manifest or pickle holds it.
"""

import copy
import inspect
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..data.records import INTERRUPT, WAITING, Role
from ..errors import DuologueError, SettingError
from .contract import check_function
from .limits import Limits
from .settings.redaction import error_line
from .state import State, said

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


def keep_changes(context: Limits) -> None:
    """Let what the draft under way did stand: it was said."""
    if isinstance(context, Context):
        context.before.clear()


# What drafts did to it

NOT_ASKED_AGAIN, NOT_UNDONE = "not asked again: it had called ", "not undone: it had called "
"""How the note of a draft begins whose tools ran and were not undone, before their names: `NOT_ASKED_AGAIN` where it was
rejected for that, `NOT_UNDONE` where the conversation had ended."""

STRUCTURED = "structured_response"
"""The channel of an agent's structured response, and its key among what is kept of a reply."""


def lasting(speaker: object, drafts: Iterable[Mapping[str, Any]], *, ended: bool = True) -> list[str]:
    """Names of the tools that were called in drafts and may have changed something, in order.

    A speaker says with `read_only` which tools change nothing; of one that does not say, any may. `ended`: whether no
    call waits for an answer any more that will be given.
    """
    read_only: Any = getattr(speaker, "read_only", ())
    calls = (call for draft in drafts for call in (calls_that_ran if ended else acts_in)(draft))
    called = (call["name"] for call in calls if read_only is not True)
    return list(dict.fromkeys(name for name in called if name not in (INTERRUPT, *(read_only or ()))))


def acts_in(draft: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of a draft or an attempt without the one that is its structured response, as of `ToolStrategy`."""
    response = (draft.get("kept") or {}).get(STRUCTURED) or {}

    def is_response(call: Mapping[str, Any]) -> bool:
        given = call.get("arguments") or {}
        same = all(key in response and response[key] == value for key, value in given.items())
        return same and (draft["text"] in given.values() or given.keys() == response.keys())

    return [call for call in draft.get("tool_calls", []) if not response or not is_response(call)]


def calls_that_ran(draft: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The acts of a draft or an attempt without those that wait for an answer, and approvals, which are recorded so."""
    return [call for call in acts_in(draft) if call.get("error") != WAITING and call["name"] != INTERRUPT]


def was_not_undone(attempt: Mapping[str, Any]) -> bool:
    """Whether an attempt's tools ran and what they did lasts, although the draft may not have been sent."""
    return any(str(note).startswith((NOT_ASKED_AGAIN, NOT_UNDONE)) for note in attempt.get("notes", ()))


def check_fork(state: State, speakers: Mapping[Role, object]) -> None:
    """WorldError if the kept messages of a fork called tools that may have changed something: a new world lacks that."""
    for number, message in enumerate(said(state) if state.get("origin", {}).get("forks") else ()):
        ran = [one for one in message.get("attempts", ()) if one["verdict"] != "rejected" or was_not_undone(one)]
        if names := lasting(speakers[message["role"]], ran):
            raise WorldError(
                f"the fork's new world lacks what {', '.join(names)} did for message #{number}: fork at an earlier "
                "message, or declare the tools that change nothing as read-only"
            )
