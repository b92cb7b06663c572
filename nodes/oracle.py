"""The oracle of a test: which tool calls fulfil a designed scenario in a fresh world, if any do.

It plays an agent's tools outside the agent, without a model, approves what a tool asks a person for, and makes no call
that a rule forbids. A scenario is possible, with a shortest plan, or must be refused, or is undecided, with the reason.
The scenario's `success` follows from what was played.
"""

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from inspect import isroutine
from itertools import islice, product
from typing import Any, Literal, TypeAlias

from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import Command

from ..data.identity import digest
from ..data.records import ToolCall, is_object
from ..data.test_design import DesignedCase, Rule, ToolSchema, forbidding, schemas_of
from ..errors import DuologueError, SettingError, kind
from .contract import required_parameters
from .langgraph_names import ASKED
from .limits import Limits
from .replies import reply_of
from .scorers import SUCCESS, plain, run_scorer
from .settings.import_path import imported
from .settings.redaction import error_line
from .speakers.agents import alone, own_context
from .speakers.questions import pending_of
from .speakers.tools import tools_of
from .state import state_from
from .success import success_of
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
NO_FAULT = "the tool only reads, and may be asked for what is not there"
"""Why a value out of bounds proves nothing: an agent may look for it, and say that it is not there."""
_FORMS = "a compiled LangGraph graph with tool nodes, or a list of tools, functions or objects in OpenAI's form"


class UndecidedError(DuologueError):
    """Why a scenario cannot be decided."""


@dataclass(frozen=True)
class AgentTools:
    """An agent's tools: their schemas, and by name the tool node of each that is more than a schema."""

    schemas: tuple[ToolSchema, ...]
    nodes: Mapping[str, Any] = field(default_factory=dict)
    agent: Any = None

    context: Any = None
    """What the agent is called with as its context: a value, or a function of the scenario and the live world."""

    async def play(self, name: str, arguments: dict[str, Any], world: Any, scenario: Mapping[str, Any]) -> ToolCall:
        """Call a tool in a live world, and approve what it asks a person for; what it raises is the call's error.

        UndecidedError where it asks for more than an approval.
        """
        request = AIMessage("", tool_calls=[{"name": name, "args": dict(arguments), "id": "call"}])
        graph: Any = StateGraph(MessagesState).add_node("tools", self.nodes[name]).add_edge(START, "tools")
        given: Any = {"messages": [request]}
        try:
            context = own_context("assistant", self.agent, self.context, scenario, Context.of(Limits(), world))
            with alone(context):
                compiled = graph.compile(checkpointer=InMemorySaver())
                while True:
                    answer = await compiled.ainvoke(given, {"configurable": {"thread_id": "call"}}, context=context)
                    pending = [pending_of(interrupt) for interrupt in answer.get(ASKED, ())]
                    if not pending:
                        break
                    if any("question" in one for one in pending):
                        raise UndecidedError(f"the tool {name} stops for a person, and asks for more than an approval")
                    given = Command(resume={one["id"]: True for one in pending})
            call = dict(reply_of(answer["messages"])["tool_calls"][0])
        except UndecidedError:
            raise
        except (Exception, SystemExit) as error:
            call = {"error": error_line(error)}
        made = ToolCall(name=name, arguments=arguments, result=call.get("result"), error=call.get("error"))
        return made.model_copy(update={"error": made.failed, "result": None}) if made.failed else made


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
    """What the oracle found: the calls of a possible scenario, or why it must be refused, or is undecided."""

    verdict: Literal["possible", "must be refused", "undecided"]
    success: Mapping[str, Any]
    because: str = ""
    plan: tuple[Mapping[str, Any], ...] = ()

    @property
    def changes(self) -> bool:
        """Whether the plan changes the world."""
        return "not" in self.success

    @property
    def keys(self) -> dict[str, Any]:
        """The keys that a scenario's line gets."""
        proof = {"verdict": self.verdict, **({"because": self.because} if self.because else {})}
        success = {"success": dict(self.success)} if self.success else {}
        return success | {"proof": proof} | ({"plan": list(self.plan)} if self.plan else {})


@dataclass(frozen=True)
class Oracle:
    """Proves designed scenarios with an agent's tools in fresh worlds."""

    tools: AgentTools
    world: World | None = None
    rules: Sequence[Rule] = ()

    async def proof(self, case: DesignedCase, scenario: Mapping[str, Any]) -> ScenarioProof:
        """The proof of a scenario; what fails leaves it undecided.

        Without a world `success` names only a call that the rules and the schemas allow or forbid.
        """
        if self.world is None:
            return ScenarioProof("undecided", _success_without_world(case), "there is no world to play in (--world)")
        if lacking := [tool.name for tool in self.tools.schemas if tool.name not in self.tools.nodes]:
            because = f"the tool {lacking[0]} has no code to call, only a schema"
            return ScenarioProof("undecided", _success_without_world(case), because)
        try:
            return await _Search(self, self.world, case, scenario).proof()
        except DuologueError as error:
            return ScenarioProof("undecided", {}, " ".join(str(error).split()))

    async def state(self, scenario: Mapping[str, Any]) -> Any:
        """The state of a fresh world as plain JSON; None without a world, or where it has no such state."""
        if self.world is None:
            return None
        try:
            async with living(self.world, scenario) as live:
                return await _state_in(live)
        except DuologueError:
            return None


@dataclass
class _Search:
    oracle: Oracle
    world: World
    case: DesignedCase
    scenario: Mapping[str, Any]
    was_cut: bool = False
    """Whether a longer plan was not tried."""
    aside: str = ""
    """Where a result holds the value that the user does not have, under another name than the argument's."""

    async def proof(self) -> ScenarioProof:
        before = await self._state()
        if before != await self._state():
            raise UndecidedError("two fresh worlds of the scenario differ")
        if rule := forbidding(self.oracle.rules, self.case.tool.name, self.case.arguments, before):
            return await self._refusal(before, rule.because)
        try:
            async with asyncio.timeout(MOST_SECONDS):
                calls = await self._shortest()
        except TimeoutError:
            raise UndecidedError(f"no plan was found in {MOST_SECONDS} seconds") from None
        if not calls and self.aside:
            raise UndecidedError(f"the value that the user does not have may be meant by {self.aside}")
        if not calls and self.was_cut:
            raise UndecidedError(f"no plan of up to {MOST_CALLS} calls leads to it, and no longer one was tried")
        if not calls and (odd := self.case.argument):
            arguments = replace(self.case, kind="valid").arguments
            because = NO_FAULT
            if self.case.kind == "missing":
                own, because = arguments[odd.name], "the tool only reads, and takes any value"
                guess = None if odd.choices or not isinstance(own, str) else odd.beyond(own, ())  # an id not there
                arguments |= {odd.name: guess} if guess is not None else {}
            async with self._after([ToolCall(name=self.case.tool.name, arguments=arguments)]) as (live, played):
                if played[-1].error is None and await _state_in(live) == before:
                    raise UndecidedError(because)
        if not calls:
            return await self._refusal(before, "no calls lead to it")
        if self.case.kind == "out of bounds":
            raise UndecidedError(f"{self.case.tool.name} takes a value that is out of its bounds: {self.case.value}")
        return await self._possible(before, calls)

    async def _possible(self, before: Any, calls: Sequence[ToolCall]) -> ScenarioProof:
        after = await self._state(calls)
        if after != await self._state(calls):
            raise UndecidedError("the same calls lead two fresh worlds to different states")
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
            raise UndecidedError("the plan does not fulfil the success that follows from it")
        plan = tuple({"name": call.name, "arguments": call.arguments} for call in calls)
        return ScenarioProof("possible", success, plan=plan)

    async def _refusal(self, before: Any, because: str) -> ScenarioProof:
        """No such call and an unchanged world: what is said is a judge's."""
        success = {"tool_not_called": _refused_call(self.case)} | _exact_state(before)
        if not await self._fulfils(success, (), ""):
            raise UndecidedError("a refusal does not fulfil the success that follows from it")
        return ScenarioProof("must be refused", success, because)

    async def _fulfils(self, success: Mapping[str, Any], calls: Sequence[ToolCall], text: str) -> bool:
        async with self._after(calls) as (live, played):
            attempt = {"text": text, "verdict": "accepted", "tool_calls": [call.model_dump() for call in played]}
            asked = {"role": "user", "text": str(self.scenario.get("goal", ""))}
            state = state_from(self.scenario, [asked, {"role": "assistant", "text": text, "attempts": [attempt]}])
            score = await run_scorer(SUCCESS, success_of(dict(success)), state, live)
        return score is not None and score.value is True

    async def _shortest(self) -> list[ToolCall]:
        """The shortest plan without a forbidden call; empty without one.

        Breadth first, each sequence of calls in a fresh world. A call that ends in an error goes no further. What a
        result holds under an argument's name is known from then on.
        """
        schemas, rules = self.oracle.tools.schemas, self.oracle.rules
        asked = _asked_call(self.case)
        unknown = self.case.argument.name if self.case.argument is not None and self.case.kind == "missing" else ""
        open_plans: deque[tuple[list[ToolCall], KnownValues, Any]] = deque(
            [([], _values_of(self.case), await self._state())]
        )
        seen: set[str] = set()
        plays = 0
        while open_plans:
            before, values, state = open_plans.popleft()
            for name, arguments in _next_calls(schemas, values, unknown):
                if forbidding(rules, name, arguments, state):
                    continue
                if plays >= MOST_PLAYS:
                    raise UndecidedError(f"no plan was found in {plays} calls")
                plays += 1
                await asyncio.sleep(0)  # a world and tools that never wait would outlast the time-out
                async with self._after([*before, ToolCall(name=name, arguments=arguments)]) as (live, calls):
                    after = await _state_in(live)
                if calls[-1].error is not None:
                    continue
                if {"name": name, "arguments": plain(arguments)} == asked:
                    return calls
                self.aside = self.aside or self._aside(calls[-1])
                learnt = _with_result(values, calls[-1].result, schemas)
                if (mark := digest(after, learnt)) not in seen:
                    seen.add(mark)
                    self.was_cut |= len(calls) >= MOST_CALLS
                    open_plans += [(calls, learnt, after)] * (len(calls) < MOST_CALLS)
        return []

    def _aside(self, call: ToolCall) -> str:
        if self.case.kind != "missing" or self.case.argument is None:
            return ""
        missing = self.case.arguments[self.case.argument.name]
        return next((f"{name!r} of {call.name}" for name, one in _leaves(_parsed(call.result)) if one == missing), "")

    @asynccontextmanager
    async def _after(self, calls: Sequence[ToolCall]) -> AsyncIterator[tuple[Any, list[ToolCall]]]:
        async with living(self.world, self.scenario) as live:
            play = self.oracle.tools.play
            yield live, [await play(call.name, call.arguments, live, self.scenario) for call in calls]

    async def _state(self, calls: Sequence[ToolCall] = ()) -> Any:
        async with self._after(calls) as (live, _):
            return await _state_in(live)


def _asked_call(case: DesignedCase) -> dict[str, Any]:
    return {"name": case.tool.name, "arguments": plain(case.arguments)}


def _refused_call(case: DesignedCase) -> Any:
    """The call that must not be made; without a value that the user does not have none of the tool."""
    return case.tool.name if case.kind == "missing" else _asked_call(case)


def _success_without_world(case: DesignedCase) -> dict[str, Any]:
    """What the rules say of the call; what tools do with a missing or an odd value only a world can show."""
    if case.kind == "forbidden":
        return {"tool_not_called": _asked_call(case)}
    return {"tool_called": _asked_call(case)} if case.kind in ("valid", "ambiguous") else {}


def _exact_state(state: Any) -> dict[str, Any]:
    fits = is_object(state) and len(json.dumps(state)) <= MOST_STATE
    return {"final_state_exactly": state} if fits else {}


def _result_values(result: Any, arguments: Mapping[str, Any]) -> list[str]:
    known = {str(one) for one in arguments.values()}
    values = [one for _, one in _leaves(_parsed(result)) if type(one) in (str, int, float)]
    # Any reply may have a digit.
    texts = (text for text in map(str, values) if text.strip() and not re.fullmatch(r"\d", text))
    return list(dict.fromkeys(text for text in texts if text not in known))[:MOST_VALUES]


async def _state_in(live: Any) -> Any:
    try:
        return json.loads(json.dumps(await state_of(live), allow_nan=False))
    except Exception as error:  # anybody's code
        raise UndecidedError("the world has no state that JSON can hold: give it a method state()") from error


def _values_of(case: DesignedCase) -> KnownValues:
    values: KnownValues = {name: [value] for name, value in case.arguments.items()}
    if case.argument is not None and case.kind == "missing":
        del values[case.argument.name]
    if case.argument is not None and case.kind == "ambiguous":
        values[case.argument.name].append(case.value)
    return values


def _next_calls(tools: Sequence[ToolSchema], values: KnownValues, unknown: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls that can be made with the known values, and with those that a schema lists for what is required.

    `unknown`: the argument that the user does not have, which is not guessed.
    """
    for tool in tools:
        options = []
        for one in tool.arguments:
            if one.required or values.get(one.name):
                listed = one.choices if one.name != unknown else []
                options.append([(one.name, value) for value in values.get(one.name) or listed])
        for pairs in islice(product(*options), MOST_ASSIGNMENTS):  # none if a required argument has no value
            yield tool.name, dict(pairs)


def _with_result(values: KnownValues, result: Any, tools: Sequence[ToolSchema]) -> KnownValues:
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
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, str(key))
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield name, value
