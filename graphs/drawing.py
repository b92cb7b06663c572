"""Drawing a graph as mermaid text, which JupyterLab shows without a network."""

from typing import Any, TypeAlias, cast

from langgraph.graph.state import CompiledStateGraph

from ..nodes.limits import Limits
from ..nodes.state import State

Compiled: TypeAlias = CompiledStateGraph[State, Limits, State, State]


class ConversationGraph(Compiled):
    """A compiled conversation that draws itself offline as the last line of a notebook's cell."""

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
