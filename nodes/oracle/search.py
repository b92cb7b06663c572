"""The search for a plan: tool calls, breadth first, each sequence in a fresh world."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, TypeAlias

from ...data.attempts import as_list
from ...data.identity import digest
from ...data.test_design.tool_schemas import ToolArgument, ToolSchema
from ..worlds import World, living, state_of
from .agent_tools import AgentTools, PlayedCall

KnownValues: TypeAlias = dict[str, list[Any]]
"""The values that are known, by the argument's name."""
Reached: TypeAlias = Callable[[Sequence[PlayedCall], Any], Awaitable[bool]]
"""Whether calls, after which a live world is as it is, reach the goal."""

MOST_ASSIGNMENTS = 60
"""Most ways to fill the arguments of one tool."""


@dataclass(frozen=True)
class SearchBounds:
    """How far a search goes."""

    depth: int = 3
    """Most calls of a plan."""
    plays: int = 400
    """Most calls that are tried."""
    seconds: float = 30.0
    """Most seconds."""


@dataclass(frozen=True)
class FoundPlan:
    """The outcome of a search."""

    calls: tuple[PlayedCall, ...] | None
    """The shortest plan; None without one within the bounds."""
    bound: str = ""
    """The bound that ended the search before all was tried; empty if all was."""
    plays: int = 0
    """Calls that were tried."""


@dataclass
class PlanSearch:
    """A breadth-first search over tool calls."""

    tools: AgentTools
    world: World
    scenario: Mapping[str, Any]
    values: KnownValues
    bounds: SearchBounds = field(default_factory=SearchBounds)

    async def plan(self, reached: Reached) -> FoundPlan:
        """The shortest sequence of calls that reaches the goal, each tried in a fresh world.

        A call that ends in an error goes no further. What a result holds under an argument's name is known from then
        on.
        """
        try:
            async with asyncio.timeout(self.bounds.seconds):
                return await self._shortest(reached)
        except TimeoutError:
            return FoundPlan(None, f"it took {self.bounds.seconds:g} seconds")

    async def _shortest(self, reached: Reached) -> FoundPlan:
        open_plans: deque[tuple[tuple[PlayedCall, ...], KnownValues]] = deque([((), self.values)])
        seen: set[str] = set()
        plays = 0
        while open_plans:
            before, values = open_plans.popleft()
            for tool in self.tools.schemas:
                for arguments in assignments(tool, values):
                    if plays >= self.bounds.plays:
                        return FoundPlan(None, f"{self.bounds.plays} calls were tried", plays)
                    plays += 1
                    await asyncio.sleep(0)
                    calls, is_goal, state = await self._tried(before, tool.name, arguments, reached)
                    if is_goal:
                        return FoundPlan(calls, plays=plays)
                    if calls[-1].error is not None or len(calls) >= self.bounds.depth:
                        continue
                    learnt = _with_results(values, calls[-1].result, self.tools.schemas)
                    if (mark := digest(state, learnt)) not in seen:
                        seen.add(mark)
                        open_plans.append((calls, learnt))
        return FoundPlan(None, plays=plays)

    async def _tried(
        self, before: Sequence[PlayedCall], name: str, arguments: Mapping[str, Any], reached: Reached
    ) -> tuple[tuple[PlayedCall, ...], bool, str]:
        """The calls with a further one, whether they reach the goal, and the world's state as text."""
        async with living(self.world, self.scenario) as live:
            calls = [await self.tools.play(call.name, call.arguments, live) for call in before]
            calls.append(await self.tools.play(name, arguments, live))
            return tuple(calls), await reached(calls, live), await state_text(live)


async def state_text(live: Any) -> str:
    """The state of a live world as JSON; empty for one that has none."""
    try:
        return json.dumps(await state_of(live), sort_keys=True, default=str)
    except Exception:  # anybody's code, or no state: then sequences are told apart by their results alone
        return ""


def assignments(tool: ToolSchema, values: KnownValues) -> Iterator[dict[str, Any]]:
    """The ways to fill a tool's arguments from the known values; none if a required argument has no value."""
    options: list[list[tuple[str, Any]]] = []
    for argument in tool.arguments:
        choices = [*values.get(argument.name, ()), *(() if argument.name in values else _of_schema(argument))]
        if not choices:
            if argument.required:
                return
            continue
        options.append([(argument.name, value) for value in choices])
    yield from (dict(pairs) for pairs in islice(product(*options), MOST_ASSIGNMENTS))


def _of_schema(argument: ToolArgument) -> list[Any]:
    """The values that a schema lists, of an argument of which none is known."""
    if not argument.required:
        return []
    if choices := as_list(argument.schema.get("enum")):
        return choices
    return [True, False] if argument.schema.get("type") == "boolean" else []


def _with_results(values: KnownValues, result: Any, tools: Sequence[ToolSchema]) -> KnownValues:
    """The known values with those that a result holds under the name of an argument."""
    learnt = {name: list(own) for name, own in values.items()}
    names = {argument.name for tool in tools for argument in tool.arguments}
    for name, value in _fields(_parsed(result)):
        if name in names and not isinstance(value, Mapping | list) and value not in learnt.setdefault(name, []):
            learnt[name].append(value)
    return {name: own for name, own in learnt.items() if own}


def _parsed(result: Any) -> Any:
    """A result that is JSON in a text as its value."""
    try:
        return json.loads(result) if isinstance(result, str) else result
    except ValueError:
        return result


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield str(name), one
            yield from _fields(one)
    elif isinstance(value, list):
        for one in value:
            yield from _fields(one)
