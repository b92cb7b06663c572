"""The floor of a test: how many of its scenarios an agent reaches that does nothing.

In tau2-bench's airline domain doing nothing succeeds in 19 of 50 tasks. An agent that only says "I cannot help with
that" and one that says nothing have the same scenarios, worlds and scorers, and the rule-based user: no model is asked.
"""

from dataclasses import replace
from typing import Any

from ..analysis.outcomes import outcome
from ..analysis.testing.success import Floor
from ..data.identity import digest
from ..errors import DuologueError
from ..graphs import agent_test
from ..graphs.scenarios.sources import Scenarios
from ..nodes.scorers.success import KEY, named
from ..nodes.state import Planned
from ..nodes.validators import validator
from ..runs.settings import RunSettings
from ..runs.simulate import arun
from .agent_trials import AgentTest

CANNOT = {"en": "I cannot help with that.", "zh": "这个我帮不了您。"}


async def floor_of(trial: AgentTest) -> Floor | None:
    """The successes of both null agents, a conversation a scenario; None where that cannot be measured.

    Only scenarios count whose `success` needs no judge, and only in the cast that tests agents: another one's nodes may
    ask a model. What their world or scorers raise leaves no floor, since it is reported of the agent itself.
    """
    states: dict[str, Planned] = {}
    for state in trial.scenarios.states:
        success = state["scenario"].get(KEY)
        if success and not any(name == "judged" for _, name, _ in named(success)):
            states.setdefault(digest(state["scenario"]), {**state, "repeat": 0})
    if trial.cast.name != agent_test.NAME or not states:
        return None
    settings = getattr(trial.cast.spec, "settings", {})
    says = CANNOT["zh" if settings.get("language") == "zh" else "en"]
    found: dict[str, int] = {}
    for name, text in (("refusing", says), ("silent", "...")):  # an empty reply would end the conversation as an error
        try:
            found[name] = await _successes(trial, [*states.values()], text)
        except DuologueError:
            return None
    return Floor(scenarios=len(states), **found)


async def _successes(trial: AgentTest, states: list[Planned], text: str) -> int:
    def null_agent(messages: list[dict[str, Any]]) -> str:
        return text

    cast = trial.cast.replace(
        user_simulator="offline",
        assistant=null_agent,
        answer_validator=validator(lambda draft, state: None),
        context=None,
        approve=None,
    )
    run = await arun(
        {"": cast}, Scenarios(states, {}), RunSettings(progress=False), limits=replace(trial.limits, max_turns=3)
    )
    return sum(outcome(one).success is True for one in run.attempted())
