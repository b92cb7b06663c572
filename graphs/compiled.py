"""A cast's conversation as a compiled graph, which draws itself without a network."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from ..data.records import Conversation
from ..nodes.limits import Limits
from ..nodes.state import State
from .cast import Cast
from .recording import record
from .steps import step
from .topology import topology

Compiled: TypeAlias = CompiledStateGraph[State, Limits, State, State]


class ConversationGraph(Compiled):
    """A compiled conversation. As the last line of a notebook's cell it draws itself without a network, and it
    makes records of its own states."""

    def __init__(self, *, cast_name: str, **attributes: Any) -> None:
        super().__init__(**attributes)  # LangGraph copies a graph by its attributes, for example in `with_config`
        self.cast_name = cast_name

    def record(self, state: State | Mapping[str, Any]) -> Conversation:
        """The conversation of any state of this graph: initial, intermediate or final."""
        return record(state, self.cast_name)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # LangGraph's own asks a public web service for a picture: offline the cell would fail. The drawing is `views`'.
        return {"text/plain": mermaid(self)}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cast_name})"


def conversation(cast: Cast, *, checkpointer: BaseCheckpointSaver[Any] | None = None) -> ConversationGraph:
    """The cast's conversation as a compiled graph: `await graph.ainvoke(scenario, context=Limits())`."""
    graph = topology(lambda place: step(place, cast))
    compiled = graph.compile(checkpointer=checkpointer, name=f"{cast.name} conversation")
    return ConversationGraph(cast_name=cast.name, **vars(compiled))


def fuse(limits: Limits) -> int:
    """Most steps that a conversation within these limits can take: LangGraph's recursion limit for it.

    Only a guard against a stop criterion that never stops: what ends a conversation are the limits.
    """
    per_turn = 3 * limits.question_attempts + 3 * limits.answer_attempts + 1
    return per_turn * (limits.max_turns or 1_000) + 10


def mermaid(graph: CompiledStateGraph[Any, Any, Any, Any]) -> str:
    """The graph as mermaid text; its conditional edges are labelled with the router's answer."""
    return graph.get_graph().draw_mermaid()
