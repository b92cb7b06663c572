"""The tool calls of the messages that a fork kept, made again in its new world."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from ...data.attempts import INTERRUPT, WAITING, begin
from ...data.files.json_files import dumps
from ...data.formats.tool_messages import NO_RESULT
from ...data.records import Role
from ...errors import DuologueError
from ..limits import Limits
from ..replies import reply_of
from ..settings.redaction import error_line
from ..state import Draft, State, said
from ..worlds import Context, WorldError
from .lent import alone
from .tools import calls_that_ran, tool_nodes, was_not_undone

_LONGEST = 300
"""Most characters of a result in an error."""


class RepeatError(DuologueError, RuntimeError):
    """Tool calls that were made again gave something else."""


@dataclass(frozen=True)
class RepeatedCalls:
    """Makes the tool calls of an agent's drafts again."""

    agent: object
    context: Any
    """What the agent's graph is called with, the new world in it."""

    def hindrance(self, drafts: Sequence[Draft]) -> str | None:
        """Why the calls of the drafts cannot be made again; None if they can."""
        nodes = tool_nodes(self.agent)
        for call in _calls(drafts):
            if call["name"] == INTERRUPT or call.get("error") in (WAITING, NO_RESULT) or "arguments" not in call:
                return f"the call {call['name']} has no result"
            if call["name"] not in nodes:
                return f"the tool {call['name']} is in no tool node of the agent's graph, which could call it again"
        return None

    async def make(self, drafts: Sequence[Draft]) -> None:
        """Call each tool as before, in order; RepeatError for another result."""
        nodes = tool_nodes(self.agent)
        for number, call in enumerate(_calls(drafts)):
            try:
                repeated = await called_by_node(
                    nodes[call["name"]], call["name"], call["arguments"], self.context, f"again-{number}"
                )
            except Exception as error:
                raise RepeatError(f"{call['name']} fails: {error_line(error)}") from error
            if any(repeated.get(key) != call.get(key) for key in ("result", "error")):
                was, now = _outcome(call), _outcome(repeated)
                raise RepeatError(f"{call['name']} gives another result: {was} is recorded, now it gives {now}")


async def called_by_node(
    node: Any, name: str, arguments: Mapping[str, Any], context: Any, call_id: str = "call"
) -> dict[str, Any]:
    """The plain form of one tool call by a tool node, outside its agent.

    It raises what the node does not handle.
    """
    request = AIMessage("", tool_calls=[{"name": name, "args": dict(arguments), "id": call_id}])
    graph: Any = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools")
    with alone(context):
        answer = await graph.compile().ainvoke({"messages": [request]}, context=context)
    (call,) = reply_of(answer["messages"]).get("tool_calls", [])
    return call


@runtime_checkable
class ActsAgain(Protocol):
    """A speaker whose tool calls may be made again in a new world."""

    def calls_again(self, state: State, limits: Limits) -> RepeatedCalls:
        """What makes them again, in the world of these limits."""
        ...


async def brought_to(state: State, limits: Limits, speakers: Mapping[Role, object]) -> None:
    """Bring the new world of a fork to where its last kept message left it; WorldError if that fails.

    The tool calls of the kept messages are made again in order, and have to give what is recorded. A conversation that
    is not a fork has nothing to bring back.
    """
    world = limits.world if isinstance(limits, Context) else None
    if world is None or not state.get("origin", {}).get("forks"):
        return
    for number, message in enumerate(said(state)):
        drafts = _drafts_that_acted(message)
        if not drafts:
            continue
        speaker = speakers[message["role"]]
        if not isinstance(speaker, ActsAgain):
            name = type(speaker).__name__
            raise WorldError(f"message #{number}: {name} cannot make its tool calls again: {_REMEDY}")
        calls = speaker.calls_again(state, limits)
        if hindrance := calls.hindrance(drafts):
            raise WorldError(f"message #{number}: {hindrance}: {_REMEDY}")
        try:
            await calls.make(drafts)
        except RepeatError as error:
            raise WorldError(f"message #{number}: {error}: {_REMEDY}") from None


_REMEDY = "fork with an agent that has the same tools"


def _drafts_that_acted(message: Mapping[str, Any]) -> list[Draft]:
    """The drafts of a message whose tools ran and were not undone, without approvals and calls that wait."""
    acted = [
        Draft(text="", tool_calls=[call for call in calls_that_ran(attempt) if call["name"] != INTERRUPT])
        for attempt in message.get("attempts", ())
        if attempt["verdict"] != "rejected" or was_not_undone(attempt)
    ]
    return [draft for draft in acted if draft.get("tool_calls")]


def _outcome(call: Mapping[str, Any]) -> str:
    """The result of a call as JSON, or its error, on one line."""
    text = f"the error {call['error']}" if call.get("error") else dumps(call.get("result"))
    return begin(text, _LONGEST)


def _calls(drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    return [call for draft in drafts for call in draft.get("tool_calls", [])]
