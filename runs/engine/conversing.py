"""The plan of a run, and its conversations, many at once.

Each scenario becomes a record, also when it fails.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from time import perf_counter
from typing import Any, Literal, TypeAlias, TypeVar

from langgraph.errors import GraphRecursionError

from ...data.records import Conversation, Failure
from ...errors import SettingError
from ...graphs import Cast, ConversationGraph, conversation, fuse
from ...graphs.casts.page_checks import check_filled
from ...graphs.conversations.recording import state_id
from ...graphs.conversations.steps import failure_of
from ...nodes.calls.gate import RunOverError
from ...nodes.calls.service import Calls, current, run_is_over
from ...nodes.contract import ContractError
from ...nodes.limits import Limits
from ...nodes.state import State
from ...nodes.worlds import WorldError
from .control import Control, default_control
from .turns import LoopTurns

log = logging.getLogger(__name__)

T = TypeVar("T")

Concurrency: TypeAlias = int | Literal["auto"]
"""Conversations at the same time; `auto`: as many as the endpoints of the models bear."""

Watch: TypeAlias = Callable[[State], None]
"""Is called with every state of a conversation."""

Keep: TypeAlias = Callable[[Conversation], None]
"""Is called with each conversation as soon as it is over."""


def planned(cast: Cast, scenarios: Iterable[State]) -> list[State]:
    """The scenarios with their ids, in order.

    Equal scenarios without an ordinal of their own get one, so that each has its own id and is simulated.
    """
    seen: set[str] = set()
    following: dict[str, int] = {}
    """The ordinal to try next, by the id that a scenario would have with its own."""
    plan: list[State] = []
    for number, scenario in enumerate(scenarios):
        if not isinstance(scenario, dict) or not isinstance(scenario.get("scenario"), dict):
            if isinstance(scenario, dict) and {"goal", "first_message"} & set(scenario):
                raise ContractError(
                    f"scenarios[{number}]: is a scenario and no initial state: give graphs.agent_test.scenarios([...]) of it"
                )
            raise ContractError(
                f"scenarios[{number}]: expected an initial state, got {type(scenario).__name__}: "
                "make a list of them with a cast's scenarios(...), such as graphs.simquac.scenarios(topics)"
            )
        ordinal, repeat = scenario.get("ordinal", 0), scenario.get("repeat", 0)
        first = name = state_id({**scenario, "ordinal": ordinal, "repeat": repeat}, cast.name)
        if name in seen and scenario.get("id"):
            raise SettingError(f"two scenarios have the id {name}: leave ids out, or make them differ")
        ordinal = following.get(first, ordinal)
        while name in seen:
            ordinal += 1
            name = state_id({**scenario, "ordinal": ordinal, "repeat": repeat}, cast.name)
        following[first] = ordinal
        seen.add(name)
        plan.append({**scenario, "id": name, "ordinal": ordinal, "repeat": repeat})
    check_filled(cast, [state["scenario"] for state in plan])
    return plan


def name_of(state: State) -> str:
    """The id of a planned conversation."""
    return str(state.get("id", ""))


async def converse(
    graph: ConversationGraph, scenario: State, limits: Limits, keep: Keep, watch: Watch | None = None
) -> None:
    """Simulate one conversation and pass its record to `keep`; a cancelled one as far as it got.

    Args:
        graph: The conversation's graph (`graphs.conversation`).
        scenario: The initial state.
        limits: Limits of the conversation.
        keep: Called with the record.
        watch: Called with every state.
    """
    state: State = scenario
    started, began = datetime.now(UTC), perf_counter()

    def over(**changes: Any) -> None:
        try:
            conversation = graph.record(state)
        except ValueError as error:  # not a state of ours: that it ended, and why, must still be written down
            conversation = Conversation(id=str(state.get("id", "")), scenario={"kind": "unknown"}, stop="model_failed")
            changes["failure"] = Failure.model_validate(failure_of("graph", error))
        clock = {"started": started.isoformat(timespec="seconds"), "seconds": round(perf_counter() - began, 3)}
        timing = conversation.timing.model_copy(update=clock)
        keep(conversation.model_copy(update={"timing": timing, **changes}))

    def follow(now: State) -> None:
        nonlocal state
        state = now  # the last one survives whatever ends the graph
        if watch is not None:
            watch(now)

    try:
        await graph.follow(scenario, limits, follow, steps=fuse(limits))
    except (asyncio.CancelledError, RunOverError):
        over(stop="budget" if run_is_over() and current().stopped is None else "cancelled")
        raise
    except GraphRecursionError:
        reason = f"no stop criterion held within {fuse(limits)} steps"
        over(stop="budget", failure=Failure(node="stop", error=reason))
    except WorldError as error:
        # Torn down badly after the end, the conversation is as good as before; else there was none.
        if state.get("failure"):  # which ended it: it stays
            log.warning("%s", error)
            over()
        else:
            stop = {} if state.get("stop") else {"stop": "model_failed"}
            over(**stop, failure=Failure.model_validate(failure_of("world", error)))
    except Exception as error:  # a broken node ends its own conversation, not the others
        over(stop="model_failed", failure=Failure.model_validate(failure_of("graph", error)))
    else:
        over()


async def converse_all(
    cast: Cast,
    scenarios: Iterable[State],
    limits: Limits,
    keep: Keep,
    *,
    concurrency: Concurrency = "auto",
    watch: Watch | None = None,
    calls: Calls | None = None,
    control: Control | None = None,
) -> None:
    """Simulate every scenario, `concurrency` at a time; `keep` gets each record when its conversation ends.

    Args:
        cast: Who takes part and by which rules.
        scenarios: Initial states.
        limits: Limits of each conversation.
        keep: Called with each record.
        concurrency: Number of conversations at the same time; `auto`: as many as the endpoints of the models bear.
        watch: Called with every state of every conversation.
        calls: The service that calls models; default: one of `control`.
        control: May end the run before the plan is done.

    Raises:
        EndpointError: No call can succeed any more; unfinished conversations are passed to `keep` as cancelled.
    """
    graph = conversation(cast)
    control = control or default_control()

    async def one(scenario: State) -> None:
        await converse(graph, scenario, limits, keep, watch)

    await do_all(scenarios, one, calls or control.call_service(), control, concurrency)


async def do_all(
    works: Iterable[T],
    do: Callable[[T], Coroutine[Any, Any, None]],
    calls: Calls,
    control: Control,
    concurrency: Concurrency = "auto",
) -> None:
    """Do every piece of work, `concurrency` at a time, with `auto` as many as the endpoints of the models bear.

    `control` may end it before the last one has begun. EndpointError if no call can succeed any more; of exceptions in
    the work the first, as it is: what is under way is cancelled then.
    """
    if concurrency != "auto" and (not isinstance(concurrency, int) or concurrency < 1):
        raise SettingError(f"concurrency must be 'auto' or at least 1, not {concurrency!r}")
    waiting = iter(works)
    turns = control.turns or LoopTurns()
    number = turns.join()
    calls.on_room = turns.wake
    under_way: set[asyncio.Task[None]] = set()

    async def begun(work: T) -> None:
        with suppress(RunOverError):  # it can be taken up again
            await do(work)

    def ended(task: asyncio.Task[None]) -> None:
        under_way.discard(task)
        control.works.discard(task)
        turns.end()

    try:
        with calls.active():
            async with asyncio.TaskGroup() as tasks:
                while calls.stopped is None and control.begins:
                    if not turns.may_begin(number, calls.room if concurrency == "auto" else concurrency):
                        await turns.change()
                        continue
                    if not (following := list(islice(waiting, 1))):
                        break
                    turns.begin(number)
                    task = tasks.create_task(begun(*following))
                    under_way.add(task)
                    control.works.add(task)
                    task.add_done_callback(ended)
                turns.leave(number)
                while under_way and calls.stopped is None:
                    await turns.change()
                if calls.stopped is not None:
                    raise calls.stopped
    except ExceptionGroup as group:  # what stops a whole run, such as a full disk, is the same for every piece of work
        raise group.exceptions[0] from None
    finally:
        turns.leave(number)
