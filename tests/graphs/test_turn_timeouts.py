"""A turn of an agent has a limit: what takes longer ends the conversation by a reason of its own."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from duologue import runs
from duologue.errors import SettingError
from duologue.graphs import agent_test
from duologue.nodes import AgentSpeaker, Limits
from duologue.nodes.contract import ContractError
from duologue.nodes.replies.agent_steps import STEPS_THREAD
from duologue.nodes.replies.worker_threads import WORKER_THREADS
from duologue.nodes.speakers.speaker import FunctionSpeaker

SHORT = Limits(turn_timeout=0.05)
SCENARIOS = [{"goal": "move my flight"}]


@pytest.fixture
def never() -> Any:
    """An event that is set when the test is over: code that waits for it hangs as long as anybody looks."""
    event = threading.Event()
    yield event
    event.set()


def hanging_graph(node: Any, **compiled: Any) -> Any:
    def say(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("One moment.")]}

    graph = StateGraph(MessagesState).add_node("say", say).add_node("hang", node)
    return graph.add_edge(START, "say").add_edge("say", "hang").compile(**compiled)


async def simulate(limits: Limits = SHORT, user: Any = "offline", **settings: Any) -> Any:
    cast = agent_test.cast(user, **settings)
    (conversation,) = await runs.asimulate(cast, agent_test.scenarios(SCENARIOS), limits=limits)
    return conversation


async def sleeping(messages: Any) -> str:
    await asyncio.Event().wait()
    return ""


async def ignoring_cancellation(messages: Any) -> str:
    for _ in range(2):
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
    return ""


@pytest.mark.parametrize("agent", [sleeping, ignoring_cancellation, RunnableLambda(sleeping)])
async def test_a_turn_that_takes_longer_is_the_agents_fault_and_the_conversation_is_finished(agent, monkeypatch):
    monkeypatch.setattr("duologue.nodes.foreign.LAST", 0.01)
    conversation = await simulate(assistant=agent)
    assert (conversation.stop, conversation.fault, conversation.failure) == ("agent_timeout", "assistant", None)
    assert conversation.finished
    assert [message.role for message in conversation.messages] == ["user"]


async def test_an_agent_that_blocks_its_thread_is_left_in_it(never):
    conversation = await simulate(assistant=lambda messages: str(never.wait()))
    assert (conversation.stop, conversation.fault) == ("agent_timeout", "assistant")


async def test_a_turn_that_blocked_the_event_loop_too_long_counts_by_its_time(monkeypatch):
    async def slow(messages: Any) -> str:
        now = asyncio.get_running_loop().time()
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now + 61)
        return "Done."

    try:
        conversation = await simulate(Limits(turn_timeout=60), assistant=slow)
    finally:
        monkeypatch.undo()
    assert conversation.stop == "agent_timeout"


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["function", "graph"])
def test_an_async_agent_that_blocks_is_left_behind_and_others_go_on(never, kind):
    async def block(messages: Any) -> Any:
        if "a bad seat" in str(messages):
            never.wait()
        return {"messages": [AIMessage("It is booked.")]} if kind == "graph" else "It is booked."

    agent = hanging_graph(block) if kind == "graph" else block
    states = agent_test.scenarios([{"goal": "a bad seat"}, {"goal": "a good seat"}])
    cast = agent_test.cast(assistant=agent)
    bad, good = runs.simulate(cast, states, limits=Limits(turn_timeout=0.5), concurrency=1)
    assert (bad.stop, bad.fault, bad.failure) == ("agent_timeout", "assistant", None)
    assert [message.text for message in bad.messages[1:]] == (["One moment."] if kind == "graph" else [])
    assert good.stop == "user_ended"


def test_the_steps_of_an_agent_are_as_if_in_the_event_loops_thread():
    variable: ContextVar[int] = ContextVar("count", default=0)
    seen: list[Any] = []

    async def count() -> None:
        variable.set(variable.get() + 1)

    async def pieces() -> AsyncIterator[str]:
        for piece in ("It is ", "booked."):
            token = variable.set(7)
            await asyncio.sleep(0)
            variable.reset(token)
            yield piece

    async def agent(messages: Any) -> str:
        task = asyncio.current_task()
        variable.set(1)
        await asyncio.gather(asyncio.create_task(count()), asyncio.wait_for(count(), 60))
        async with asyncio.timeout(60):
            text = "".join([piece async for piece in pieces()])
        seen.append((task is asyncio.current_task(), variable.get(), threading.current_thread().name))
        return text

    (conversation,) = runs.simulate(agent_test.cast(assistant=agent), agent_test.scenarios(SCENARIOS))
    assert (conversation.stop, seen) == ("user_ended", [(True, 1, STEPS_THREAD)])


@pytest.mark.parametrize("compiled", [{}, {"checkpointer": InMemorySaver()}])
@pytest.mark.parametrize("blocks", [False, True])
async def test_what_a_graph_did_before_its_time_was_over_is_recorded(never, compiled, blocks):
    agent = hanging_graph((lambda state: never.wait()) if blocks else sleeping, **compiled)
    conversation = await simulate(Limits(turn_timeout=0.3), assistant=agent)
    assert (conversation.stop, conversation.messages[-1].text) == ("agent_timeout", "One moment.")


async def test_an_agent_that_plays_the_user_is_the_users_fault():
    conversation = await simulate(user=sleeping)
    assert (conversation.stop, conversation.fault, conversation.messages) == ("user_timeout", "user", ())


@pytest.mark.parametrize("speaker", [FunctionSpeaker, lambda *a, **s: AgentSpeaker(a[0], RunnableLambda(a[1]), **s)])
async def test_an_agents_own_limit_comes_before_that_of_the_conversation(speaker):
    conversation = await simulate(Limits(), assistant=speaker("assistant", sleeping, turn_timeout=0.05))
    assert conversation.stop == "agent_timeout"
    assert conversation.provenance.nodes["assistant"].flat()["turn_timeout"] == 0.05
    for wrong in (0, -1, float("inf"), "60s", True):
        with pytest.raises(ContractError, match=r"assistant: turn_timeout must be (a number of|above 0) seconds, not"):
            speaker("assistant", sleeping, turn_timeout=wrong)


def test_the_limit_is_ten_minutes_and_stands_in_the_record_where_it_is_another():
    assert Limits().turn_timeout == 600
    assert "turn_timeout" not in Limits().plain()
    assert Limits(turn_timeout=60).plain()["turn_timeout"] == 60
    with pytest.raises(SettingError, match=r"Limits.turn_timeout must be above 0 seconds, not 0"):
        Limits(turn_timeout=0)
    with pytest.raises(TypeError, match=r"Limits.turn_timeout must be a number of seconds, not '60s'"):
        Limits(turn_timeout="60s")


async def test_a_resumed_run_keeps_a_turn_that_took_too_long_and_retries_it_only_among_the_failed(tmp_path):
    calls: list[str] = []

    async def slow_at_first(messages: Any) -> str:
        calls.append("call")
        if len(calls) == 1:
            await asyncio.Event().wait()
        return "Done: your flight is now on 3 May."

    cast = agent_test.cast(assistant=slow_at_first)
    states = agent_test.scenarios(SCENARIOS)
    await runs.asimulate(cast, states, limits=SHORT, out=tmp_path)
    longer = Limits(turn_timeout=60)  # may be another one when a run is resumed
    (kept,) = await runs.asimulate(cast, states, limits=longer, out=tmp_path, resume=True)
    assert (kept.stop, len(calls)) == ("agent_timeout", 1)
    again = runs.Conduct(retry_failed=True)
    (conversation,) = await runs.asimulate(cast, states, limits=longer, out=tmp_path, resume=True, conduct=again)
    assert conversation.stop == "user_ended"


async def test_a_replay_ends_as_the_recorded_turn_did_without_waiting(tmp_path):
    calls: list[str] = []

    async def asking(messages: Any) -> str:
        calls.append("call")
        return await sleeping(messages)

    states, cast = agent_test.scenarios(SCENARIOS), agent_test.cast(assistant=asking)
    for conduct in (runs.Conduct(record=tmp_path / "calls.jsonl"), runs.Conduct(replay_calls=tmp_path / "calls.jsonl")):
        (conversation,) = await runs.asimulate(cast, states, limits=SHORT, conduct=conduct)
        assert conversation.stop == "agent_timeout"
    assert len(calls) == 1


def test_calls_without_an_end_take_no_thread_from_others(never):
    hanging = [WORKER_THREADS.submit(never.wait) for _ in range(40)]  # more than a pool has
    assert WORKER_THREADS.submit(lambda: threading.current_thread().daemon).result(timeout=900)
    assert not any(future.done() for future in hanging)
    with pytest.raises(ZeroDivisionError):
        WORKER_THREADS.submit(lambda: 1 // 0).result(timeout=900)
