"""Agents that act around a question to the user, fail halfway, or have a context of their own."""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from duologue.data.recllmsim import Situation
from duologue.data.summaries.counts import count
from duologue.graphs import Cast, recllmsim
from duologue.nodes import AgentSpeaker, Limits, scorers, scoring, validator
from tests.graphs.played import played

ABOUT = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")


class Ledger:
    """What was done; it cannot be put back."""

    def __init__(self) -> None:
        self.done: list[str] = []


@dataclass
class Entries:
    done: list[str] = field(default_factory=list)


class Books(Ledger):
    """A ledger that can be put back, whose snapshot is its own live object."""

    def __init__(self) -> None:
        self.entries = Entries()

    @property
    def done(self) -> list[str]:  # type: ignore[override]
        return self.entries.done

    def snapshot(self) -> Entries:
        return self.entries

    def restore(self, snapshot: Entries) -> None:
        self.entries = snapshot


def bad(draft: Any, state: Any) -> str | None:
    return "bad" if "BAD" in draft["text"] else None


def cast_of(agent: Any, world: Any = None, **changes: Any) -> Cast:
    cast = recllmsim.cast(lambda messages: "Yes, please.", agent, opens="user")
    return cast.replace(
        answer_validator=validator(bad), world=None if world is None else lambda scenario: world, **changes
    )


async def talk(cast: Cast, turns: int = 2) -> Any:
    return await played(cast, recllmsim.scenario(ABOUT), Limits(max_turns=turns, answer_attempts=3))


def built(**nodes: Any) -> Any:
    graph = StateGraph(MessagesState)
    names = list(nodes)
    for name, node in nodes.items():
        graph.add_node(name, node)
    for source, target in zip([START, *names], names, strict=False):
        graph.add_edge(source, target)
    return graph


def approval(done: list[str]) -> Any:
    """Asks before it pays; the first thing that it says afterwards is bad."""

    async def call(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("I will pay.", tool_calls=[{"name": "pay", "args": {"sum": 3}, "id": "1"}])]}

    async def run(state: MessagesState) -> dict[str, Any]:
        interrupt("Really?")
        done.append("paid")
        return {"messages": [ToolMessage("paid", tool_call_id="1", name="pay")]}

    async def last(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("BAD" if len(done) == 1 else "GOOD")]}

    return built(call=call, run=run, last=last).compile(checkpointer=InMemorySaver())


async def test_a_payment_after_an_approval_is_made_once_though_what_is_said_then_is_rejected():
    done: list[str] = []
    conversation = await talk(cast_of(approval(done)))
    assert done == ["paid"]
    draft = conversation.messages[-1].attempts[-1]
    assert (draft.verdict, draft.notes) == ("observed", ("not asked again: it had called pay",))
    (call,) = draft.tool_calls
    assert (call.name, call.arguments, call.result) == ("pay", {"sum": 3}, "paid")
    (waiting,) = conversation.messages[2].tool_calls
    assert waiting.error == "it waits for the answer to the agent's question"
    side = count([conversation]).side("assistant")
    assert (side.tool_calls, side.failed_calls) == (1, 0)  # it is one call, and none that failed


async def test_a_tool_that_asks_first_counts_as_called_with_its_result():
    @tool
    def pay(sum: int) -> str:
        """Pay."""
        interrupt("Shall I pay?")
        return "paid"

    async def model(state: MessagesState) -> dict[str, Any]:
        if isinstance(state["messages"][-1], ToolMessage):
            return {"messages": [AIMessage("Done.")]}
        return {"messages": [AIMessage("", tool_calls=[{"name": "pay", "args": {"sum": 3}, "id": "1"}])]}

    graph = (
        StateGraph(MessagesState).add_node("model", model).add_node("tools", ToolNode([pay])).add_edge(START, "model")
    )
    graph.add_conditional_edges("model", lambda s: "tools" if s["messages"][-1].tool_calls else "__end__")
    graph.add_edge("tools", "model")
    closing = scoring(success=scorers.tool_called("pay", {"sum": 3}, times=1))
    conversation = await talk(cast_of(graph.compile(checkpointer=InMemorySaver()), closing=closing))
    assert conversation.messages[-1].tool_calls[0].result == "paid"
    assert conversation.labels["scores"]["success"]["value"] is True


async def test_two_questions_of_one_node_have_their_effects_as_often_as_without_a_rejection():
    """LangGraph runs a node again from its start for each answer: what stands before a question happens again."""

    def agent(says: list[str]) -> Any:
        async def work(state: MessagesState, runtime: Runtime[Any]) -> dict[str, Any]:
            interrupt("First?")
            runtime.context.world.done.append("A")
            interrupt("Second?")
            runtime.context.world.done.append("B")
            return {"messages": [AIMessage(says.pop(0) if len(says) > 1 else says[0])]}

        return built(work=work).compile(checkpointer=InMemorySaver())

    plain, rejected, twice = Books(), Books(), Books()
    for world, says in ((plain, ["GOOD"]), (rejected, ["BAD", "GOOD"]), (twice, ["BAD", "BAD", "GOOD"])):
        conversation = await talk(cast_of(agent(says), world), turns=3)
        assert conversation.messages[-1].text == "GOOD"
    assert plain.done == rejected.done == twice.done == ["A", "A", "B"]


async def test_a_snapshot_that_is_the_worlds_own_object_is_copied():
    world = Books()

    async def book(state: MessagesState, runtime: Runtime[Any]) -> dict[str, Any]:
        runtime.context.world.done.append("booked")
        repaired = any("<note>" in str(message.text) for message in state["messages"])
        return {"messages": [AIMessage("GOOD" if repaired else "BAD")]}

    conversation = await talk(cast_of(built(book=book).compile(), world), turns=1)
    assert [attempt.verdict for attempt in conversation.attempts("assistant")] == ["rejected", "accepted"]
    assert world.done == ["booked"]


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
async def test_what_an_agent_did_before_it_failed_stands_in_the_record(checkpointer):
    async def pay(state: MessagesState) -> dict[str, Any]:
        call = {"name": "pay", "args": {"sum": 3}, "id": "1"}
        return {"messages": [AIMessage("One moment.", tool_calls=[call]), ToolMessage("paid", tool_call_id="1")]}

    async def fails(state: MessagesState) -> dict[str, Any]:
        raise ConnectionError("503")

    conversation = await talk(cast_of(built(pay=pay, fails=fails).compile(checkpointer=checkpointer)))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert re.fullmatch(r"ConnectionError: 503 \(test_agents_that_act\.py, line \d+\)", conversation.failure.error)
    (turn,) = conversation.unsaid
    (draft,) = turn.attempts
    assert (draft.verdict, draft.text) == ("unjudged", "One moment.")
    assert [(call.name, call.result) for call in draft.tool_calls] == [("pay", "paid")]


@dataclass
class Own:
    customer: str = "nobody"
    books: Any = None


async def test_an_agent_with_a_context_of_its_own_is_not_given_the_conversations():
    async def answer(state: MessagesState, runtime: Runtime[Own]) -> dict[str, Any]:
        context = runtime.context or Own()
        if context.books is not None:
            context.books.done.append(context.customer)
        return {"messages": [AIMessage(f"For {context.customer}.")]}

    graph = StateGraph(MessagesState, context_schema=Own).add_node("answer", answer).add_edge(START, "answer").compile()
    for world in (None, Ledger()):
        assert (await talk(cast_of(graph, world), turns=1)).messages[-1].text == "For nobody."
    fixed = AgentSpeaker("assistant", graph, context=Own("the guest"))
    assert (await talk(cast_of(fixed), turns=1)).messages[-1].text == "For the guest."
    ledger = Ledger()
    speaker = AgentSpeaker("assistant", graph, context=lambda scenario, world: Own(scenario["task"], world))
    assert (await talk(cast_of(speaker, ledger), turns=1)).messages[-1].text == "For gift preparation."
    assert ledger.done == ["gift preparation"]


async def test_a_tool_with_a_bare_runtime_warns_of_nothing_where_there_is_no_world():
    @tool
    def look(room: str, runtime: ToolRuntime) -> str:
        """Look a room up."""
        return f"{room} is free"

    async def model(state: MessagesState) -> dict[str, Any]:
        if isinstance(state["messages"][-1], HumanMessage):
            return {"messages": [AIMessage("", tool_calls=[{"name": "look", "args": {"room": "12"}, "id": "1"}])]}
        return {"messages": [AIMessage(str(state["messages"][-1].text))]}

    graph = (
        StateGraph(MessagesState).add_node("model", model).add_node("tools", ToolNode([look])).add_edge(START, "model")
    )
    graph.add_conditional_edges("model", lambda s: "tools" if s["messages"][-1].tool_calls else "__end__")
    graph.add_edge("tools", "model")
    conversation = await talk(cast_of(graph.compile()), turns=1)  # a warning is an error here
    assert conversation.messages[-1].text == "12 is free"


async def test_a_snapshot_that_fails_is_the_worlds_failure():
    class Breaks(Ledger):
        def snapshot(self) -> Any:
            raise OSError("disk full")

        def restore(self, snapshot: Any) -> None: ...

    conversation = await talk(cast_of(lambda messages: "GOOD", Breaks()))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "world")
    assert "the world gave no snapshot: OSError: disk full" in conversation.failure.error
