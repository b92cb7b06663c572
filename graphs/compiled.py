"""A cast's conversation as a compiled graph."""

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from ..nodes.limits import Limits
from .cast import Cast
from .conversation import topology
from .drawing import ConversationGraph, drawable
from .seats import seat


def conversation(cast: Cast, *, checkpointer: BaseCheckpointSaver[Any] | None = None) -> ConversationGraph:
    """The cast's conversation as a compiled graph: `await graph.ainvoke(scenario, context=Limits())`."""
    graph = topology(lambda place: seat(place, cast))
    return drawable(graph.compile(checkpointer=checkpointer, name=f"{cast.name} conversation"))


def fuse(limits: Limits) -> int:
    """Steps that a conversation within these limits can take: LangGraph's recursion limit for it.

    A fuse against a criterion that never stops, not a policy: the policy is the limits themselves.
    """
    per_turn = 3 * limits.question_attempts + 3 * limits.answer_attempts + 1
    return per_turn * (limits.max_turns or 1_000) + 10
