"""The graph of a run: the topology, with the places that only follow each other as one step of LangGraph.

A step of LangGraph costs more than all that a selector or a validator does in it. Who traces a run, checkpoints a
conversation or streams it gets the graph as it is drawn; states, edges and records are the same in both.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from typing import cast as typed

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from ..nodes.limits import Limits
from ..nodes.state import Place, State, merged
from .topology import Router, Step

Follow: TypeAlias = Callable[[State], None]
"""Is told the state after each place."""


class Carried(TypedDict):
    """The state of a conversation as one value: LangGraph looks after every key of a state at every step."""

    conversation: State


@dataclass(frozen=True)
class Followed:
    """The context of a run's conversation: the limits of its nodes, and who is told its states."""

    limits: Limits
    follow: Follow


RunGraph: TypeAlias = CompiledStateGraph[Carried, Followed, Carried, Carried]


def rows(drawn: StateGraph[Any, Any, Any, Any]) -> list[tuple[Place, ...]]:
    """The places of a graph, in rows: a place that always follows one other place, and no third, is in its row."""
    ways = [(source, target) for source, target in drawn.edges]
    ways += [
        (source, target)
        for source, branches in drawn.branches.items()
        for branch in branches.values()
        for target in (branch.ends or {}).values()
    ]
    arrivals, departures = Counter(target for _, target in ways), Counter(source for source, _ in ways)
    following = {
        source: target
        for source, target in drawn.edges
        if source != START and target != END and departures[source] == 1 and arrivals[target] == 1
    }
    found: list[tuple[Place, ...]] = []
    for first in drawn.nodes:
        if first not in following.values():
            row = [first]
            while row[-1] in following:
                row.append(following[row[-1]])
            found.append(typed("tuple[Place, ...]", tuple(row)))
    return found


def in_rows(drawn: StateGraph[Any, Any, Any, Any], steps: Mapping[Place, Step], name: str) -> RunGraph:
    """The compiled graph of a run, with the steps of the places of a drawn graph."""
    graph = StateGraph(Carried, context_schema=Followed)
    row_with: dict[str, str] = {START: START, END: END}
    for row in rows(drawn):
        graph.add_node(row[0], _row([steps[place] for place in row]))
        row_with |= dict.fromkeys(row, row[0])
    for source, target in sorted(drawn.edges):
        if row_with[source] != row_with[target]:
            graph.add_edge(row_with[source], row_with[target])
    for source, branches in drawn.branches.items():
        for branch in branches.values():
            graph.add_conditional_edges(row_with[source], _of_conversation(branch.path), typed(Any, branch.ends))
    return graph.compile(name=name)


def _row(steps: Sequence[Step]) -> Any:
    async def run(state: Carried, runtime: Runtime[Followed]) -> Carried:
        followed, conversation = runtime.context, state["conversation"]
        own = typed("Runtime[Limits]", runtime.override(context=typed(Any, followed.limits)))
        for step in steps:
            conversation = merged(conversation, await step(conversation, own))
            followed.follow(conversation)
        return {"conversation": conversation}

    return run


def _of_conversation(path: Any) -> Any:
    if not isinstance(path, Router):
        raise TypeError("an edge of the topology is decided by a Router")
    decide = path.decide

    def decided(state: Any) -> str:
        return decide(state["conversation"])

    return Router(decided)
