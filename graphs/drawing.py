"""Drawing a graph as mermaid text, which JupyterLab shows without a network."""

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from langgraph.graph.state import CompiledStateGraph

from ..data.records import Conversation
from ..nodes.limits import Limits
from ..nodes.state import State
from .recording import record

Compiled: TypeAlias = CompiledStateGraph[State, Limits, State, State]


class ConversationGraph(Compiled):
    """A compiled conversation that draws itself offline as the last line of a notebook's cell, and makes
    records of its states, so that who is given the graph alone can show what happens in it."""

    def record(self, state: State | Mapping[str, Any]) -> Conversation:
        """The conversation of a state that this graph gave, whatever state it is."""
        return record(state)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # LangGraph's own asks a public web service for a picture: offline the cell would fail.
        text = mermaid(self)
        return {"text/vnd.mermaid": text, "text/plain": text}


def drawable(graph: Compiled) -> ConversationGraph:
    """The same graph, drawing itself offline."""
    graph.__class__ = ConversationGraph
    return cast(ConversationGraph, graph)


def mermaid(graph: CompiledStateGraph[Any, Any, Any, Any]) -> str:
    """The graph as mermaid text, its conditional edges labelled with what leads there."""
    return graph.get_graph().draw_mermaid()
