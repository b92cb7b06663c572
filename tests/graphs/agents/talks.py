"""Short conversations of an agent with a scripted user, and small graphs that agents are made of."""

import copy
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from duologue.data.recllmsim import Situation
from duologue.graphs import Cast, recllmsim
from duologue.nodes import Limits, validator
from tests.graphs.played import played

ABOUT = Situation(task="book a room", task_context="You want a quiet room.", preference="1. Gender: Female")


def lines(*said: str) -> Any:
    """A user that says these lines, then numbered ones; a cast with it is for one conversation."""
    rest = iter([*said, *(f"line {number}" for number in range(len(said) + 1, 99))])
    return lambda messages: next(rest)


def cast_of(agent: Any, *, user: Any = None, reject: str = "", **changes: Any) -> Cast:
    """A cast whose judge has a letter for each reply of the agent: `x` rejects it."""
    judged = iter(reject)
    judge = validator(lambda draft, state: "rude" if next(judged, "-") == "x" else None)
    cast = recllmsim.cast(user or lines(), agent, opens="user")
    return cast.replace(**({"answer_validator": judge} if reject else {}), **changes)


async def run(cast: Cast, *, turns: int = 2, limits: Limits | None = None, **state: Any) -> Any:
    return await played(cast, recllmsim.scenario(ABOUT) | state, limits or Limits(max_turns=turns))


async def talk(agent: Any, *, turns: int = 2, **changes: Any) -> Any:
    """The record of a conversation with the agent."""
    return await run(cast_of(agent, **changes), turns=turns)


def replies(conversation: Any) -> list[str]:
    return [message.text for message in conversation.messages if message.role == "assistant"]


def first_draft(conversation: Any) -> Any:
    """The first draft of the agent, whatever became of it."""
    return next(conversation.attempts("assistant"))


def chain(state: Any = MessagesState, schema: Any = None, **nodes: Any) -> Any:
    """A graph of these nodes in a row."""
    graph, names = StateGraph(state, context_schema=schema), list(nodes)
    for name, node in nodes.items():
        graph.add_node(name, node)
    for source, target in zip([START, *names], names, strict=False):
        graph.add_edge(source, target)
    return graph


def says(*messages: Any, **channels: Any) -> Any:
    """A graph of one node that adds copies of these messages."""
    return chain(desk=lambda state: {"messages": [copy.copy(message) for message in messages], **channels}).compile()


def call(name: str, number: int | str = 1, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": f"{name}-{number}"}


def looped(model: Any, tools: Any, state: Any = MessagesState) -> StateGraph[Any, Any, Any, Any]:
    """A model and its tools, in turn until it calls none."""
    graph = StateGraph(state).add_node("model", model).add_node("tools", tools).add_edge(START, "model")
    graph.add_conditional_edges("model", lambda s: "tools" if s["messages"][-1].tool_calls else "__end__")
    return graph.add_edge("tools", "model")


def calls_of(draft: Any) -> list[tuple[Any, ...]]:
    return [(one.name, one.arguments, one.error or one.result) for one in draft.tool_calls]


class Heard:
    """A graph that keeps what it was sent in each call, notes of the framework shortened, and its config."""

    def __init__(self, **compiled: Any) -> None:
        self.calls: list[list[str]] = []
        self.configs: list[RunnableConfig] = []
        self.graph = chain(answer=self.answer).compile(**compiled)

    async def answer(self, state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        self.configs.append(config)
        self.calls.append(heard(state["messages"]))
        return {"messages": [AIMessage(f"reply {len(self.calls)}")]}


def heard(messages: Iterable[Any]) -> list[str]:
    return ["<note>" if str(one.text).startswith("<note>") else str(one.text) for one in messages]
