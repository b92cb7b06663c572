"""A cast's conversation as a LangGraph graph: its topology, and the world that it runs in."""

from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeAlias
from typing import cast as typed
from weakref import WeakKeyDictionary

from langchain_core.messages import convert_to_messages
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from ..data.summaries.executed_graph import SPEAKERS
from ..nodes.contract import ContractError
from ..nodes.conversation_state import State
from ..nodes.limits import Limits
from ..nodes.speakers.repeated_calls import brought_to
from ..nodes.state import PLACES
from ..nodes.state import State as TodaysState
from ..nodes.worlds import Context, living
from .casts.cast import Cast
from .failures import NodeError, undone
from .further import WAYS_ON, further_place
from .opening import awaits_answer, recorded
from .places import opening_place, place

Builder: TypeAlias = StateGraph[State, Limits, State, State]
Compiled: TypeAlias = CompiledStateGraph[State, Limits, State, State]

_CASTS: WeakKeyDictionary[Any, Cast] = WeakKeyDictionary()
"""The cast of each builder, which a graph keeps when it is compiled, configured or copied."""


def builder(cast: Cast, after: Mapping[str, Mapping[str, Any]] | None = None) -> Builder:
    """The graph of a cast's conversations, not yet compiled.

    It is a `StateGraph`: change it as any other, and compile it. `after`: further nodes by the node after which they
    stand, such as `{"turn_recorder": {"moderator": node}}` (`graphs.further`); several come in their order.
    """
    further = after or {}
    graph = StateGraph(State, context_schema=Limits)
    graph.add_node(
        "opening", opening_place(cast, {name: node for nodes in further.values() for name, node in nodes.items()})
    )
    for name in (
        "user_prompt_selector", "user_simulator", "question_validator",
        "assistant_prompt_selector", "assistant", "answer_validator", "turn_recorder", "closing",
    ):  # fmt: skip
        graph.add_node(name, place(name, cast))
    graph.add_edge(START, "opening")
    first: dict[Hashable, str] = {
        "user": "user_prompt_selector",
        "assistant": "assistant_prompt_selector",
        "stop": "closing",
    }
    graph.add_conditional_edges("opening", who_begins, first)
    graph.add_edge("user_prompt_selector", "user_simulator")
    graph.add_edge("user_simulator", "question_validator")
    question: dict[Hashable, str] = {
        "accepted": "assistant_prompt_selector",
        "regenerate": "user_prompt_selector",
        "stop": "closing",
    }
    way_on(graph, "question_validator", question, cast, further)
    graph.add_conditional_edges("question_validator", after_verdict, question)
    graph.add_edge("assistant_prompt_selector", "assistant")
    graph.add_edge("assistant", "answer_validator")
    answer: dict[Hashable, str] = {
        "accepted": "turn_recorder",
        "regenerate": "assistant_prompt_selector",
        "stop": "closing",
    }
    way_on(graph, "answer_validator", answer, cast, further)
    graph.add_conditional_edges("answer_validator", after_verdict, answer)
    turn: dict[Hashable, str] = {"continue": "user_prompt_selector", "stop": "closing"}
    way_on(graph, "turn_recorder", turn, cast, further)
    graph.add_conditional_edges("turn_recorder", after_turn, turn)
    graph.add_edge("closing", END)
    if wrong := sorted(set(further) - set(WAYS_ON)):
        raise ContractError(f"after: further nodes stand after {', '.join(WAYS_ON)}, not after {wrong[0]!r}")
    _CASTS[graph] = cast
    return graph


def way_on(
    graph: Builder, source: str, ways: dict[Hashable, str], cast: Cast, further: Mapping[str, Mapping[str, Any]]
) -> None:
    """Add the further nodes of a place, and lead its way on to the first of them."""
    label, target = WAYS_ON[source]
    for name, node in reversed([*further.get(source, {}).items()]):
        if name in graph.nodes:
            raise ContractError(f"after: there are two nodes {name!r}")
        graph.add_node(name, further_place(name, node, cast, target, graph.nodes), destinations=(target, "closing"))
        target = name
    ways[label] = target


def cast_of(graph: Cast | Compiled) -> Cast:
    """The cast of a compiled graph, or the cast itself; ContractError if the graph was not made by `builder`."""
    if isinstance(graph, Cast):
        return graph
    made_by = getattr(graph, "builder", None)
    cast = _CASTS.get(made_by) if isinstance(made_by, StateGraph) else None
    if cast is None:
        raise ContractError(
            "this graph has no cast: make it by graphs.conversation(cast), or compile graphs.builder(cast)"
        )
    return cast


def fuse(limits: Limits, graph: Compiled | None = None) -> int:
    """Most steps that a conversation within these limits can take: LangGraph's recursion limit for it.

    Only a guard against a stop criterion that never stops: what ends a conversation are the limits. `graph`: with nodes
    beside those of the cast, each of which may run once in a turn.
    """
    further = 0 if graph is None else len(graph.builder.nodes) - len(PLACES) - 1
    per_turn = 3 * limits.question_attempts + 3 * limits.answer_attempts + 1 + further
    return per_turn * (limits.max_turns or 1_000) + 10


def conversation(
    cast: Cast,
    *,
    after: Mapping[str, Mapping[str, Any]] | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    store: BaseStore | None = None,
    **options: Any,
) -> Compiled:
    """The cast's conversation as a compiled graph: `await graph.ainvoke({"scenario": ...}, context=Limits())`.

    `after`: as of `builder`. `options`: those of `StateGraph.compile`, such as `interrupt_before`.
    """
    return builder(cast, after).compile(
        checkpointer=checkpointer, store=store, name=f"{cast.name} conversation", **options
    )


async def who_begins(state: State) -> Literal["user", "assistant", "stop"]:
    """Who speaks first, or that a limit is reached already."""
    if state.get("stop"):
        return "stop"
    return "assistant" if awaits_answer(state) else "user"


async def after_verdict(state: State) -> Literal["accepted", "regenerate", "stop"]:
    """Where to go after drafts were judged; a stop that somebody sets in a checkpoint holds at once."""
    if state.get("stop"):
        return "stop"
    return "accepted" if state.get("drafts") is None else "regenerate"


async def after_turn(state: State) -> Literal["continue", "stop"]:
    """Whether there is another turn."""
    return "stop" if state.get("stop") else "continue"


@asynccontextmanager
async def world(cast: Cast, state: Mapping[str, Any], limits: Limits | None = None) -> AsyncIterator[Context]:
    """The context of one conversation of a cast with a world, which lives as long as the block.

    `state`: the graph's input. WorldError if the world cannot be set up, brought to the messages of a fork, or torn down.
    A draft that waits when an exception leaves the block is undone.
    """
    if cast.world is None:
        raise ContractError(
            f"the cast {cast.name!r} has no world: call its graph without a context, or with Limits(...)"
        )
    if not isinstance(state.get("scenario"), dict):
        raise ContractError("the graph's input has no 'scenario', from which the world is set up")
    speakers = {role: getattr(cast, place) for place, role in SPEAKERS.items()}
    async with living(cast.world, state["scenario"]) as live:
        context = Context.of((limits or cast.limits).or_else(cast.limits), live)
        messages = [recorded(one) for one in convert_to_messages(state.get("messages", []))]
        kept = {**state.get("origin", {}), **state, "messages": messages}
        await brought_to(typed(TodaysState, kept), context, speakers)
        try:
            yield context
        except Exception as error:
            await undone(context, error.update if isinstance(error, NodeError) else {})
            raise
