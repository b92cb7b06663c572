"""Conversations, many at once: each becomes a record, whatever ends it; and the event loop in which a caller waits for them."""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from time import perf_counter
from traceback import format_exception
from typing import Any, TypeAlias, TypeVar
from typing import cast as typed

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError

from ..data.records import Conversation, Failure, Timing
from ..errors import SettingError
from ..graphs import Cast, conversation
from ..graphs.casts.cast import check_behaviours, check_filled
from ..graphs.graph import Compiled, cast_of, fuse, world
from ..graphs.records import NodeFailedError, begun, failure_in, failure_of, id_of, record
from ..nodes.calls.gate import EndpointError, RunOverError
from ..nodes.calls.service import Calls, current, run_is_over
from ..nodes.contract import ContractError
from ..nodes.foreign import THREADS, as_error, heartbeat, new_loop, run_forever
from ..nodes.limits import Limits
from ..nodes.settings.redaction import redacted
from ..nodes.state import Planned, State, after
from ..nodes.worlds import Context, WorldError
from .settings import Concurrency
from .store import name_of

log = logging.getLogger(__name__)

T = TypeVar("T")
Keep: TypeAlias = Callable[[Conversation], None]
"""Is called with each conversation as soon as it is over."""

GRACE = 1.0
"""Seconds that calls under way have to answer when the time of a run is over."""
_WITHOUT_END = (
    "the graph ended without a stop reason: a node waits for a person by interrupt(), whom a run does not have, "
    "or a way leads to no node"
)


def planned(cast: Cast, scenarios: Iterable[Planned]) -> list[Planned]:
    """The scenarios with their ids, in order.

    Equal scenarios without an ordinal of their own get one, so that each has its own id and is simulated.
    """
    seen: set[str] = set()
    following: dict[str, int] = {}  # the ordinal to try next, by the id that a scenario would have with its own
    plan: list[Planned] = []
    for number, scenario in enumerate(scenarios):
        if not isinstance(scenario, dict) or not isinstance(scenario.get("scenario"), dict):
            if isinstance(scenario, dict) and {"goal", "first_message"} & set(scenario):
                what = "is a scenario and no initial state: give graphs.agent_test.scenarios([...]) of it"
                raise ContractError(f"scenarios[{number}]: {what}")
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


# --- One conversation


async def converse(graph: Compiled, scenario: Planned, limits: Limits, keep: Keep) -> None:
    """Simulate one conversation and pass its record to `keep`; a cancelled one as far as it got.

    Args:
        graph: The conversation's graph (`graphs.conversation`).
        scenario: The planned conversation.
        limits: Limits of the conversation.
        keep: Called with the record.
    """
    cast = cast_of(graph)
    state: dict[str, Any] = begun(typed(Planned, {**scenario, "messages": [], "memories": {}}))
    started, began = datetime.now(UTC), perf_counter()
    most = fuse(limits, graph)

    def over(**changes: Any) -> None:
        try:
            conversation = record(state, cast.name, memory=cast.record_memory)
        except ValueError as error:  # not a state of ours: that it ended, and why, must still be written down
            conversation = Conversation(id=name_of(scenario), scenario={"kind": "unknown"}, stop="model_failed")
            changes["failure"] = Failure.model_validate(failure_of("graph", error))
        changes |= {"stopped_at": ""} if "stop" in changes else {}
        timing = Timing(started=started.isoformat(timespec="seconds"), seconds=round(perf_counter() - began, 3))
        keep(conversation.model_copy(update={"timing": timing, **changes}))

    try:
        state = begun(scenario)
        async with AsyncExitStack() as stack:
            context: Limits = Context.of(limits.or_else(cast.limits), None)
            if cast.world is not None:
                context = await stack.enter_async_context(world(cast, state, limits))
            steps: RunnableConfig = {"recursion_limit": most}
            stream = graph.astream(typed(State, state), steps, context=context, stream_mode="values")
            async with aclosing(typed(AsyncGenerator[dict[str, Any], None], stream)) as states:
                async for last in states:
                    state = last  # it survives whatever ends the graph
            if not state.get("stop"):
                raise ContractError(_WITHOUT_END)
    except (asyncio.CancelledError, RunOverError):
        over(stop="budget" if run_is_over() and current().stopped is None else "cancelled")
        raise
    except Exception as error:  # it ends its own conversation, not the others
        log.debug("%s", redacted("".join(format_exception(error))))
        if isinstance(error, NodeFailedError):
            state = dict(after(typed(State, state), error.update))
        over(**_ended_by(error, state, most))
    else:
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


# --- Many at once


def conversations_of(
    graphs: Mapping[str, Cast | Compiled], limits: Limits, keep: Keep, calls: Calls
) -> Callable[[tuple[str, Planned]], Coroutine[Any, Any, None]]:
    """What simulates a conversation of a version, and passes its record to `keep`."""
    alone = {"checkpointer": None, "interrupt_before_nodes": (), "interrupt_after_nodes": ()}  # nobody goes on with it
    compiled = {
        name: conversation(graph) if isinstance(graph, Cast) else graph.copy(alone) for name, graph in graphs.items()
    }

    async def one(piece: tuple[str, Planned]) -> None:
        version, state = piece

        def kept(ended: Conversation) -> None:
            keep(ended.model_copy(update={"version": version}) if version else ended)

        with calls.active(version):
            await converse(compiled[version], state, limits, kept)

    return one


@asynccontextmanager
async def under_way(calls: Calls, max_time: float | None = None) -> AsyncIterator[Calls]:
    """Inside, work is done by these calls, for at most so many seconds."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(THREADS)  # no call without an end keeps the process alive
    timers = []
    if max_time is not None:
        timers.append(loop.call_later(max_time, calls.cut, f"--max-time is over, {max_time:g} seconds"))
        timers.append(loop.call_later(max_time + GRACE, lambda: [work.cancel() for work in list(calls.works)]))
    beat = asyncio.create_task(heartbeat())
    try:
        yield calls
    finally:
        beat.cancel()
        for timer in timers:
            timer.cancel()


async def do_all(
    works: Iterable[T], do: Callable[[T], Coroutine[Any, Any, None]], calls: Calls, concurrency: Concurrency = "auto"
) -> None:
    """Do every piece of work, `concurrency` at a time, with `auto` as many as the endpoints of the models bear.

    A bound of the run may end it before the last one has begun. EndpointError if no call can succeed any more; of
    exceptions in the work the first, as it is: what is under way is cancelled then.
    """
    changed = asyncio.Event()
    calls.on_room = changed.set
    mine: set[asyncio.Task[None]] = set()

    async def begun_work(work: T) -> None:
        with suppress(RunOverError):  # it can be taken up again
            try:
                await do(work)
            except BaseException as error:
                raise as_error(error) from None

    def ended(task: asyncio.Task[None]) -> None:
        mine.discard(task)
        calls.works.discard(task)
        changed.set()

    async def change() -> None:
        changed.clear()
        await changed.wait()

    try:
        with calls.active():
            async with asyncio.TaskGroup() as tasks:
                for work in works:
                    while len(mine) >= (calls.room if concurrency == "auto" else concurrency) and calls.goes_on:
                        await change()
                    if calls.stopped is not None or not calls.goes_on:
                        break
                    task = tasks.create_task(begun_work(work))
                    mine.add(task)
                    calls.works.add(task)
                    task.add_done_callback(ended)
                while mine and calls.stopped is None:
                    await change()
                if calls.stopped is not None:
                    raise calls.stopped
    except ExceptionGroup as group:  # what stops a whole run, such as a full disk, is the same for every piece of work
        raise group.exceptions[0] from None


# --- The event loop of the functions that are not async: they work in scripts, in notebooks and in commands alike


LAST = 1.5
"""Seconds in which an interrupted call writes down what is under way: with what follows it ends within two."""
BEAT = 0.25
"""Seconds after which a waiting caller looks up: a signal that comes right before a wait does not end that wait."""
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
        while not over.wait(BEAT):
            pass
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
