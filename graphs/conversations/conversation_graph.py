"""The topology of every conversation: prompt selector, speaker and validator for each side, then a turn recorder.

`compiled.conversation` puts a cast's nodes into its places.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Literal, Protocol, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ...data.records import Edge, StepWay
from ...nodes.limits import Limits
from ...nodes.state import NodePlace, State


class Step(Protocol):
    """What LangGraph runs at a place.

    It may write the whole state; the cast's node in it only gives an update.
    """

    def __call__(self, state: State, runtime: Runtime[Limits]) -> Awaitable[State]:
        """The state after the step."""
        ...


class Router(Runnable[State, str]):
    """Decides which edge is next, by a function of the state.

    LangGraph gives a plain function a task and a trace of its own, and one that is not async a thread.
    """

    def __init__(self, decide: Callable[[State], str]) -> None:
        self.decide = decide
        self.name = decide.__name__

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """The name of the way that is taken."""
        return self.decide(input)

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """The same: nothing is waited for."""
        return self.decide(input)


def topology(step: Callable[[NodePlace], Step]) -> StateGraph[State, Limits, State, State]:
    """The graph with the step of each place, not yet compiled."""
    graph = StateGraph(State, context_schema=Limits)

    graph.add_node("user_prompt_selector", step("user_prompt_selector"))
    graph.add_node("user_simulator", step("user_simulator"))
    graph.add_node("question_validator", step("question_validator"))
    graph.add_node("assistant_prompt_selector", step("assistant_prompt_selector"))
    graph.add_node("assistant", step("assistant"))
    graph.add_node("answer_validator", step("answer_validator"))
    graph.add_node("turn_recorder", step("turn_recorder"))
    graph.add_node("closing", step("closing"))

    graph.add_edge(START, "user_prompt_selector")
    graph.add_edge("user_prompt_selector", "user_simulator")
    graph.add_edge("user_simulator", "question_validator")
    graph.add_conditional_edges(
        "question_validator",
        Router(after_question),
        {"accepted": "assistant_prompt_selector", "regenerate": "user_prompt_selector", "stop": "closing"},
    )
    graph.add_edge("assistant_prompt_selector", "assistant")
    graph.add_edge("assistant", "answer_validator")
    graph.add_conditional_edges(
        "answer_validator",
        Router(after_answer),
        {"accepted": "turn_recorder", "regenerate": "assistant_prompt_selector", "stop": "closing"},
    )
    graph.add_conditional_edges(
        "turn_recorder", Router(after_turn), {"continue": "user_prompt_selector", "stop": "closing"}
    )
    graph.add_edge("closing", END)

    return graph


def after_question(state: State) -> Literal["accepted", "regenerate", "stop"]:
    """Where to go after the user's drafts were judged."""
    return _way(state)


def after_answer(state: State) -> Literal["accepted", "regenerate", "stop"]:
    """Where to go after the assistant's drafts were judged."""
    return _way(state)


def after_turn(state: State) -> Literal["continue", "stop"]:
    """Whether there is another turn."""
    return "stop" if _way(state) == "stop" else "continue"


def _way(state: State) -> Literal["accepted", "regenerate", "stop"]:
    """The way that the step wrote; a stop that somebody sets in a checkpoint holds at once."""
    if state.get("stop"):
        return "stop"
    return "regenerate" if state.get("way") == "regenerate" else "accepted"


@cache
def edges() -> tuple[Edge, ...]:
    """Every edge of the topology with a count of 0, in the order of the nodes."""

    def empty(place: NodePlace) -> Step:
        async def nobody(state: State, runtime: Runtime[Limits]) -> State:
            return state

        return nobody

    graph = topology(empty)
    drawn: list[Edge] = []
    for source in (START, *graph.nodes):
        drawn += [Edge(source=source, target=target) for start, target in sorted(graph.edges) if start == source]
        for branch in graph.branches[source].values():
            ways = (branch.ends or {}).items()
            drawn += [Edge(source=source, target=target, label=cast(StepWay, way)) for way, target in ways]
    return tuple(drawn)
