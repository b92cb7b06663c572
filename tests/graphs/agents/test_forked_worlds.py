"""The world of a fork: the kept tool calls are made again."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

import duologue
from duologue.data import Conversation
from duologue.graphs import Cast
from duologue.nodes import AgentSpeaker, Limits, scoring
from duologue.nodes.messages.building import plain_messages
from duologue.nodes.speakers.agents import FunctionSpeaker


class Ledger:
    """Bookings that nobody can take back."""

    def __init__(self) -> None:
        self.rooms: list[str] = []

    def state(self) -> list[str]:
        return self.rooms


class Hotel(Ledger):
    """Bookings that can be put back."""

    def snapshot(self) -> list[str]:
        return list(self.rooms)

    def restore(self, snapshot: list[str]) -> None:
        self.rooms = list(snapshot)


@tool  # async: calls side by side are made in their order, in one thread
async def book(room: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Book a room."""
    runtime.context.world.rooms.append(room)
    return json.dumps({"booked": len(runtime.context.world.rooms)})


def clerk(*rooms: str) -> AgentSpeaker:
    """Books these rooms on each turn, in calls side by side."""

    def answer(state: MessagesState) -> dict[str, Any]:
        last = state["messages"][-1]
        if not isinstance(last, HumanMessage):
            return {"messages": [AIMessage("It is done.")]}
        calls: list[Any] = [{"name": "book", "args": {"room": room}, "id": room} for room in rooms]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    graph = StateGraph(MessagesState).add_node("answer", answer).add_node("tools", ToolNode([book]))
    graph.add_edge(START, "answer").add_edge("tools", "answer")
    graph.add_conditional_edges("answer", lambda s: "tools" if s["messages"][-1].tool_calls else "__end__")
    return AgentSpeaker("assistant", graph.compile())


def rooms_booked(state: Any, world: Ledger) -> int:
    return len(world.rooms)


def hotel(world: Any, assistant: Any) -> Cast:
    return Cast(
        name="hotel",
        user_simulator=FunctionSpeaker("user", lambda messages: "A room, please.", plain_messages("user")),
        assistant=assistant,
        closing=scoring(rooms=rooms_booked),
        world=world,
        limits=Limits(max_turns=3),
    )


def stayed(cast: Cast, **options: Any) -> Conversation:
    (talk,) = duologue.simulate(cast, [{"scenario": {"kind": "hotel"}}], **options)
    return talk


def rooms(talk: Conversation) -> Any:
    return talk.labels["scores"]["rooms"]["value"]


@pytest.mark.parametrize(("at", "expected"), [(0, 1 + 1 + 1), (1, 2 + 1 + 1), (3, 4 + 1), (4, 4 + 1)])
def test_the_kept_calls_are_made_again_in_order_and_those_after_the_fork_are_not(at: int, expected: int) -> None:
    talk = stayed(hotel(lambda scenario: Ledger(), clerk("1", "2")))
    assert rooms(talk) == 6
    (future,) = duologue.fork(talk, at=at, cast=hotel(lambda scenario: Ledger(), clerk("7")))
    assert future.failure is None
    assert rooms(future) == expected
    assert future.messages[: at + 1] == talk.messages[: at + 1]


def test_another_result_ends_the_fork_with_both_values() -> None:
    talk = stayed(hotel(lambda scenario: Ledger(), clerk("1", "2")))

    def taken(scenario: Any) -> Ledger:
        world = Ledger()
        world.rooms = ["9"]
        return world

    (future,) = duologue.fork(talk, at=2, cast=hotel(taken, clerk("7")))
    assert future.stop == "model_failed"
    assert future.failure is not None
    assert future.failure.node == "world"
    assert 'message #1: book gives another result: {"booked": 1} is recorded, now it gives {"booked": 2}' in (
        future.failure.error
    )


def test_an_agent_without_the_tool_is_named() -> None:
    talk = stayed(hotel(lambda scenario: Ledger(), clerk("1")))
    (future,) = duologue.fork(talk, at=2, cast=hotel(lambda scenario: Ledger(), clerk("1")), assistant=lambda m: "No.")
    assert future.failure is not None
    assert (
        'message #1: book gives another result: {"booked": 1} is recorded, now it gives the error the side\'s agent has no tool'
        in future.failure.error
    )


def test_what_a_rejected_draft_did_was_undone_and_is_not_done_again() -> None:
    def first_is_rude(draft: Any, state: Any) -> str | None:
        return None if duologue.nodes.rejected(state) else "rude"

    rude = duologue.nodes.validator(first_is_rude)
    cast = hotel(lambda scenario: Hotel(), clerk("1", "2")).replace(answer_validator=rude)
    talk = stayed(cast)
    assert [len(message.attempts) for message in talk.messages[1::2]] == [2, 2, 2]
    assert rooms(talk) == 6
    (future,) = duologue.fork(talk, at=3, cast=cast)
    assert (future.failure, rooms(future)) == (None, 6)
