"""The proof of a scenario: a plan that fulfils its success, or that it must be refused."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...data.attempts import is_object
from ...data.test_design.case_space import AMBIGUOUS, FORBIDDEN, MISSING, OUT_OF_RANGE, DesignedCase
from ...errors import DuologueError
from ..scorers.differences import plain
from ..scorers.scores import SUCCESS, tried
from ..scorers.success import success_of
from ..state import State, state_from
from ..worlds import World, living, state_of
from .agent_tools import AgentTools, PlayedCall
from .search import FoundPlan, KnownValues, PlanSearch, SearchBounds

OracleVerdict: TypeAlias = Literal["possible", "must be refused", "not decided"]

MOST_STATE = 20_000
"""Most characters of a world's state in a scenario; of a larger one `success` names calls only."""
REFUSAL = {"en": "I am sorry, that cannot be done.", "zh": "很抱歉，这个无法办理。"}
"""What an agent says that refuses, in the proof that this fulfils `success`."""


@dataclass(frozen=True)
class ScenarioProof:
    """What the oracle found for a scenario."""

    verdict: OracleVerdict
    success: Mapping[str, Any]
    because: str = ""
    """Why it must be refused, or is not decided."""
    plan: tuple[Mapping[str, Any], ...] = ()
    """The calls of a possible scenario, each with `name` and `arguments`."""

    @property
    def plain(self) -> dict[str, Any]:
        """For the scenario's line."""
        more = {"because": self.because} if self.because else {"calls": len(self.plan), "plan": list(self.plan)}
        return {"verdict": self.verdict, **more}


@dataclass(frozen=True)
class Oracle:
    """Proves scenarios with an agent's tools in fresh worlds."""

    tools: AgentTools
    world: World | None
    language: str = "en"
    bounds: SearchBounds = field(default_factory=SearchBounds)

    async def proof(self, case: DesignedCase, scenario: Mapping[str, Any]) -> ScenarioProof:
        """The proof of a designed scenario, whose `success` follows from it."""
        if self.world is None:
            return self._undecided(case, "there is no world to play in (--world)")
        if lacking := [tool.name for tool in self.tools.schemas if tool.name not in self.tools.nodes]:
            return self._undecided(case, f"the tool {lacking[0]} has no code to call, only a schema")
        try:
            return await self._played(case, scenario, self.world)
        except DuologueError as error:
            return self._undecided(case, " ".join(str(error).split()))

    async def _played(self, case: DesignedCase, scenario: Mapping[str, Any], world: World) -> ScenarioProof:
        before = await self._state(world, scenario, ())
        if before is None:
            return self._undecided(case, "the world has no state that JSON can hold: give it a method state()")
        if before != await self._state(world, scenario, ()):
            return self._undecided(case, "two fresh worlds of the scenario differ")
        search = await self._plan(case, scenario, world)
        if case.is_forbidden:
            because = f"{case.rule.short}" if case.rule else "a rule"
            return await self._refusal(case, scenario, before, because, search)
        if search.calls is None:
            if search.bound:
                return self._undecided(case, f"no plan was found before the bound: {search.bound}")
            because = f"no plan of at most {self.bounds.depth} calls, all {search.plays} were tried"
            return await self._refusal(case, scenario, before, because, None)
        if case.kind == OUT_OF_RANGE:
            return self._undecided(case, f"{case.tool.name} takes a value that is out of its range: {case.value}")
        return await self._possible(case, scenario, before, search.calls)

    async def _plan(self, case: DesignedCase, scenario: Mapping[str, Any], world: World) -> FoundPlan:
        """A plan that ends with the call that the user asks for: one of one's own, else the shortest."""
        target = plain(case.arguments)

        async def reached(calls: Sequence[PlayedCall], live: Any) -> bool:
            last = calls[-1]
            return last.name == case.tool.name and last.error is None and plain(last.arguments) == target

        if case.example.plan and case.kind != OUT_OF_RANGE and case.kind != MISSING:
            own = [(str(call["name"]), dict(call.get("arguments") or {})) for call in case.example.plan]
            async with living(world, scenario) as live:
                calls = [await self.tools.play(name, arguments, live) for name, arguments in own]
            if calls and await reached(calls, None):
                return FoundPlan(tuple(calls), plays=len(calls))
        return await PlanSearch(self.tools, world, scenario, known_values(case), self.bounds).plan(reached)

    async def _possible(
        self, case: DesignedCase, scenario: Mapping[str, Any], before: Any, calls: Sequence[PlayedCall]
    ) -> ScenarioProof:
        assert self.world is not None
        after = await self._state(self.world, scenario, calls)
        if after != await self._state(self.world, scenario, calls):
            return self._undecided(case, "the same calls lead two fresh worlds to different states")
        success: dict[str, Any] = {}
        success |= exact_state(after)
        if after != before:  # a second change may lead to the same state
            twice = {"name": case.tool.name, "arguments": plain(case.arguments), "times": 2}
            success["not"] = {"tool_called": twice}
        if after == before or "final_state_exactly" not in success:
            success["tool_called"] = {"name": case.tool.name, "arguments": plain(case.arguments)}
            if after == before and (values := result_values(calls[-1].result, case.arguments)):
                success["text_contains"] = {"any": values}
        if not await self.fulfils(scenario, success, calls, said_of(calls)):
            return self._undecided(case, "the plan does not fulfil the success that follows from it")
        return ScenarioProof("possible", success, plan=tuple(call.plain for call in calls))

    async def _refusal(
        self, case: DesignedCase, scenario: Mapping[str, Any], before: Any, because: str, search: FoundPlan | None
    ) -> ScenarioProof:
        """That a refusal fulfils the success, and the plan that a rule forbids does not."""
        success = refusal_success(case) | exact_state(before)
        if not await self.fulfils(scenario, success, (), REFUSAL[self.language]):
            return self._undecided(case, "a refusal does not fulfil the success that follows from it")
        breaks = search.calls if search is not None else None
        if breaks and await self.fulfils(scenario, success, breaks, REFUSAL[self.language]):
            return self._undecided(case, "the calls that the rule forbids leave no trace")
        return ScenarioProof("must be refused", success, because)

    async def fulfils(
        self, scenario: Mapping[str, Any], success: Mapping[str, Any], calls: Sequence[PlayedCall], text: str
    ) -> bool:
        """Whether an agent that makes these calls in a fresh world, and says this, fulfils a success."""
        assert self.world is not None
        async with living(self.world, scenario) as live:
            played = [await self.tools.play(call.name, call.arguments, live) for call in calls]
            score = await tried(SUCCESS, success_of(dict(success)), state_after(scenario, played, text), live)
        return score is not None and score.value is True

    async def _state(self, world: World, scenario: Mapping[str, Any], calls: Sequence[PlayedCall]) -> Any:
        """The state of a fresh world after calls; None for one that JSON cannot hold."""
        async with living(world, scenario) as live:
            for call in calls:
                await self.tools.play(call.name, call.arguments, live)
            try:
                return json.loads(json.dumps(await state_of(live), allow_nan=False))
            except (TypeError, ValueError, DuologueError):
                return None

    def _undecided(self, case: DesignedCase, because: str) -> ScenarioProof:
        """A scenario of which only the calls are known that it asks for, or forbids."""
        call = {"name": case.tool.name, "arguments": plain(case.arguments)}
        refused = case.is_forbidden or case.kind in (MISSING, OUT_OF_RANGE, FORBIDDEN)
        return ScenarioProof("not decided", refusal_success(case) if refused else {"tool_called": call}, because)


async def answer_proof(scenario: Mapping[str, Any], values: Sequence[str], language: str) -> ScenarioProof:
    """The proof of a scenario without tools, which asks for an answer that keeps a value of its goal."""
    success: dict[str, Any] = {"not": {"refused": True}}
    if not values:
        return ScenarioProof("not decided", success, "the goal names no number that an answer could keep")
    success["text_contains"] = {"any": list(values)}
    scores = [
        await tried(SUCCESS, success_of(success), state_after(scenario, (), text))
        for text in ("\n".join(values), REFUSAL[language], "")
    ]
    if [score is not None and score.value for score in scores] != [True, False, False]:
        return ScenarioProof("not decided", success, "an answer with the numbers of the goal does not fulfil it")
    return ScenarioProof("possible", success)


def known_values(case: DesignedCase) -> KnownValues:
    """What the user of a case knows, by the argument's name."""
    values: KnownValues = {name: [value] for name, value in case.arguments.items()}
    if case.argument is not None and case.kind == MISSING:
        del values[case.argument.name]
    if case.argument is not None and case.kind == AMBIGUOUS:
        values[case.argument.name].append(case.value)
    return values


def refusal_success(case: DesignedCase) -> dict[str, Any]:
    """The success of a case that must be refused: no such call, and words of a refusal.

    If a value is missing, words that ask for it do too: an agent may continue to ask.
    """
    if case.kind == MISSING:
        words = [{"refused": True}, {"text_contains": {"any": list(ASKING)}}]
        return {"tool_not_called": case.tool.name, "any_of": words}
    return {"refused": True, "tool_not_called": {"name": case.tool.name, "arguments": plain(case.arguments)}}


ASKING = ("?", "？", "please", "need", "请", "需要")
"""Texts of which one stands in words that ask for a value."""


def state_after(scenario: Mapping[str, Any], calls: Sequence[PlayedCall], text: str) -> State:
    """The state of a conversation in which the agent has made these calls and says this."""
    calls_plain = [
        call.plain | {"id": f"call-{n}", "result": call.result, "error": call.error} for n, call in enumerate(calls)
    ]
    attempt: Any = {"text": text, "verdict": "accepted", "tool_calls": calls_plain}
    messages: Any = [
        {"role": "user", "text": str(scenario.get("goal", ""))},
        {"role": "assistant", "text": text, "attempts": [attempt]},
    ]
    return state_from(scenario, messages)


def said_of(calls: Sequence[PlayedCall]) -> str:
    """The results of calls as the agent's text."""
    return "\n".join(json.dumps(call.result, ensure_ascii=False, default=str) for call in calls)


def result_values(result: Any, arguments: Mapping[str, Any]) -> list[str]:
    """The values of a result that an answer may name, without those of the arguments."""
    try:
        value = json.loads(result) if isinstance(result, str) else result
    except ValueError:
        return []
    argument_texts = {str(one) for one in arguments.values()}
    return list(dict.fromkeys(text for text in _scalars(value) if text.strip() and text not in argument_texts))[
        :_MOST_VALUES
    ]


_MOST_VALUES = 12


def _scalars(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for one in value.values() for text in _scalars(one)]
    if isinstance(value, list):
        return [text for one in value for text in _scalars(one)]
    return [str(value)] if isinstance(value, str | int | float) and not isinstance(value, bool) else []


def exact_state(state: Any) -> dict[str, Any]:
    """The condition on a final state; none for a large one, or one that is not an object."""
    fits = is_object(state) and len(json.dumps(state)) <= MOST_STATE
    return {"final_state_exactly": state} if fits else {}
