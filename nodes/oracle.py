"""The oracle of a test: which tool calls fulfil a designed scenario in a fresh world, if any do.

It plays an agent's tools outside the agent, without a model. A scenario is possible, with a shortest plan, or must be
refused, or is not decided, with the reason. The scenario's `success` follows from what was played.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from inspect import isroutine
from itertools import islice, product
from typing import Any, Literal, TypeAlias

from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph.state import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from ..data.identity import digest
from ..data.records import ToolCall, as_list, is_object
from ..data.test_design.case_space import AMBIGUOUS, FORBIDDEN, MISSING, OUT_OF_RANGE, DesignedCase
from ..data.test_design.tool_schemas import ToolSchema, schemas_of
from ..errors import DuologueError, SettingError, kind
from .contract import required_parameters
from .limits import Limits
from .scorers.outcomes import plain
from .scorers.scores import SUCCESS, tried
from .scorers.success import success_of
from .settings.import_path import imported
from .settings.redaction import error_line
from .speakers.lent import own_context
from .speakers.tools import called_by_node, tools_of
from .state import state_from
from .worlds import Context, World, living, state_of

KnownValues: TypeAlias = dict[str, list[Any]]  # by the argument's name
MOST_STATE = 20_000
"""Most characters of a world's state in a scenario; of a larger one `success` names calls only."""
MOST_ASSIGNMENTS = 60
"""Most ways to fill the arguments of one tool."""
MOST_CALLS = 3
"""Most calls of a plan."""
MOST_PLAYS = 400
"""Most calls that are tried for a scenario."""
MOST_SECONDS = 30
"""Most seconds of a search."""
MOST_VALUES = 12
"""Most values of a result of which an answer has to name one."""
REFUSAL = {"en": "I am sorry, that cannot be done.", "zh": "很抱歉，这个无法办理。"}
"""What an agent says that refuses, in the proof that this fulfils `success`."""
ASKING = ("?", "？", "please", "need", "请", "需要")
"""Texts of which one stands in words that ask for a value."""
_FORMS = "a compiled LangGraph graph with tool nodes, or a list of tools, functions or objects in OpenAI's form"


@dataclass(frozen=True)
class AgentTools:
    """An agent's tools: their schemas, and by name the tool node of each that is more than a schema."""

    schemas: tuple[ToolSchema, ...]
    nodes: Mapping[str, Any] = field(default_factory=dict)
    agent: Any = None

    async def play(self, name: str, arguments: dict[str, Any], world: Any) -> ToolCall:
        """Call a tool in a live world; what it raises is the call's error."""
        context = own_context("assistant", self.agent, None, {}, Context.of(Limits(), world))
        try:
            call = await called_by_node(self.nodes[name], name, arguments, context)
        except (Exception, SystemExit) as error:
            call = {"error": error_line(error)}
        return ToolCall(name=name, arguments=arguments, result=call.get("result"), error=call.get("error"))


def tools_at(path: str) -> AgentTools:
    """The tools of an import path to an agent, a list, or a function without parameters that makes one; errors as below."""
    value = imported(path, "scenarios")
    if isroutine(value) and required_parameters(value) == []:
        try:
            value = value()
        except (Exception, SystemExit) as error:
            raise SettingError(f"scenarios: {path}: failed: {error_line(error)}") from error
    return tools_in(value, f"scenarios: {path}")


def tools_in(value: Any, where: str) -> AgentTools:
    """The tools of an agent or a list; SettingError or DataError without tools, and for two of one name."""
    if isinstance(value, StateGraph):
        value = value.compile()
    if isinstance(value, Pregel):
        nodes = list(tools_of(value))
        tools = {id(tool): tool for name, node in nodes for tool in [node.tools_by_name[name]]}  # of two nodes once
        return AgentTools(_schemas(list(tools.values()), where), dict(nodes), value)
    if not isinstance(value, list | tuple):
        raise SettingError(f"{where}: has no tools: it is a value of the kind {kind(value)}; give {_FORMS}")
    schemas, node = _schemas(value, where), ToolNode([one for one in value if not is_object(one)])
    return AgentTools(schemas, dict.fromkeys(node.tools_by_name, node))


def _schemas(tools: Sequence[Any], where: str) -> tuple[ToolSchema, ...]:
    described = []
    for tool in tools:
        try:
            described.append(tool if is_object(tool) else convert_to_openai_tool(tool))
        except Exception as error:
            raise SettingError(f"{where}: {kind(tool)} is not a tool ({error_line(error)}): give {_FORMS}") from None
    return schemas_of(described, where)


@dataclass(frozen=True)
class ScenarioProof:
    """What the oracle found: the calls of a possible scenario, or why it must be refused, or is not decided."""

    verdict: Literal["possible", "must be refused", "not decided"]
    success: Mapping[str, Any]
    because: str = ""
    plan: tuple[Mapping[str, Any], ...] = ()

    @property
    def plain(self) -> dict[str, Any]:
        """For the scenario's line."""
        more = {"because": self.because} if self.because else {"calls": len(self.plan), "plan": list(self.plan)}
        return {"verdict": self.verdict, **more}


class _UndecidedError(DuologueError):
    """Why a scenario cannot be decided."""


@dataclass(frozen=True)
class Oracle:
    """Proves one designed scenario with an agent's tools in fresh worlds."""

    tools: AgentTools
    world: World | None
    case: DesignedCase
    scenario: Mapping[str, Any]
    language: str = "en"

    async def proof(self) -> ScenarioProof:
        """The proof; what fails leaves the scenario undecided: then `success` names only the call asked for, or forbidden."""
        try:
            return await self._proof()
        except DuologueError as error:
            refused = self.case.is_forbidden or self.case.kind in (MISSING, OUT_OF_RANGE, FORBIDDEN)
            success = _refusal_success(self.case) if refused else {"tool_called": _asked_call(self.case)}
            return ScenarioProof("not decided", success, " ".join(str(error).split()))

    async def _proof(self) -> ScenarioProof:
        case = self.case
        if self.world is None:
            raise _UndecidedError("there is no world to play in (--world)")
        for tool in self.tools.schemas:
            if tool.name not in self.tools.nodes:
                raise _UndecidedError(f"the tool {tool.name} has no code to call, only a schema")
        before = await self._state()
        if before != await self._state():
            raise _UndecidedError("two fresh worlds of the scenario differ")
        calls: list[ToolCall] = []
        try:
            calls = await self._own_plan() or await self._searched()
        except _UndecidedError:  # a bound ended the search
            if not case.is_forbidden:
                raise
        if case.is_forbidden:
            return await self._refusal(before, case.rule.short if case.rule else "a rule", forbidden=calls)
        if not calls:
            return await self._refusal(before, f"no plan of up to {MOST_CALLS} calls leads to it")
        if case.kind == OUT_OF_RANGE:
            raise _UndecidedError(f"{case.tool.name} takes a value that is out of its range: {case.value}")
        return await self._possible(before, calls)

    async def _possible(self, before: Any, calls: Sequence[ToolCall]) -> ScenarioProof:
        after = await self._state(calls)
        if after != await self._state(calls):
            raise _UndecidedError("the same calls lead two fresh worlds to different states")
        success, asked = _exact_state(after), _asked_call(self.case)
        names_call = after == before or not success
        if after != before:  # a second change may lead to the same state
            success["not"] = {"tool_called": {**asked, "times": 2}}
        if names_call:
            success["tool_called"] = asked
        if after == before and (values := _result_values(calls[-1].result, self.case.arguments)):
            success["text_contains"] = {"any": values}
        text = "\n".join(json.dumps(call.result, ensure_ascii=False, default=str) for call in calls)
        if not await self._fulfils(success, calls, text):
            raise _UndecidedError("the plan does not fulfil the success that follows from it")
        plan = tuple({"name": call.name, "arguments": call.arguments} for call in calls)
        return ScenarioProof("possible", success, plan=plan)

    async def _refusal(self, before: Any, because: str, forbidden: Sequence[ToolCall] = ()) -> ScenarioProof:
        """That a refusal fulfils the success, and the plan that a rule forbids does not."""
        success = _refusal_success(self.case) | _exact_state(before)
        if not await self._fulfils(success, (), REFUSAL[self.language]):
            raise _UndecidedError("a refusal does not fulfil the success that follows from it")
        if forbidden and await self._fulfils(success, forbidden, REFUSAL[self.language]):
            raise _UndecidedError("the calls that the rule forbids leave no trace")
        return ScenarioProof("must be refused", success, because)

    async def _fulfils(self, success: Mapping[str, Any], calls: Sequence[ToolCall], text: str) -> bool:
        async with self._after(calls) as (live, played):
            return await _succeeds(self.scenario, success, played, text, live)

    async def _own_plan(self) -> list[ToolCall]:
        """The plan of the case's example if it ends with the call that the user asks for; else empty."""
        if self.case.kind in (OUT_OF_RANGE, MISSING):
            return []
        own = self.case.example.plan or ()
        made = [ToolCall(name=str(call["name"]), arguments=dict(call.get("arguments") or {})) for call in own]
        async with self._after(made) as (_, calls):
            return calls if calls and self._is_asked(calls[-1]) else []

    async def _searched(self) -> list[ToolCall]:
        try:
            async with asyncio.timeout(MOST_SECONDS):
                return await self._shortest()
        except TimeoutError:
            raise _UndecidedError(f"no plan was found in {MOST_SECONDS} seconds") from None

    async def _shortest(self) -> list[ToolCall]:
        """The shortest plan that ends with the call that the user asks for; empty without one.

        Breadth first, each sequence of calls in a fresh world. A call that ends in an error goes no further. What a
        result holds under an argument's name is known from then on.
        """
        open_plans: deque[tuple[list[ToolCall], KnownValues]] = deque([([], _values_of(self.case))])
        seen: set[str] = set()
        plays = 0
        while open_plans:
            before, values = open_plans.popleft()
            for name, arguments in _next_calls(self.tools.schemas, values):
                if plays >= MOST_PLAYS:
                    raise _UndecidedError(f"no plan was found in {plays} calls")
                plays += 1
                await asyncio.sleep(0)  # a world and tools that never wait would outlast the time-out
                async with self._after([*before, ToolCall(name=name, arguments=arguments)]) as (live, calls):
                    state = await _state_in(live)
                if self._is_asked(calls[-1]):
                    return calls
                if calls[-1].error is not None or len(calls) >= MOST_CALLS:
                    continue
                learnt = _with_result(values, calls[-1].result, self.tools.schemas)
                if (mark := digest(state, learnt)) not in seen:
                    seen.add(mark)
                    open_plans.append((calls, learnt))
        return []

    def _is_asked(self, call: ToolCall) -> bool:
        made = {"name": call.name, "arguments": plain(call.arguments)}
        return call.error is None and made == _asked_call(self.case)

    @asynccontextmanager
    async def _after(self, calls: Sequence[ToolCall]) -> AsyncIterator[tuple[Any, list[ToolCall]]]:
        assert self.world is not None
        async with living(self.world, self.scenario) as live:
            yield live, [await self.tools.play(call.name, call.arguments, live) for call in calls]

    async def _state(self, calls: Sequence[ToolCall] = ()) -> Any:
        async with self._after(calls) as (live, _):
            return await _state_in(live)


async def answer_proof(scenario: Mapping[str, Any], values: Sequence[str], language: str) -> ScenarioProof:
    """The proof of a scenario without tools, which asks for an answer that keeps a value of its goal."""
    success: dict[str, Any] = {"not": {"refused": True}}
    if not values:
        return ScenarioProof("not decided", success, "the goal names no number that an answer could keep")
    success["text_contains"] = {"any": list(values)}
    texts = ("\n".join(values), REFUSAL[language], "")
    if [await _succeeds(scenario, success, (), text) for text in texts] != [True, False, False]:
        return ScenarioProof("not decided", success, "an answer with the numbers of the goal does not fulfil it")
    return ScenarioProof("possible", success)


async def _succeeds(
    scenario: Mapping[str, Any], success: Mapping[str, Any], calls: Sequence[ToolCall], text: str, live: Any = None
) -> bool:
    made = [call.model_dump() for call in calls]
    attempt = {"text": text, "verdict": "accepted", "tool_calls": made}
    asked = {"role": "user", "text": str(scenario.get("goal", ""))}
    state = state_from(scenario, [asked, {"role": "assistant", "text": text, "attempts": [attempt]}])
    score = await tried(SUCCESS, success_of(dict(success)), state, live)
    return score is not None and score.value is True


def _asked_call(case: DesignedCase) -> dict[str, Any]:
    return {"name": case.tool.name, "arguments": plain(case.arguments)}


def _refusal_success(case: DesignedCase) -> dict[str, Any]:
    """No such call, and words of a refusal; if a value is missing, words that ask for it do too."""
    if case.kind == MISSING:
        words = [{"refused": True}, {"text_contains": {"any": list(ASKING)}}]
        return {"tool_not_called": case.tool.name, "any_of": words}
    return {"refused": True, "tool_not_called": _asked_call(case)}


def _exact_state(state: Any) -> dict[str, Any]:
    """The condition on a final state; none for a large one, or one that is not an object."""
    fits = is_object(state) and len(json.dumps(state)) <= MOST_STATE
    return {"final_state_exactly": state} if fits else {}


def _result_values(result: Any, arguments: Mapping[str, Any]) -> list[str]:
    """The values of a result that an answer may name, without those of the arguments."""
    known = {str(one) for one in arguments.values()}
    values = [one for _, one in _leaves(_parsed(result)) if type(one) in (str, int, float)]
    return list(dict.fromkeys(text for text in map(str, values) if text.strip() and text not in known))[:MOST_VALUES]


async def _state_in(live: Any) -> Any:
    try:
        return json.loads(json.dumps(await state_of(live), allow_nan=False))
    except Exception as error:  # anybody's code
        raise _UndecidedError("the world has no state that JSON can hold: give it a method state()") from error


def _values_of(case: DesignedCase) -> KnownValues:
    values: KnownValues = {name: [value] for name, value in case.arguments.items()}
    if case.argument is not None and case.kind == MISSING:
        del values[case.argument.name]
    if case.argument is not None and case.kind == AMBIGUOUS:
        values[case.argument.name].append(case.value)
    return values


def _next_calls(tools: Sequence[ToolSchema], values: KnownValues) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls that can be made with the known values, and with those that a schema lists for what is required."""
    for tool in tools:
        options = []
        for one in tool.arguments:
            listed = [True, False] if one.schema.get("type") == "boolean" else as_list(one.schema.get("enum"))
            if one.required or values.get(one.name):
                options.append([(one.name, value) for value in values.get(one.name) or listed])
        for pairs in islice(product(*options), MOST_ASSIGNMENTS):  # none if a required argument has no value
            yield tool.name, dict(pairs)


def _with_result(values: KnownValues, result: Any, tools: Sequence[ToolSchema]) -> KnownValues:
    """The known values with those that a result holds under the name of an argument."""
    learnt = {name: list(own) for name, own in values.items()}
    names = {argument.name for tool in tools for argument in tool.arguments}
    for name, value in _leaves(_parsed(result)):
        if name in names and value not in learnt.setdefault(name, []):
            learnt[name].append(value)
    return learnt


def _parsed(result: Any) -> Any:
    try:
        return json.loads(result) if isinstance(result, str) else result
    except ValueError:
        return None


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each value in a JSON value that holds no others, with its key; without one in a list."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, str(key))
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield name, value
