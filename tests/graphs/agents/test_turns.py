"""How a turn of foreign code may end otherwise than with a reply: too late, by an exit, in a block, or in an error."""

import asyncio
import threading
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver

from duologue import runs
from duologue.graphs import agent_test, recllmsim
from duologue.nodes import Limits, foreign
from duologue.nodes.foreign import DaemonThreads
from tests.graphs.agents.talks import ABOUT, cast_of, chain, replies, run, says, talk

SHORT = Limits(max_turns=2, turn_timeout=0.25)
STATES = [recllmsim.scenario(ABOUT)]


@pytest.fixture
def never() -> Any:
    """An event that is set when the test is over: code that waits for it hangs as long as anybody looks."""
    event = threading.Event()
    yield event
    event.set()


async def sleeping(messages: Any) -> Any:
    await asyncio.Event().wait()


async def ignoring_cancellation(messages: Any) -> str:
    for _ in range(2):
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
    return ""


def hanging(node: Any, **compiled: Any) -> Any:
    """A graph that says something before it comes to the node."""
    return chain(say=lambda state: {"messages": [AIMessage("One moment.")]}, hang=node).compile(**compiled)


# Too late


@pytest.mark.parametrize(
    "agent", [sleeping, ignoring_cancellation, RunnableLambda(sleeping), chain(a=sleeping).compile()]
)
async def test_a_turn_that_takes_too_long_is_the_agents_fault_and_the_conversation_is_over(
    agent: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(foreign, "LAST", 0.01)
    conversation = await run(cast_of(agent), limits=SHORT)
    assert (conversation.stop, conversation.fault, conversation.failure) == ("agent_timeout", "assistant", None)
    assert conversation.finished
    assert [message.role for message in conversation.messages] == ["user"]


async def test_an_agent_that_blocks_its_thread_is_left_in_it(never: Any) -> None:
    assert (await run(cast_of(lambda messages: str(never.wait())), limits=SHORT)).stop == "agent_timeout"


async def test_a_turn_that_blocked_the_event_loop_too_long_counts_by_its_time(monkeypatch: Any) -> None:
    async def slow(messages: Any) -> str:
        now = asyncio.get_running_loop().time()
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now + 61)
        return "Done."

    try:
        conversation = await run(cast_of(slow), limits=Limits(max_turns=1, turn_timeout=60))
    finally:
        monkeypatch.undo()
    assert (conversation.stop, replies(conversation)) == ("agent_timeout", [])


@pytest.mark.parametrize("blocks", [False, True])
def test_what_a_graph_did_before_its_time_was_over_is_said_and_recorded(never: Any, blocks: bool) -> None:
    agent = hanging((lambda state: never.wait()) if blocks else sleeping, checkpointer=InMemorySaver())
    (conversation,) = runs.simulate(cast_of(agent), STATES, limits=Limits(turn_timeout=0.3))
    assert (conversation.stop, replies(conversation)) == ("agent_timeout", ["One moment."])
    assert [step.node for step in conversation.messages[-1].attempts[0].steps] == ["say", "hang"]


async def test_an_agent_that_plays_the_user_is_the_users_fault() -> None:
    conversation = await run(cast_of("offline", user=sleeping), limits=SHORT)
    assert (conversation.stop, conversation.fault, conversation.messages) == ("user_timeout", "user", ())


async def test_a_run_that_goes_on_keeps_a_turn_that_took_too_long(tmp_path: Any) -> None:
    calls: list[str] = []

    async def slow_at_first(messages: Any) -> str:
        calls.append("call")
        if len(calls) == 1:
            await asyncio.Event().wait()
        return "Done: your room is moved."

    cast, states = agent_test.cast(assistant=slow_at_first), agent_test.scenarios([{"goal": "move my room"}])
    await runs.asimulate(cast, states, limits=SHORT, out=tmp_path)
    longer: dict[str, Any] = {"limits": Limits(max_turns=2, turn_timeout=60), "out": tmp_path}
    (kept,) = await runs.asimulate(cast, states, **longer)  # the limit may be another one when a run is resumed
    assert (kept.stop, len(calls)) == ("agent_timeout", 1)


# Exits and errors


class OwnError(BaseException):
    pass


def raising(error: Any) -> Any:
    def code(messages: Any) -> Any:
        raise error

    return code


def raising_async(error: Any) -> Any:
    async def code(messages: Any) -> Any:
        raise error

    return code


@pytest.mark.parametrize("form", [raising, raising_async])
@pytest.mark.parametrize("place", ["function", "graph", "later node"])
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, OwnError, ValueError])
def test_whatever_foreign_code_raises_is_its_failure_and_the_loop_goes_on(form: Any, place: str, error: Any) -> None:
    node = form(error("bad settings"))
    agent = node if place == "function" else chain(a=node).compile() if place == "graph" else hanging(node)
    (failed,) = runs.simulate(cast_of(agent), STATES, limits=Limits(max_turns=1))
    assert (failed.stop, failed.failure.node, failed.failure.fault) == ("model_failed", "assistant", "assistant")
    assert f"{error.__name__}: bad settings (agents/test_turns.py:" in failed.failure.error
    assert [attempt.text for attempt in failed.attempts("assistant")] == ["One moment."][place != "later node" :]
    (fine,) = runs.simulate(cast_of(says(AIMessage("Yes."))), STATES, limits=Limits(max_turns=1))
    assert replies(fine) == ["Yes."]


async def test_an_agent_that_cancels_itself_has_failed_and_the_run_goes_on() -> None:
    conversation = await talk(raising_async(asyncio.CancelledError()))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert "has ended with CancelledError (agents/test_turns.py:" in conversation.failure.error


def test_calls_without_an_end_take_no_thread_from_others(never: Any) -> None:
    threads = DaemonThreads()
    waiting = [threads.submit(never.wait) for _ in range(40)]  # more than a pool has
    assert threads.submit(lambda: threading.current_thread().daemon).result(timeout=900)
    assert not any(future.done() for future in waiting)
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(timeout=900)


# Blocking


@pytest.mark.parametrize("form", ["coroutine", "graph of one", "function", "graph of a function"])
async def test_an_async_agent_that_blocks_the_event_loop_is_named_once_and_the_run_goes_on(
    form: str, monkeypatch: Any, caplog: Any
) -> None:
    """A loop whose clock has gone on for a minute within one step is a loop that was blocked, or a busy machine."""
    loop = asyncio.get_running_loop()
    real, late = loop.time, [0.0]
    monkeypatch.setattr(loop, "time", lambda: real() + late[0])

    async def blocking_desk(messages: Any) -> Any:
        late[0] += 60
        for _ in range(9):  # others, and the heartbeat, have their turn
            await asyncio.sleep(0)
        return {"messages": [AIMessage("It is booked.")]}

    def desk(messages: Any) -> Any:
        late[0] += 60
        return {"messages": [AIMessage("It is booked.")]}

    node = blocking_desk if form in ("coroutine", "graph of one") else desk
    agent = chain(desk=node).compile(name="blocking_desk") if form.startswith("graph") else node
    cast = cast_of(agent, user=lambda messages: "A room?")
    states = [recllmsim.scenario(ABOUT) | {"id": str(number)} for number in range(2)]
    try:
        talks = await runs.asimulate(cast, states, limits=Limits(max_turns=2), concurrency=1)
    finally:
        monkeypatch.undo()
    assert [replies(one) for one in talks] == [["It is booked."] * 2] * 2
    named = [entry.message for entry in caplog.records if "blocks the event loop" in entry.message]
    assert ["blocking_desk blocks" in one for one in named] == [True] * (node is blocking_desk)
