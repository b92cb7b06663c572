"""Whether what counts as success can be scored, checked before the first call of a run."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

from ...data import domains
from ...data.scenarios import tools_in_success
from ...errors import SettingError
from ...nodes.scorers.combined import scorers_of
from ...nodes.scorers.outcomes import FinalState, ToolCalled
from ...nodes.scorers.scenario_success import KEY, unscorable
from ...nodes.scorers.scores import SUCCESS, Scoring
from ...nodes.speakers.agents import AgentSpeaker
from ...nodes.speakers.speaker import ChatSpeaker, FunctionSpeaker
from ...nodes.speakers.tools import tools_of
from ...nodes.state import Planned
from .cast import Cast

NO_STATE = (
    "compares a state that nothing gives: give the cast a world (world=, --world MODULE:NAME), or the agent "
    "AgentSpeaker(keep=...)"
)


def check_success(cast: Cast, states: Iterable[Planned]) -> None:
    """SettingError for a `success`, of the cast or of a scenario, that cannot be scored."""
    has_state = cast.world is not None or not _keeps_nothing(cast.assistant)
    own = cast.closing.scorers.get(SUCCESS) if isinstance(cast.closing, Scoring) else None
    if not has_state and any(isinstance(scorer, FinalState) for scorer in scorers_of(own)):
        raise SettingError(f"closing: the scorer {SUCCESS!r}: final_state {NO_STATE}")
    tools = [name for name, _ in tools_of(getattr(cast.assistant, "agent", None))]
    for scorer in scorers_of(own) if tools else ():
        if isinstance(scorer, ToolCalled):
            _check_tool(scorer.name, tools, f"closing: the scorer {SUCCESS!r}")
    for state in states:
        for path, name in tools_in_success(state["scenario"].get(KEY)) if tools else ():
            _check_tool(name, tools, f"{_named(state)}: {path}")
        for path, name in unscorable(state["scenario"].get(KEY)):
            if name == "judged":
                raise SettingError(f"{_named(state)}: {path}: names no model to judge: give it 'model'")
            if not has_state:
                raise SettingError(f"{_named(state)}: {path}: {NO_STATE}")


def _check_tool(name: str, tools: Collection[str], where: str) -> None:
    """SettingError for a name that is like a tool of the agent, and is none.

    Other names are taken: a node of the agent may call tools that it does not show.
    """
    if name not in tools and (like := get_close_matches(name, tools, 1)):
        raise SettingError(f"{where}: the agent has no tool {name!r}: did you mean {like[0]!r}?")


def _named(state: Planned) -> str:
    """The scenario of a state by its title: a number would count the repeats of others too."""
    title = domains.of(state["scenario"]).title(state["scenario"])
    return f"scenario {title!r}" if title else "a scenario without a title"


def _keeps_nothing(assistant: Any) -> bool:
    """Whether an assistant is known to record no channels; a node of somebody else's may."""
    if isinstance(assistant, AgentSpeaker):
        return not assistant.keep
    return isinstance(assistant, (ChatSpeaker, FunctionSpeaker))
