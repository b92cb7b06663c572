"""A cast's conversation as a LangGraph graph: its topology, and the world that it runs in."""

from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeAlias
from typing import cast as typed
from weakref import WeakKeyDictionary

from langchain_core.messages import convert_to_messages
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from ..data.executed_graph import GOES_ON, SPEAKERS, WAYS
from ..nodes.contract import ContractError
from ..nodes.limits import Limits
from ..nodes.state import PLACES, State, given
from ..nodes.worlds import Context, check_fork, living
from .casts.cast import Cast
from .places import further_place, opening_place, place
from .records import NodeFailedError, awaits_answer, record_of, restore_world

Builder: TypeAlias = StateGraph[State, Limits, State, State]
Compiled: TypeAlias = CompiledStateGraph[State, Limits, State, State]

_CASTS: WeakKeyDictionary[Any, Cast] = WeakKeyDictionary()
"""The cast of each builder, which a graph keeps when it is compiled, configured or copied."""


def who_begins(state: State) -> Literal["user", "assistant", "stop"]:
    """Who speaks first, or that a limit is reached already."""
    if state.get("stop"):
        return "stop"
    return "assistant" if awaits_answer(state) else "user"


def after_verdict(state: State) -> Literal["accepted", "regenerate", "stop"]:
    """Where to go after drafts were judged; a stop that somebody sets in a checkpoint holds at once."""
    if state.get("stop"):
        return "stop"
    return "accepted" if state.get("drafts") is None else "regenerate"


def after_turn(state: State) -> Literal["continue", "stop"]:
    """Whether there is another turn."""
    return "stop" if state.get("stop") else "continue"


ROUTERS = {
    "opening": who_begins,
    "question_validator": after_verdict,
    "answer_validator": after_verdict,
    "turn_recorder": after_turn,
}
"""What answers where to go on, of the nodes from which there are several ways."""


def builder(cast: Cast, after: Mapping[str, Mapping[str, Any]] | None = None) -> Builder:
    """The graph of a cast's conversations, not yet compiled.

    It is a `StateGraph`: change it as any other, and compile it. `after`: further nodes by the node after which they
    stand, such as `{"turn_recorder": {"moderator": node}}` (`places.further_place`); several come in their order.
    """
    further = after or {}
    if wrong := sorted(set(further) - set(GOES_ON)):
        raise ContractError(f"after: further nodes stand after {', '.join(GOES_ON)}, not after {wrong[0]!r}")
    if wrong := [name for name, named in further.items() if not isinstance(named, Mapping)]:
        raise ContractError(f"after: {wrong[0]}: expected further nodes by their names")
    graph = StateGraph(State, context_schema=Limits)
    graph.add_node("opening", opening_place(cast, further))
    for name in PLACES:
        graph.add_node(name, place(name, cast))
    for source, ways in WAYS.items():
        own = typed(dict[Hashable, str], {**ways})
        if source in further:
            own[GOES_ON[source]] = _with_further(graph, cast, further[source], ways[GOES_ON[source]])
        if source in ROUTERS:
            graph.add_conditional_edges(source, ROUTERS[source], own)
        else:
            graph.add_edge(source, ways[""])
    _CASTS[graph] = cast
    return graph


def _with_further(graph: Builder, cast: Cast, nodes: Mapping[str, Any], target: str) -> str:
    """Add further nodes that lead to a target, in their order; the first of them."""
    for name, node in reversed([*nodes.items()]):
        if name in graph.nodes:
            raise ContractError(f"after: there are two nodes {name!r}")
        graph.add_node(name, further_place(name, node, cast, target, graph.nodes), destinations=(target, "closing"))
        target = name
    return target


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


def conversation(cast: Cast, *, after: Mapping[str, Mapping[str, Any]] | None = None, **options: Any) -> Compiled:
    """The cast's conversation as a compiled graph: `await graph.ainvoke({"scenario": ...}, context=Limits())`.

    `after`: as of `builder`. `options`: those of `StateGraph.compile`, such as `checkpointer` and `interrupt_before`.
    """
    return builder(cast, after).compile(**{"name": f"{cast.name} conversation", **options})


@asynccontextmanager
async def world(cast: Cast, state: Mapping[str, Any], limits: Limits | None = None) -> AsyncIterator[Context]:
    """The context of one conversation of a cast with a world, which lives as long as the block.

    `state`: the graph's input. WorldError if the world cannot be set up or torn down, or lacks what a fork's kept
    messages did.
    A draft that waits when an exception leaves the block is undone.
    """
    if cast.world is None:
        raise ContractError(
            f"the cast {cast.name!r} has no world: call its graph without a context, or with Limits(...)"
        )
    if not isinstance(state.get("scenario"), dict):
        raise ContractError("the graph's input has no 'scenario', from which the world is set up")
    speakers = {role: cast.nodes[place] for place, role in SPEAKERS.items()}
    async with living(cast.world, state["scenario"]) as live:
        context = Context.of((limits or cast.limits).or_else(cast.limits), live)
        plain = [record_of(one) for one in convert_to_messages(state.get("messages", []))]
        messages, attempts = given(plain, "")
        kept = {**state, "messages": messages, "attempts": attempts}
        check_fork(typed(State, kept), speakers)
        try:
            yield context
        except Exception as error:
            await restore_world(context, error.update if isinstance(error, NodeFailedError) else {})
            raise
