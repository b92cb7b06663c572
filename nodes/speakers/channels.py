"""The channels of an agent's state: which it has, and with which a conversation begins."""

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel

from ...data.records import Role
from ..contract import ContractError
from ..state import State, memory_of

CHANNELS = "channels"
"""Key of a side's memory for the channels with which its agent continues."""

Start: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]
"""A function from the scenario to the first channels of an agent's state."""


def channels_of(agent: Pregel[Any, Any, Any, Any]) -> list[str]:
    """Names of the graph's channels, without LangGraph's internal ones."""
    return sorted(str(name) for name in agent.channels if not str(name).startswith(("_", "branch:")))


def first_channels(role: Role, agent: object, start: Start | None, state: State) -> dict[str, Any]:
    """The channels that an agent is sent besides messages: those of a start, and the kept ones over them."""
    stored: dict[str, Any] = memory_of(state, role).get(CHANNELS, {})
    return start_channels(role, agent, start, state["scenario"]) | stored


def start_channels(role: Role, agent: object, start: Start | None, scenario: dict[str, Any]) -> dict[str, Any]:
    """The first channels of a conversation about the scenario; ContractError if the agent has no such channels."""
    if start is None:
        return {}
    channels = start(copy.deepcopy(scenario))
    if not isinstance(channels, Mapping):
        raise ContractError(f"{role}: expected 'start' to give an object of channels, got {type(channels).__name__}")
    check_channels(role, agent, "start", channels)
    return copy.deepcopy(dict(channels))  # conversations must not share mutable objects


def check_channels(role: Role, agent: object, what: str, names: Iterable[str]) -> None:
    """Raises ContractError for a name that is not an input channel of the graph; other agents are not checked."""
    if not isinstance(agent, Pregel):
        return
    channels = channels_of(agent)
    for name in names:
        if name not in channels:
            raise ContractError(f"{role}: {what}: the agent's state has no {name!r}, only {', '.join(channels)}")
        if isinstance(agent, CompiledStateGraph):
            taken = agent.builder.schemas[agent.builder.input_schema]
            if name not in taken:
                raise ContractError(
                    f"{role}: {what}: the agent's input has no {name!r}, only {', '.join(sorted(taken))}: "
                    "it could not go on from it"
                )
