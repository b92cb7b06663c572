"""The one topology: two trios of prompt selector, speaker and validator, and a recorder between turns."""

from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph

from ..nodes.limits import Limits
from ..nodes.state import State
from .cast import Cast
from .drawing import ConversationGraph, drawable
from .seats import seat


def conversation(cast: Cast, *, checkpointer: BaseCheckpointSaver[Any] | None = None) -> ConversationGraph:
    """The cast's conversation as a compiled graph: `await graph.ainvoke(scenario, context=Limits())`."""
    graph = StateGraph(State, context_schema=Limits)

    graph.add_node("user_prompt_selector", seat("user_prompt_selector", cast))
    graph.add_node("user_simulator", seat("user_simulator", cast))
    graph.add_node("question_validator", seat("question_validator", cast))
    graph.add_node("assistant_prompt_selector", seat("assistant_prompt_selector", cast))
    graph.add_node("assistant", seat("assistant", cast))
    graph.add_node("answer_validator", seat("answer_validator", cast))
    graph.add_node("turn_recorder", seat("turn_recorder", cast))
    graph.add_node("closing", seat("closing", cast))

    graph.add_edge(START, "user_prompt_selector")
    graph.add_edge("user_prompt_selector", "user_simulator")
    graph.add_edge("user_simulator", "question_validator")
    graph.add_conditional_edges(
        "question_validator",
        after_question,
        {"accepted": "assistant_prompt_selector", "regenerate": "user_prompt_selector", "stop": "closing"},
    )
    graph.add_edge("assistant_prompt_selector", "assistant")
    graph.add_edge("assistant", "answer_validator")
    graph.add_conditional_edges(
        "answer_validator",
        after_answer,
        {"accepted": "turn_recorder", "regenerate": "assistant_prompt_selector", "stop": "closing"},
    )
    graph.add_conditional_edges("turn_recorder", after_turn, {"continue": "user_prompt_selector", "stop": "closing"})
    graph.add_edge("closing", END)

    return drawable(graph.compile(checkpointer=checkpointer, name=f"{cast.name} conversation"))


async def after_question(state: State) -> Literal["accepted", "regenerate", "stop"]:
    """Where a judged turn of the user leads."""
    return _after(state)


async def after_answer(state: State) -> Literal["accepted", "regenerate", "stop"]:
    """Where a judged turn of the assistant leads."""
    return _after(state)


async def after_turn(state: State) -> Literal["continue", "stop"]:
    """Whether there is another exchange."""
    return "stop" if state.get("stop") else "continue"


def _after(state: State) -> Literal["accepted", "regenerate", "stop"]:
    """Verdicts that stand in the state are those of a rejected turn; what was said has none left."""
    if state.get("stop"):
        return "stop"
    return "regenerate" if state.get("verdicts") else "accepted"


def fuse(limits: Limits) -> int:
    """Steps that a conversation within these limits can take: LangGraph's recursion limit for it.

    A fuse against a criterion that never stops, not a policy: the policy is the limits themselves.
    """
    per_turn = 3 * limits.question_attempts + 3 * limits.answer_attempts + 1
    return per_turn * (limits.max_turns or 1_000) + 10
