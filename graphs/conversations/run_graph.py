"""The graph of a run: the topology, in stretches that are one step of LangGraph each.

A step of LangGraph costs more than the work of a selector or a validator in it. A stretch is a node with those that can
be reached only through it: the three of a role, and the recorder after the assistant's. Nothing can stand between them,
so states, edges and records are those of the graph as it is drawn. The drawn graph is for traced runs, and for graphs
that are called directly: streamed, checkpointed, forked.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import TypedDict

from ...nodes.limits import Limits
from ...nodes.state import NodePlace, State, merged
from .conversation_graph import Router, Step

Follow: TypeAlias = Callable[[State], None]
"""Called with the state after each place."""
Following: TypeAlias = Callable[[State], str]
"""The place after a place, or the end."""
DrawnStep: TypeAlias = StateGraph[Any, Any, Any, Any]
"""The topology with its steps, not yet compiled."""


class CarriedState(TypedDict):
    """The state of a conversation as one value: LangGraph looks after every key of a state at every step."""

    conversation: State


FOLLOW: ContextVar[Follow] = ContextVar("duologue_follow")
"""The callback for the states of the conversation that is under way. The graph's context belongs to the nodes."""

RunGraph: TypeAlias = CompiledStateGraph[CarriedState, Limits, CarriedState, CarriedState]


def following(drawn: DrawnStep) -> dict[str, Following]:
    """For each place the way on."""
    ways: dict[str, Following] = {source: _always(target) for source, target in drawn.edges}
    for source, branches in drawn.branches.items():
        for branch in branches.values():
            ways[source] = _decided(cast(Router, branch.path), cast("dict[str, str]", branch.ends))
    return ways


def stretches(drawn: DrawnStep) -> list[tuple[NodePlace, ...]]:
    """The places in stretches; each place but the first is reached only from its own stretch."""
    ways = [(source, target) for source, target in drawn.edges]
    ways += [
        (source, target)
        for source, branches in drawn.branches.items()
        for branch in branches.values()
        for target in (branch.ends or {}).values()
    ]
    arrivals = Counter(target for _, target in ways)
    before = {target: source for source, target in ways if arrivals[target] == 1 and source != START}

    def first(place: str) -> str:
        return first(before[place]) if place in before else place

    groups: dict[str, list[str]] = {}
    for place in drawn.nodes:
        groups.setdefault(first(place), []).append(place)
    return [cast("tuple[NodePlace, ...]", tuple(places)) for places in groups.values()]


def in_stretches(drawn: DrawnStep, steps: Mapping[NodePlace, Step], name: str) -> RunGraph:
    """The compiled graph of a run, with the steps of the places of a drawn graph."""
    graph = StateGraph(CarriedState, context_schema=Limits)
    ways = following(drawn)
    for places in stretches(drawn):
        graph.add_node(places[0], _stretch({place: steps[place] for place in places}, ways))
    graph.add_edge(START, next(target for source, target in drawn.edges if source == START))
    compiled = graph.compile(name=name)
    for place in graph.nodes:
        node = compiled.nodes[place]
        node.node = UntracedNode(node.bound, node.flat_writers)
    return compiled


def _stretch(steps: Mapping[NodePlace, Step], ways: Mapping[str, Following]) -> Any:
    first = next(iter(steps))
    inside = frozenset[str](steps) - {first}

    async def run(state: CarriedState, runtime: Runtime[Limits]) -> Command[str]:
        follow, conversation, place = FOLLOW.get(), state["conversation"], first
        while True:
            conversation = merged(conversation, await steps[place](conversation, runtime))
            follow(conversation)
            target = ways[place](conversation)
            if target not in inside:
                return Command(update={"conversation": conversation}, goto=target)
            place = cast(NodePlace, target)

    return run


def _always(target: str) -> Following:
    return lambda state: target


def _decided(router: Router, ends: Mapping[str, str]) -> Following:
    return lambda state: ends[router.decide(state)]


class UntracedNode(Runnable[Any, Any]):
    """A node of LangGraph with its writers, in the conversation's own task and without a run that traces could show."""

    def __init__(self, node: Runnable[Any, Any], writers: Sequence[Runnable[Any, Any]]) -> None:
        self.inner, self.writers = node, tuple(writers)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Nodes are async."""
        raise TypeError("the graph of a run is async: await ainvoke")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """The node's answer, which is also written to the state."""
        token = var_child_runnable_config.set(config)  # what the node calls belongs to this step, as in LangGraph's own
        try:
            answer = await self.inner.ainvoke(input, config)
        finally:
            var_child_runnable_config.reset(token)
        for writer in self.writers:
            await writer.ainvoke(answer, config)
        return answer
