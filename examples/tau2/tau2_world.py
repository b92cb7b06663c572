"""tau2-bench's environments as worlds: its tools, its database, its own comparison of the end. See README.md.

tau2-bench must be installed; the tests of this project skip without it.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.runtime import get_runtime
from pydantic import Field

from duologue import graphs, nodes
from duologue.data.scenarios import ScenarioReader

_MAKERS = {"telecom": "get_environment_manual_policy"}
"""Functions that make an environment, where they are not called `get_environment`."""


def environment(domain: str) -> Any:
    """A fresh environment of tau2-bench: airline, retail, telecom or mock."""
    module = import_module(f"tau2.domains.{domain}.environment")
    return getattr(module, _MAKERS.get(domain, "get_environment"))()


class RefusedError(Exception):
    """What a tool of tau2-bench answers when it cannot do what it was asked for."""


class Tau2World:
    """The environment of one task. After `restore` the calls of a rejected draft have not happened."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self.task = task
        self.criteria: Mapping[str, Any] = task.get("evaluation_criteria") or {}
        self.calls: list[tuple[str, dict[str, Any], str]] = []
        self.environment = self._begun()

    def call(self, name: str, arguments: dict[str, Any], side: str = "assistant") -> str:
        """The answer of a tool; RefusedError if it is an error."""
        self.calls.append((name, arguments, side))
        answer = self._answer(self.environment, name, arguments, side)
        if answer.error:
            raise RefusedError(answer.content)
        return str(answer.content)

    def state(self) -> dict[str, bool]:
        """Whether each thing that tau2-bench looks at in the end is as the task expects it."""
        expected = self._begun()
        for action in self.criteria.get("actions") or []:
            self._answer(expected, action["name"], action["arguments"], action.get("requestor", "assistant"))
        tasks = import_module("tau2.data_model.tasks")
        assertions = [tasks.EnvAssertion(**one) for one in self.criteria.get("env_assertions") or []]
        return {
            "DB": _digests(self.environment) == _digests(expected),
            "ENV_ASSERTION": all(self.environment.run_env_assertion(one, False) for one in assertions),
        }

    def snapshot(self) -> int:
        """The number of calls so far."""
        return len(self.calls)

    def restore(self, snapshot: int) -> None:
        """Begin anew, and make the calls up to the snapshot again."""
        if snapshot == len(self.calls):
            return
        self.calls = self.calls[:snapshot]
        self.environment = self._begun()
        for name, arguments, side in self.calls:
            self._answer(self.environment, name, arguments, side)

    def _begun(self) -> Any:
        """The environment as the task begins."""
        tasks = import_module("tau2.data_model.tasks")
        begun = environment(self.task["domain"])
        initial: Mapping[str, Any] = self.task.get("initial_state") or {}
        changes = initial.get("initialization_data")
        begun.set_state(
            initialization_data=tasks.InitializationData(**changes) if changes else None,
            initialization_actions=[
                tasks.EnvFunctionCall(**one) for one in initial.get("initialization_actions") or []
            ],
            message_history=[],
        )
        return begun

    @staticmethod
    def _answer(where: Any, name: str, arguments: dict[str, Any], side: str) -> Any:
        messages = import_module("tau2.data_model.message")
        call = messages.ToolCall(id="call", name=name, arguments=arguments, requestor=side)
        return where.get_response(call)


def _digests(where: Any) -> tuple[Any, Any]:
    return where.get_db_hash(), where.get_user_db_hash()


def world(scenario: Mapping[str, Any]) -> Tau2World:
    """The world of a scenario that was read from a task of tau2-bench."""
    return Tau2World(scenario["tau2"])


def as_tau2_compares(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with the world's state as success, in place of the calls that stand for it."""
    basis = (scenario["tau2"].get("evaluation_criteria") or {}).get("reward_basis") or ["DB", "COMMUNICATE"]
    success = dict(scenario.get("success") or {})
    if "ACTION" not in basis:
        success.pop("tool_called", None)
    success.pop("tool_not_called", None)
    if parts := {part: True for part in ("DB", "ENV_ASSERTION") if part in basis}:
        success["final_state"] = parts
    return {**scenario, "success": success}


def reference(messages: Sequence[Any]) -> list[BaseMessage]:
    """An agent that knows the task: it makes the expected calls, and says what must be communicated."""
    live: Tau2World = get_runtime().context.world
    replies: list[BaseMessage] = []
    for number, action in enumerate(live.criteria.get("actions") or []):
        name, arguments = action["name"], action["arguments"]
        side, call = action.get("requestor", "assistant"), f"call-{number}"
        try:
            answer = ToolMessage(live.call(name, arguments, side), tool_call_id=call)
        except RefusedError as error:
            answer = ToolMessage(str(error), tool_call_id=call, status="error")
        if side == "assistant":
            replies += [AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": call}]), answer]
    facts = ", ".join(live.criteria.get("communicate_info") or ["as you asked"])
    return [*replies, AIMessage(f"It is done: {facts}.")]


def idle(messages: Sequence[Any]) -> str:
    """An agent that does nothing, and says that it has."""
    return "It is done, as you asked."


def agent(domain: str, model: BaseChatModel) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A model with the domain's policy and tools, which work on the conversation's world."""
    of_domain = environment(domain)
    tools = [_tool(one) for one in of_domain.get_tools()]
    bound = model.bind_tools(tools)

    async def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke([SystemMessage(of_domain.get_policy()), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=_refusal))
    graph.add_edge(START, "answer")
    graph.add_conditional_edges("answer", tools_condition)
    graph.add_edge("tools", "answer")
    return graph.compile(name=f"tau2 {domain}")


def _refusal(error: RefusedError) -> str:
    return str(error)


def _tool(one: Any) -> StructuredTool:
    def run(**arguments: Any) -> str:
        live: Tau2World = get_runtime().context.world
        return live.call(one.name, _plain(arguments))

    description = one.openai_schema["function"]["description"]
    return StructuredTool.from_function(
        run, name=one.name, description=description, args_schema=one.params, infer_schema=False
    )


def _plain(value: Any) -> Any:
    """Arguments as JSON: models of pydantic as objects."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.model_dump() if hasattr(value, "model_dump") else value


def cast(
    domain: Annotated[str, Field(description="airline, retail or mock.")] = "airline",
    user: Annotated[str, Field(description="The customer: openai:NAME, or offline.")] = "offline",
    model: Annotated[str, Field(description="The agent: openai:NAME, reference or idle.")] = "reference",
) -> graphs.Cast:
    """A user with a task of tau2-bench, and an agent on its environment."""
    agents: dict[str, Any] = {"reference": reference, "idle": idle}
    assistant = agents[model] if model in agents else agent(domain, nodes.chat_model(model))
    return graphs.agent_test.cast(user=user, assistant=assistant).replace(world=world)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        for entry in ScenarioReader(Path(path)):
            sys.stdout.write(json.dumps(as_tau2_compares(entry.scenario)) + "\n")
