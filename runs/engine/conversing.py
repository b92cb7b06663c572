"""The plan of a run, and its conversations, many at once.

Each scenario becomes a record, also when it fails.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from datetime import UTC, datetime
from itertools import islice
from time import perf_counter
from traceback import format_exception
from typing import Any, Literal, TypeAlias, TypeVar
from typing import cast as typed

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError

from ...data.records import Conversation, Failure, Timing
from ...errors import SettingError
from ...graphs import Cast, conversation
from ...graphs.casts.checks import check_behaviours, check_filled
from ...graphs.failures import NodeError, failure_in, failure_of, place_in
from ...graphs.graph import Compiled, cast_of, fuse, world
from ...graphs.opening import begun, id_of
from ...graphs.records import record
from ...nodes.calls.gate import RunOverError
from ...nodes.calls.service import Calls, current, run_is_over
from ...nodes.contract import ContractError
from ...nodes.foreign import as_error
from ...nodes.limits import Limits
from ...nodes.settings.redaction import redacted
from ...nodes.state import Planned, State, after
from ...nodes.worlds import Context, WorldError
from .control import Control, default_control
from .turns import LoopTurns
from .way import Topology, Way

log = logging.getLogger(__name__)

T = TypeVar("T")

Concurrency: TypeAlias = int | Literal["auto"]
"""Conversations at the same time; `auto`: as many as the endpoints of the models bear."""

Watch: TypeAlias = Callable[[State], None]
"""Is called with every state of a conversation."""

Keep: TypeAlias = Callable[[Conversation], None]
"""Is called with each conversation as soon as it is over."""


_WITHOUT_END = (
    "the graph ended without a stop reason: a node waits for a person by interrupt(), whom a run does not have, "
    "or a way leads to no node"
)


def planned(cast: Cast, scenarios: Iterable[Planned]) -> list[Planned]:
    """The scenarios with their ids, in order.

    Equal scenarios without an ordinal of their own get one, so that each has its own id and is simulated.
    """
    seen: set[str] = set()
    following: dict[str, int] = {}
    """The ordinal to try next, by the id that a scenario would have with its own."""
    plan: list[Planned] = []
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
        first = name = id_of({**scenario, "ordinal": ordinal, "repeat": repeat}, cast.name)
        if name in seen and scenario.get("id"):
            raise SettingError(f"two scenarios have the id {name}: leave ids out, or make them differ")
        ordinal = following.get(first, ordinal)
        while name in seen:
            ordinal += 1
            name = id_of({**scenario, "ordinal": ordinal, "repeat": repeat}, cast.name)
        following[first] = ordinal
        seen.add(name)
        plan.append({**scenario, "id": name, "ordinal": ordinal, "repeat": repeat})
    check_filled(cast, [state["scenario"] for state in plan])
    check_behaviours(cast, plan)
    return plan


def name_of(state: Planned) -> str:
    """The id of a planned conversation."""
    return str(state.get("id", ""))


async def converse(
    graph: Compiled,
    scenario: Planned,
    limits: Limits,
    keep: Keep,
    watch: Watch | None = None,
    topology: Topology | None = None,
) -> None:
    """Simulate one conversation and pass its record to `keep`; a cancelled one as far as it got.

    Args:
        graph: The conversation's graph (`graphs.conversation`).
        scenario: The planned conversation.
        limits: Limits of the conversation.
        keep: Called with the record.
        watch: Called with every state.
        topology: The graph's, where it is known.
    """
    cast = cast_of(graph)
    state: dict[str, Any] = begun(typed(Planned, {**scenario, "messages": [], "memories": {}}))
    started, began = datetime.now(UTC), perf_counter()
    way, most = Way(topology or Topology(graph)), fuse(limits, graph)

    def over(**changes: Any) -> None:
        try:
            conversation = record(state, cast.name, memory=cast.record_memory)
        except ValueError as error:  # not a state of ours: that it ended, and why, must still be written down
            conversation = Conversation(id=name_of(scenario), scenario={"kind": "unknown"}, stop="model_failed")
            changes["failure"] = Failure.model_validate(failure_of("graph", error))
        timing = Timing(
            started=started.isoformat(timespec="seconds"), seconds=round(perf_counter() - began, 3), nodes=way.nodes()
        )
        keep(conversation.model_copy(update={"timing": timing, "edges": way.edges(), **changes}))

    try:
        state = begun(scenario)
        async with AsyncExitStack() as stack:
            context: Limits = Context.of(limits.or_else(cast.limits), None)
            if cast.world is not None:
                context = await stack.enter_async_context(world(cast, state, limits))
            steps: RunnableConfig = {"recursion_limit": most}
            stream = graph.astream(typed(State, state), steps, context=context, stream_mode=["updates", "values"])
            async with aclosing(typed(AsyncGenerator[tuple[str, Any], None], stream)) as parts:
                async for mode, part in parts:
                    if mode == "updates":
                        way.took(part)
                        continue
                    state = part  # the last one survives whatever ends the graph
                    if watch is not None:
                        watch(typed(State, part))
            if not state.get("stop"):
                raise ContractError(_WITHOUT_END)
    except (asyncio.CancelledError, RunOverError):
        over(stop="budget" if run_is_over() and current().stopped is None else "cancelled")
        raise
    except Exception as error:  # it ends its own conversation, not the others
        log.debug("%s", redacted("".join(format_exception(error))))
        if isinstance(error, NodeError):
            state = dict(after(typed(State, state), error.update))
        way.failed(place_in(error))
        over(**_ended_by(error, state, most))
    else:
        way.over()
        over()


def _ended_by(error: Exception, state: Mapping[str, Any], steps: int) -> dict[str, Any]:
    """How a conversation ends that an exception has ended."""
    if isinstance(error, GraphRecursionError):
        reason = f"no stop criterion held within {steps} steps"
        return {"stop": "budget", "failure": Failure(node="stop", error=reason)}
    failure = Failure.model_validate(failure_in(error))
    # What fails after the end leaves the conversation as good as before; without an end there was no world.
    stays = state.get("stop") and (failure.node == "closing" or isinstance(error, WorldError))
    return {"failure": failure} if stays else {"failure": failure, "stop": "model_failed"}


async def converse_all(
    talk: Cast | Compiled,
    scenarios: Iterable[Planned],
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
        talk: Who takes part and by which rules, or the compiled graph; checkpoints are not written.
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
    alone = {"checkpointer": None, "interrupt_before_nodes": (), "interrupt_after_nodes": ()}  # nobody goes on with it
    graph = conversation(talk) if isinstance(talk, Cast) else talk.copy(alone)
    topology = Topology(graph)
    control = control or default_control()

    async def one(scenario: Planned) -> None:
        await converse(graph, scenario, limits, keep, watch, topology)

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
            try:
                await do(work)
            except BaseException as error:
                raise as_error(error) from None

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
