"""A world for each conversation: set up, handed to tools and validators, put back, torn down."""

import asyncio
import json
import pickle
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.runtime import Runtime, get_runtime

from duologue import runs
from duologue.data.recllmsim import Situation
from duologue.graphs import Cast, casts, conversation, recllmsim, record, world
from duologue.graphs.scenarios.forks import forked, replayed
from duologue.nodes import AgentSpeaker, Limits, scoring, tool_called, validator
from duologue.nodes.contract import ContractError
from duologue.nodes.speakers.tools import declared
from duologue.nodes.state import rejected
from duologue.nodes.worlds import Context, WorldError
from tests.graphs.agents.talks import call, looped
from tests.graphs.played import played

ABOUT = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")


class Hotel:
    """Bookings in memory."""

    def __init__(self) -> None:
        self.bookings: list[str] = []

    def snapshot(self) -> list[str]:
        return self.bookings  # its own list: the framework copies it

    def restore(self, snapshot: list[str]) -> None:
        self.bookings = snapshot


class Ledger:
    """Bookings that nobody can take back."""

    def __init__(self) -> None:
        self.bookings: list[str] = []


@tool
def book(room: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Book a room."""
    runtime.context.world.bookings.append(room)
    return json.dumps({"booked": len(runtime.context.world.bookings)})


@tool
def look(room: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Look a room up."""
    return json.dumps({"free": room not in runtime.context.world.bookings})


look.metadata = {"readOnlyHint": True}


def agent_that_calls(name: str = "book", *, checkpointer: Any = None) -> Any:
    """Calls the tool once for each message of the user, then says what it answered."""

    async def clerk(state: MessagesState) -> dict[str, Any]:
        last = state["messages"][-1]
        if isinstance(last, HumanMessage):
            return {"messages": [AIMessage("", tool_calls=[call(name, len(state["messages"]), room="12")])]}
        return {"messages": [AIMessage(f"It says {last.text}")]}

    return looped(clerk, ToolNode([book, look])).compile(checkpointer=checkpointer, name="clerk")


def rejecting(times: int) -> Any:
    """A validator that rejects so many drafts, and sees how many bookings there are when it does."""
    seen: list[int] = []

    async def judge(state: Any, runtime: Runtime[Any]) -> Any:
        seen.append(len(runtime.context.world.bookings) if runtime.context.world else -1)
        verdict = {"accepted": False, "reason": "rude"} if len(seen) <= times else {"accepted": True}
        return {"verdicts": [verdict for _ in state["drafts"]]}

    judge.seen = seen  # type: ignore[attr-defined]
    return judge


def cast_with(world: Any, agent: Any = None, times: int = 1, **changes: Any) -> Cast:
    cast = recllmsim.cast(lambda messages: "Book room 12.", agent or agent_that_calls(), opens="user")
    return cast.replace(world=world, answer_validator=rejecting(times), **changes)


async def talk(cast: Cast, turns: int = 1, **state: Any) -> Any:
    limits = Limits(max_turns=turns, answer_attempts=3)
    return await played(cast, recllmsim.scenario(ABOUT) | state, limits)


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
@pytest.mark.parametrize("times", [1, 2])
async def test_one_booking_not_two_where_the_world_can_be_put_back(times, checkpointer):
    hotel = Hotel()
    cast = cast_with(lambda scenario: hotel, agent_that_calls(checkpointer=checkpointer), times)
    conversation = await talk(cast)
    assert hotel.bookings == ["12"]
    assert [attempt.verdict for attempt in conversation.attempts("assistant")] == ["rejected"] * times + ["accepted"]
    assert all(attempt.tool_calls[0].result == {"booked": 1} for attempt in conversation.attempts("assistant"))
    assert cast.answer_validator.seen == [1] * (times + 1)  # type: ignore[attr-defined]


async def test_one_booking_not_two_where_the_world_cannot_be_put_back():
    ledger = Ledger()
    conversation = await talk(cast_with(lambda scenario: ledger))
    assert ledger.bookings == ["12"]
    (attempt,) = conversation.attempts("assistant")
    assert (attempt.verdict, attempt.reason) == ("observed", "rude")
    assert attempt.notes == ("not asked again: it had called book",)
    assert conversation.messages[-1].text == 'It says {"booked": 1}'


async def test_a_tool_that_ran_before_the_agent_took_too_long_was_called():
    class Late:
        role, read_only = "assistant", ()

        async def __call__(self, state: Any, runtime: Any) -> dict[str, Any]:
            call = {"name": "book", "arguments": {}, "result": "booked"}
            return {"drafts": [{"text": "", "tool_calls": [call]}], "stop": "agent_timeout"}

    cast = recllmsim.cast(lambda messages: "Book.", lambda messages: "Yes.", opens="user")
    cast = cast.replace(assistant=Late(), closing=scoring(success=tool_called("book", times=0)))
    conversation = await talk(cast)
    (attempt,) = conversation.attempts("assistant")
    assert (attempt.verdict, attempt.notes) == ("unjudged", ("not undone: it had called book",))
    assert conversation.scores["success"] == {
        "value": False,
        "reason": "book was called once (1 in drafts that were not sent and not undone)",
        "broken": [{"kind": "called", "tool": "book"}],
    }


async def test_an_agent_without_a_world_is_not_asked_again_after_a_tool_that_may_have_acted():
    called = []

    def helper(messages: list[dict[str, Any]]) -> AIMessage:
        called.append(1)
        return AIMessage("Done.", tool_calls=[{"name": "pay", "args": {}, "id": "1"}])

    def rude(draft: Any, state: Any) -> str:
        return "rude"

    cast = recllmsim.cast(lambda messages: "Pay.", helper, opens="user").replace(answer_validator=validator(rude))
    conversation = await talk(cast)
    assert len(called) == 1
    assert conversation.messages[-1].attempts[-1].notes == ("not asked again: it had called pay",)


async def test_a_tool_that_says_that_it_is_read_only_may_be_called_again():
    conversation = await talk(cast_with(lambda scenario: Ledger(), agent_that_calls("look"), times=2))
    assert [attempt.verdict for attempt in conversation.attempts("assistant")] == ["rejected", "rejected", "accepted"]
    assert declared(agent_that_calls()) == ("look",)
    inner = agent_that_calls()
    assert declared(StateGraph(MessagesState).add_node("all", inner).add_edge(START, "all").compile()) == ("look",)
    assert AgentSpeaker("assistant", inner).provenance()["read_only"] == ["look"]


async def test_what_the_last_rejected_draft_did_is_undone_where_the_fallback_is_said():
    hotel = Hotel()
    conversation = await talk(cast_with(lambda scenario: hotel, times=9, fallback="Sorry."))
    assert conversation.messages[-1].text == "Sorry."
    assert hotel.bookings == []
    standing = Hotel()
    await talk(cast_with(lambda scenario: standing, times=9))
    assert standing.bookings == ["12"]  # without a fallback the last draft stands, with what it did


async def test_what_a_failing_agent_did_is_undone():
    hotel = Hotel()

    async def breaks(state: MessagesState, runtime: Runtime[Any]) -> dict[str, Any]:
        runtime.context.world.bookings.append("12")
        raise ConnectionError("the endpoint is down")

    agent = StateGraph(MessagesState).add_node("a", breaks).add_edge(START, "a").compile()
    conversation = await talk(cast_with(lambda scenario: hotel, agent))
    assert (conversation.stop, conversation.failure.node, hotel.bookings) == ("model_failed", "assistant", [])


async def test_the_world_is_set_up_from_the_scenario_and_torn_down_and_each_conversation_has_its_own():
    log: list[str] = []

    @asynccontextmanager
    async def world(scenario: dict[str, Any]) -> Any:
        task = asyncio.current_task()
        log.append(f"up {scenario['task']}")
        scenario["task"] = "changed"  # a copy
        yield Hotel()
        assert asyncio.current_task() is task
        log.append("down")

    sizes = scoring(bookings=lambda state: len(state["messages"]))
    cast = cast_with(world, times=0, closing=sizes)
    conversations = await asyncio.gather(*(talk(cast, turns=2, repeat=number) for number in range(3)))
    assert log.count("up gift preparation") == log.count("down") == 3
    assert [conversation.messages[-1].tool_calls[0].result for conversation in conversations] == [{"booked": 2}] * 3
    assert {conversation.scenario["task"] for conversation in conversations} == {"gift preparation"}


class Closed:
    closed = 0

    def close(self) -> None:
        Closed.closed += 1


async def test_plain_context_managers_objects_with_close_and_awaitables_are_worlds_too():
    log: list[str] = []

    @contextmanager
    def plain(scenario: dict[str, Any]) -> Any:
        yield Hotel()
        log.append("down")

    async def later(scenario: dict[str, Any]) -> Closed:
        return Closed()

    assert (await talk(cast_with(plain, times=0))).messages[-1].tool_calls[0].result == {"booked": 1}
    Closed.closed = 0
    await talk(recllmsim.cast().replace(world=later))
    assert (log, Closed.closed) == (["down"], 1)


async def test_the_world_is_torn_down_after_a_failure_and_a_cancellation(tmp_path):
    log: list[str] = []
    reached = asyncio.Event()

    @asynccontextmanager
    async def world(scenario: dict[str, Any]) -> Any:
        yield Hotel()  # without try and finally
        await asyncio.sleep(0)
        log.append("down")

    async def hangs(state: MessagesState) -> dict[str, Any]:
        reached.set()
        await asyncio.Event().wait()
        return {}

    async def fails(state: MessagesState) -> dict[str, Any]:
        raise ValueError("broken")

    def agent(node: Any) -> Any:
        return StateGraph(MessagesState).add_node("a", node).add_edge(START, "a").compile()

    (failed,) = await runs.asimulate(cast_with(world, agent(fails)), [recllmsim.scenario(ABOUT)])
    assert (failed.stop, log) == ("model_failed", ["down"])
    task = asyncio.create_task(
        runs.asimulate(cast_with(world, agent(hangs)), [recllmsim.scenario(ABOUT)], out=tmp_path / "run")
    )
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log == ["down", "down"]
    assert '"cancelled"' in (tmp_path / "run" / "conversations.jsonl").read_text()


async def test_a_world_that_cannot_be_set_up_or_torn_down_ends_its_own_conversation_with_a_line():
    def broken(scenario: dict[str, Any]) -> Any:
        raise ConnectionError("no database")

    @contextmanager
    def leaves_badly(scenario: dict[str, Any]) -> Any:
        yield Hotel()
        raise OSError("locked")

    states = [recllmsim.scenario(ABOUT)]
    (conversation,) = await runs.asimulate(cast_with(broken), states, limits=Limits(max_turns=1))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "world")
    assert "could not be set up: ConnectionError: no database" in conversation.failure.error
    assert conversation.failure.error.count("no database") == 1
    (over,) = await runs.asimulate(cast_with(leaves_badly), states, limits=Limits(max_turns=1))
    assert (over.stop, over.finished, over.failure.node) == ("max_turns", True, "world")
    assert over.failure.error.startswith("WorldError: the world could not be torn down: OSError: locked")
    assert (over.ending_failure, conversation.ending_failure) == (None, conversation.failure)
    with pytest.raises(WorldError, match="no database"):
        async with world(cast_with(broken), states[0]):
            pass


async def test_a_world_that_cannot_be_put_back_ends_the_conversation_as_failed():
    hotel = Hotel()
    hotel.restore = lambda snapshot: 1 / 0  # type: ignore[method-assign,assignment]
    conversation = await talk(cast_with(lambda scenario: hotel))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "world")
    assert "could not be put back: ZeroDivisionError" in conversation.failure.error
    (attempt,) = conversation.attempts("assistant")
    assert attempt.verdict == "rejected"


async def test_what_a_draft_did_whose_validator_breaks_is_undone_but_not_what_was_said():
    hotel = Hotel()

    async def breaks(state: Any, runtime: Any) -> Any:
        if state["turn"]:
            raise ValueError("broken")
        return {"verdicts": [{"accepted": True} for _ in state["drafts"]]}

    cast = cast_with(lambda scenario: hotel).replace(answer_validator=breaks)
    conversation = await talk(cast, turns=3)
    assert (conversation.failure.node, hotel.bookings) == ("answer_validator", ["12"])
    assert conversation.unsaid[0].attempts[0].tool_calls[0].result == {"booked": 2}

    async def closing(state: Any, runtime: Any) -> Any:
        raise ValueError("broken")

    said = Hotel()
    conversation = await talk(cast_with(lambda scenario: said, times=0, closing=closing))
    assert (conversation.failure.node, said.bookings) == ("closing", ["12"])


async def test_a_replay_undoes_a_recorded_draft_of_the_user_and_not_the_answer_before_it():
    cast = cast_with(lambda scenario: Hotel(), times=0)
    second_is_rude = validator(lambda draft, state: "rude" if state["turn"] == 1 and not rejected(state) else None)
    cast = cast.replace(question_validator=second_is_rude)
    conversation = await talk(cast, turns=2)
    assert [attempt.verdict for attempt in conversation.attempts("user")] == ["accepted", "rejected", "accepted"]
    replay = await played(cast, replayed(conversation), Limits(max_turns=2, answer_attempts=3))
    first, again = (
        [(m.text, m.tool_calls, [a.verdict for a in m.attempts]) for m in one.messages]
        for one in (conversation, replay)
    )
    assert first == again
    assert replay.messages[-1].tool_calls[0].result == {"booked": 2}


async def test_a_breakpoint_before_a_verdict_goes_on_in_its_world():
    cast = cast_with(lambda scenario: Hotel(), limits=Limits(max_turns=1))
    graph = conversation(cast, checkpointer=InMemorySaver(), interrupt_before=["answer_validator"])
    config = {"configurable": {"thread_id": "1"}}
    given: Any = recllmsim.scenario(ABOUT) | {"messages": [{"role": "user", "content": "A room?"}]}
    async with world(cast, given) as context:
        for number in range(3):
            final_state = await graph.ainvoke(given if number == 0 else None, config, context=context)
            assert context.world.bookings == ["12"]
    assert [attempt["verdict"] for attempt in final_state["attempts"]] == ["given", "rejected", "accepted"]


async def test_functions_and_other_runnables_find_the_world_in_the_runtime():
    def helper(messages: list[dict[str, Any]]) -> str:
        get_runtime(Context).context.world.bookings.append("12")
        return "Booked."

    async def runnable(state: dict[str, Any]) -> AIMessage:
        return AIMessage(helper([]))

    for agent in (helper, RunnableLambda(runnable)):
        hotel = Hotel()
        await talk(cast_with(lambda scenario, hotel=hotel: hotel, agent, times=1))
        assert hotel.bookings == ["12"]


async def test_no_record_pickle_or_manifest_holds_the_world():
    hotel = SimpleNamespace(bookings=[], secret="s3cret")
    cast = cast_with(lambda scenario: hotel, times=0)
    conversation = await talk(cast)
    assert "s3cret" not in conversation.model_dump_json()
    assert conversation.provenance.limits == Limits(max_turns=1, answer_attempts=3).plain()
    context = Context.of(Limits(seed=3), hotel)
    assert context.plain() == Limits(seed=3).plain()
    assert pickle.loads(pickle.dumps(context)) == Limits(seed=3)
    assert "s3cret" not in repr(context)


async def test_a_conversation_does_not_go_on_from_a_checkpoint_in_another_world():
    cast = cast_with(lambda scenario: Hotel(), times=0, limits=Limits(max_turns=1))
    graph = conversation(cast, checkpointer=InMemorySaver(), interrupt_after=["assistant"])
    state, config = recllmsim.scenario(ABOUT), {"configurable": {"thread_id": "1"}}
    async with world(cast, state) as context:
        await graph.ainvoke(state, config, context=context)
    for given in (None, state):
        async with world(cast, state) as context:
            with pytest.raises(ContractError, match="cannot go on from a checkpoint in another world"):
                await graph.ainvoke(given, config, context=context)
    with pytest.raises(ContractError, match="the cast has a world"):
        await graph.ainvoke(None, config)
    copied, again = graph.with_config(tags=["a"]), {"configurable": {"thread_id": "2"}}
    async with world(cast, state) as context:
        await copied.ainvoke(state, again, context=context)
        final_state = await copied.ainvoke(None, again, context=context)
    assert record(final_state).messages[-1].tool_calls[0].result == {"booked": 1}


def test_a_world_by_import_path_travels_and_another_object_says_why_not(tmp_path, monkeypatch):
    (tmp_path / "my_hotel.py").write_text("class Hotel:\n    pass\n\n\ndef world(scenario):\n    return Hotel()\n")
    monkeypatch.syspath_prepend(tmp_path)
    cast = recllmsim.cast().replace(world="my_hotel:world")
    assert casts.built(cast.travelling()).world is cast.world
    assert cast.plain()["replace"] == {"world": "my_hotel:world"}
    assert cast.describe()["world"].name == "world"
    set_by_name = casts.find("recllmsim")(world="my_hotel:world")
    assert set_by_name.world is cast.world
    assert set_by_name.plain()["settings"] == {"world": "my_hotel:world"}
    assert recllmsim.cast().replace(world=lambda scenario: 1).live == ("world is a live object (function)",)
    with pytest.raises(ContractError, match="world: expected a plain function"):
        recllmsim.cast().replace(world=Hotel())


async def test_a_fork_begins_in_a_new_world_and_ends_where_that_lacks_what_was_done() -> None:
    cast = cast_with(lambda scenario: Hotel(), times=0)
    stored = await talk(cast, turns=2)
    limits = Limits(max_turns=3, answer_attempts=3)
    fine = await played(cast, forked(stored, 0), limits)
    assert (fine.failure, fine.messages[1].tool_calls[0].result) == (None, {"booked": 1})
    lacking = await played(cast, forked(stored, 2), limits)
    assert (lacking.stop, lacking.failure.node) == ("model_failed", "world")
    assert "lacks what book did for message #1" in lacking.failure.error
    reading = cast_with(lambda scenario: Hotel(), agent_that_calls("look"), times=0)
    assert (await played(reading, forked(await talk(reading, turns=2), 2), limits)).failure is None
