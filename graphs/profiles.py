"""The graph that makes user profiles: ask a model for one, validate it, then keep it or ask again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from ..data.recllmsim import Profile
from ..data.text.languages import Language
from ..nodes.models.specs import chat_model
from ..nodes.profiles import (
    ProfileLimits,
    ProfileNode,
    ProfilePrompts,
    ProfileProposer,
    ProfileState,
    ProfileValidator,
    Proposal,
    profile_keeper,
)
from ..prompts import Library
from .casts.registry import library

NAME = "profiles"
Inventor: TypeAlias = str | BaseChatModel
"""What writes the profiles: a model's spec, or a chat model."""
ProfileGraph: TypeAlias = CompiledStateGraph[ProfileState, ProfileLimits, ProfileState, ProfileState]


def generation(
    assistant: Inventor = "offline",
    *,
    language: Language = "en",
    prompts: str | Path | Library | None = None,
    validator: ProfileNode | None = None,
) -> ProfileGraph:
    """The graph with its nodes: `await graph.ainvoke(beginning(12), context=ProfileLimits())`.

    `prompts`: a folder whose pages replace the shipped ones of the same names, or a whole library.
    `validator`: your own in place of the shipped one.
    """
    pages = library(NAME, prompts, language)
    graph = StateGraph(ProfileState, context_schema=ProfileLimits)
    graph.add_node("prompt_selector", ProfilePrompts(pages, language))
    graph.add_node("proposer", ProfileProposer(chat_model(assistant, side="inventor"), pages))
    graph.add_node("profile_validator", validator or ProfileValidator(language))
    graph.add_node("keeper", profile_keeper)

    graph.add_edge(START, "prompt_selector")
    graph.add_edge("prompt_selector", "proposer")
    graph.add_edge("proposer", "profile_validator")
    graph.add_conditional_edges(
        "profile_validator", after_proposal, {"accepted": "keeper", "regenerate": "prompt_selector", "stop": END}
    )
    graph.add_conditional_edges("keeper", after_keeping, {"continue": "prompt_selector", "stop": END})
    return graph.compile(name=NAME)


def beginning(
    count: int,
    pool: Sequence[Profile] = (),
    *,
    accepted: Sequence[str] = (),
    rejected: Sequence[Proposal] = (),
    round: int = 0,
) -> ProfileState:
    """The initial state: how many profiles are wanted, and the ones that exist already.

    `accepted`, `rejected`, `round`: where an earlier run ended, to go on from there.
    """
    texts = [profile.text() for profile in pool]
    return {"wanted": count, "pool": texts, "kept": list(accepted), "rejected": list(rejected), "round": round}


async def after_proposal(state: ProfileState) -> Literal["accepted", "regenerate", "stop"]:
    """Where a judged proposal leads."""
    if state.get("stop"):
        return "stop"
    judged = state.get("judged")
    return "accepted" if judged and judged["verdict"] == "accepted" else "regenerate"


async def after_keeping(state: ProfileState) -> Literal["continue", "stop"]:
    """Whether another profile is wanted."""
    return "stop" if state.get("stop") else "continue"


def fuse(count: int, limits: ProfileLimits) -> int:
    """Most steps that making `count` profiles can take: LangGraph's recursion limit for it."""
    return (count + 1) * (3 * limits.attempts * limits.rounds + 1) + 10


graph = generation()
"""The graph with the embedded model, in English: for drawing."""
