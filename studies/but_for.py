"""But-for faults: a failed conversation is run again with one part put right, and the fault is the part that mends it.

A record that is replayed with nothing changed must give itself. Then each part is put right alone (`nodes.interventions`): the
user's wrong messages, the agent from its first wrong act on, the tools by a specified world. The part that alone mends is
at fault; where several mend, only a pair does, or none does, the fault is undecided. The scenario is at fault only by
proof: its plan needs a value that neither its user nor a tool has.

Agents and users run again from the start, with the replies that are kept: of a run without models a failure costs one
conversation a part.
"""

import shutil
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias

from ..analysis.faults import Whose
from ..analysis.outcomes import outcome
from ..analysis.testing.failures import ButFor
from ..data.records import Conversation, as_list, as_object
from ..data.text.values import holds, scalars
from ..errors import DuologueError
from ..graphs.scenarios.sources import Scenarios
from ..nodes.interventions import FAILED, RepairedAgent, RepairedUser
from ..nodes.oracle import AgentTools, tools_in
from ..nodes.state import Planned
from ..nodes.worlds import World
from ..runs.engine import planned
from ..runs.plan import asks_model
from ..runs.settings import REPLIES, RunSettings
from ..runs.simulate import arun
from ..runs.store import name_of
from .agent_trials import AgentTest

Part: TypeAlias = Literal["user", "assistant", "tools"]
REPEATS = 3
"""Runs of a repair where a model takes part; of rules one is enough."""


async def faults_of(
    trial: AgentTest, failed: Iterable[Conversation], *, specified: World | None = None, run: Path | None = None
) -> dict[str, ButFor]:
    """Whose fault each failed conversation of a test is, by its id.

    `specified`: a world whose tools do what they should; without one no fault of the tools is found. `run`: the folder
    with the replies that are kept.
    """
    states = {name_of(state): state for state in planned(trial.cast, trial.scenarios.states)}
    found = {}
    for talk in failed:
        with TemporaryDirectory() as folder:
            if run is not None and (run / REPLIES).is_file():
                shutil.copy(run / REPLIES, folder)
            settings = RunSettings(progress=False, replies=Path(folder) / REPLIES)
            repairs = _Repairs(trial, talk, states[talk.id], specified, settings)
            fault, because = await repairs.fault()
        found[talk.id] = ButFor(id=talk.id, fault=fault, because=because, conversations=repairs.begun)
    return found


class _Repairs:
    """The repairs of one failed conversation."""

    def __init__(
        self, trial: AgentTest, talk: Conversation, state: Planned, specified: World | None, settings: RunSettings
    ) -> None:
        self.cast, self.limits, self.talk, self.state = trial.cast, trial.limits, talk, state
        self.specified, self.settings = specified, settings
        self.begun = 0
        self.tools = AgentTools(())
        used = any(attempt.usage is not None for attempt in talk.attempts("assistant"))
        self.runs = REPEATS if used or asks_model(trial.cast.nodes["user_simulator"]) else 1
        self.because: dict[Part, str] = {}

    async def fault(self) -> tuple[Whose, str]:
        """The fault, and why."""
        plan, shown = as_list(self.talk.scenario.get("plan")), outcome(self.talk).fault
        if not plan:
            return self._by_rules("the scenario has no plan (duologue scenarios)")
        if self.talk.scenario.get("script"):
            return self._by_rules("a script fixes its user's messages")
        if shown == "infrastructure":
            return self._by_rules("what failed is around the agent")
        speaker = self.cast.nodes["assistant"]
        try:
            tools = tools_in(getattr(speaker, "agent", None), "why")
            self.tools = replace(tools, context=getattr(speaker, "context", None))
        except DuologueError:
            return self._by_rules("its tools cannot be called apart from it: give the agent as a LangGraph graph")
        parts: tuple[Part, ...] = ("user", "assistant", *(("tools",) if self.specified is not None else ()))
        again, _ = await self._run(())
        if _content(again) != _content(self.talk):
            return self._by_rules("replayed with nothing changed it is another conversation")
        return await self._by_repairs(parts, plan, shown)

    async def _by_repairs(self, parts: tuple[Part, ...], plan: list[Any], shown: Whose) -> tuple[Whose, str]:
        """The fault by the repair of each part, and of pairs; `shown`: the fault by structure."""
        ideal, proven = await self._run(parts, whole=True)
        if value := self._missing(plan, ideal):
            because = f"its plan needs {value!r}, which neither its user nor a tool has"
            return (
                ("scenario", because) if shown == "undecided" else ("undecided", f"{because}; by structure the {shown}")
            )
        if not proven:
            return self._of_user_or_undecided(shown, "an ideal user and the plan are not shown to succeed")
        alone = [part for part in parts if await self._mends((part,))]
        if alone == ["assistant"] and self.because["assistant"] == FAILED and shown != "assistant":
            return "undecided", "the agent's turn failed, and so did a tool, or what it needs may be away"
        if len(alone) == 1 and shown in ("user", "assistant") and shown != alone[0]:
            return "undecided", f"by structure the {shown}; by its repair the {alone[0]}: {self.because[alone[0]]}"
        if len(alone) == 1:
            return alone[0], self.because[alone[0]]
        if alone:
            return "undecided", f"{' or '.join(alone)}: the repair of each mends it"
        pairs = [" and ".join(pair) for pair in combinations(parts, 2) if await self._mends(pair)]
        if pairs:
            return "undecided", f"{', or '.join(pairs)}: only the repair of both mends it"
        return self._of_user_or_undecided(shown, "no repair mends it")

    def _of_user_or_undecided(self, shown: Whose, reason: str) -> tuple[Whose, str]:
        """The user's fault that structure shows, which needs no repair to be one; else undecided for a reason."""
        return self._by_rules(reason) if shown == "user" else ("undecided", reason)

    def _by_rules(self, reason: str) -> tuple[Whose, str]:
        """The fault by structure, where repairs do not say it for a reason."""
        result = outcome(self.talk)
        shown = "" if result.cause is None else result.cause.because
        return result.fault, "; ".join(filter(None, [shown, f"not by repairs: {reason}"]))

    def _missing(self, plan: list[Any], ideal: Conversation) -> Any:
        """A value of the plan that neither the scenario's user nor a result of a tool has; None if there is none."""
        brief = repr([self.talk.scenario.get(key) for key in ("goal", "facts", "persona", "first_message")])
        calls = [call for talk in (self.talk, ideal) for one in talk.attempts("assistant") for call in one.tool_calls]
        for step in plan:
            for value in scalars(as_object(as_object(step).get("arguments"))):
                earlier = repr([call.result for call in calls if call.name != as_object(step).get("name")])
                if not isinstance(value, bool) and not holds(brief, value) and not holds(earlier, value):
                    return value
        return None

    async def _mends(self, parts: tuple[Part, ...]) -> bool:
        """Whether at least half of the runs with these parts put right succeed; not where nothing was put right."""
        reached = 0
        for _ in range(self.runs):
            _, success = await self._run(parts)
            if not all(self.because.get(part) for part in parts):
                return False
            reached += success
        return 2 * reached >= self.runs

    async def _run(self, parts: tuple[Part, ...], *, whole: bool = False) -> tuple[Conversation, bool]:
        changes: dict[str, Any] = {}
        user = RepairedUser(self.cast.nodes["user_simulator"], whole=whole)
        agent = RepairedAgent(self.cast.nodes["assistant"], self.tools, whole=whole)
        if "user" in parts:
            changes["user_simulator"] = user
        if "assistant" in parts:
            changes |= {"assistant": agent, "context": None, "approve": None}
        if "tools" in parts:
            changes["world"] = self.specified
        self.begun += 1
        cast = self.cast.replace(**changes)
        run = await arun({"": cast}, Scenarios([self.state], {}), self.settings, limits=self.limits)
        (talk,) = run.records()
        put_right = {"user": user.because, "assistant": agent.because, "tools": "the tools by the specified world"}
        self.because |= {part: put_right[part] for part in parts}
        return talk, outcome(talk).success is True


def _content(talk: Conversation) -> list[Any]:
    """What must be equal in a replay: messages, calls and results."""
    calls = [[(call.name, call.arguments, call.result, call.error) for call in one.tool_calls] for one in talk.messages]
    return [[(one.role, one.text) for one in talk.messages], calls, talk.stop]
