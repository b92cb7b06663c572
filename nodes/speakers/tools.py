"""The tools of an agent: which of them change something outside it, and their calls made again in a fork's new world."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel import Pregel

from ...data.files.json_files import dumps
from ...data.records import INTERRUPT, WAITING, Role, begin
from ..contract import ContractError
from ..limits import Limits
from ..replies import reply_of
from ..settings.redaction import error_line
from ..state import Draft, State, said
from ..worlds import Context, WorldError
from .lent import alone, own_context

ReadOnly: TypeAlias = bool | Collection[str]
"""Names of the tools that change nothing outside the agent's own state; True: all of them."""

NOT_ASKED_AGAIN, NOT_UNDONE = "not asked again: it had called ", "not undone: it had called "
"""How the note of a draft begins whose tools ran and were not undone, before their names: `NOT_ASKED_AGAIN` where it was
rejected for that, `NOT_UNDONE` where the conversation had ended."""


def tools_of(agent: object) -> Iterator[tuple[str, Any]]:
    """The tools in a compiled graph, and in graphs inside it: the name of each, and the tool node that calls it."""
    graphs = (agent, *(graph for _, graph in agent.get_subgraphs(recurse=True))) if isinstance(agent, Pregel) else ()
    for node in (node.bound for graph in graphs for node in getattr(graph, "nodes", {}).values()):
        if isinstance(getattr(node, "tools_by_name", None), Mapping):  # a ToolNode
            yield from ((name, node) for name in node.tools_by_name)


def read_only_tools(role: Role, agent: object, named: ReadOnly) -> bool | tuple[str, ...]:
    """The read-only tools of an agent: those that are named, and those that declare it themselves."""
    if isinstance(named, bool):
        return named or declared(agent)
    if isinstance(named, str) or not all(isinstance(name, str) for name in named):
        raise ContractError(f"{role}: read_only: expected a list of tools' names, or True for all; got {named!r}")
    return tuple(dict.fromkeys([*named, *declared(agent)]))


def declared(agent: object) -> tuple[str, ...]:
    """Names of the tools in a compiled graph, and in graphs inside it, whose metadata marks them as read-only.

    `tool.metadata = {"readOnlyHint": True}`, as a tool of a server of the Model Context Protocol has it, or
    `{"read_only": True}`.
    """
    metadata = ((name, getattr(node.tools_by_name[name], "metadata", None)) for name, node in tools_of(agent))
    return tuple(sorted({name for name, values in metadata if _says_so(values)}))


def _says_so(metadata: Any) -> bool:
    return isinstance(metadata, Mapping) and (
        True in (metadata.get("readOnlyHint"), metadata.get("read_only")) or _says_so(metadata.get("annotations"))
    )


def lasting(speaker: object, drafts: Sequence[Draft]) -> list[str]:
    """Names of the tools that were called for the drafts and may have changed something, in order.

    A speaker says with `read_only` which tools change nothing; of one that does not say, any may.
    """
    read_only: Any = getattr(speaker, "read_only", ())
    called = (call["name"] for draft in drafts for call in draft.get("tool_calls", []) if read_only is not True)
    return list(dict.fromkeys(name for name in called if name not in (INTERRUPT, *(read_only or ()))))


def calls_that_ran(draft: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of a draft or an attempt without those that wait for the user's answer."""
    return [call for call in draft.get("tool_calls", []) if call.get("error") != WAITING]


def calls_made(attempt: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls that ran, without the approvals, which are recorded as calls."""
    return [call for call in calls_that_ran(attempt) if call["name"] != INTERRUPT]


def was_not_undone(attempt: Mapping[str, Any]) -> bool:
    """Whether an attempt's tools ran and what they did lasts, although the draft may not have been sent."""
    return any(str(note).startswith((NOT_ASKED_AGAIN, NOT_UNDONE)) for note in attempt.get("notes", ()))


async def brought_to(state: State, limits: Limits, speakers: Mapping[Role, object]) -> None:
    """Bring the new world of a fork to where its last kept message left it; WorldError if that fails.

    The tool calls of the kept messages are made again in order by the tool nodes of each side's agent, and have to give
    what is recorded. A conversation that is not a fork has nothing to bring back.
    """
    if not isinstance(limits, Context) or limits.world is None or not state.get("origin", {}).get("forks"):
        return
    for number, message in enumerate(said(state)):
        ran = [one for one in message.get("attempts", ()) if one["verdict"] != "rejected" or was_not_undone(one)]
        for call in (call for attempt in ran for call in calls_made(attempt)):
            again = await _again(call, speakers[message["role"]], state, limits)
            if any(again.get(key) != call.get(key) for key in ("result", "error")):
                raise WorldError(
                    f"message #{number}: {call['name']} gives another result: {_outcome(call)} is recorded, now it gives "
                    f"{_outcome(again)}: fork with an agent that has the same tools"
                )


async def _again(call: Mapping[str, Any], speaker: Any, state: State, limits: Limits) -> dict[str, Any]:
    agent = getattr(speaker, "agent", None)
    if (node := dict(tools_of(agent)).get(call["name"])) is None:
        return {"error": "the side's agent has no tool node with it"}
    try:
        context = own_context(speaker.role, agent, speaker.context, state["scenario"], limits)
        return await called_by_node(node, call["name"], call.get("arguments", {}), context)
    except Exception as error:
        return {"error": error_line(error)}


async def called_by_node(node: Any, name: str, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """The plain form of one tool call by a tool node, outside its agent; it raises what the node does not handle."""
    request = AIMessage("", tool_calls=[{"name": name, "args": dict(arguments), "id": "call"}])
    graph: Any = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools")
    with alone(context):
        answer = await graph.compile().ainvoke({"messages": [request]}, context=context)
    return dict(reply_of(answer["messages"])["tool_calls"][0])


def _outcome(call: Mapping[str, Any]) -> str:
    """The result of a call as JSON, or its error, on one line."""
    return begin(f"the error {call['error']}" if call.get("error") else dumps(call.get("result")), 300)
