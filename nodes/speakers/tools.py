"""The tools of an agent: which of them change something outside it, and what was called in drafts and in a fork."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.channels import LastValue
from langgraph.graph.message import add_messages
from langgraph.pregel import Pregel

from ...data.records import INTERRUPT, WAITING, Role
from ..contract import call_of
from ..state import State, said
from ..worlds import WorldError

NOT_ASKED_AGAIN, NOT_UNDONE = "not asked again: it had called ", "not undone: it had called "
"""How the note of a draft begins whose tools ran and were not undone, before their names: `NOT_ASKED_AGAIN` where it was
rejected for that, `NOT_UNDONE` where the conversation had ended."""

STRUCTURED = "structured_response"
"""The channel of an agent's structured response, and its key among what is kept of a reply."""


# What LangGraph has no public name for stands here alone. A test says so when LangGraph renames it.

RESUMING = "__pregel_resuming"
"""The setting by which a graph tells those inside it that they go on from where they stopped. The agent is nested, to be
seen in the streams, in a graph that is not resumed: without it a sub-agent's turn would begin anew."""
BETWEEN, BEFORE_ID = "|", ":"
"""What stands in a `checkpoint_ns` between the graphs, and between a node's name and its id."""
ASKED = "__interrupt__"
"""The key of the interrupts in what a graph answers."""


def _nodes_of(agent: object) -> list[Any]:
    """What the nodes of a compiled graph call, and of graphs inside it."""
    graphs = (agent, *(graph for _, graph in agent.get_subgraphs(recurse=True))) if isinstance(agent, Pregel) else ()
    return [node.bound for graph in graphs for node in getattr(graph, "nodes", {}).values()]


def tools_of(agent: object) -> Iterator[tuple[str, Any]]:
    """The tools in a compiled graph, and in graphs inside it: the name of each, and the tool node that calls it."""
    for node in _nodes_of(agent):
        if isinstance(getattr(node, "tools_by_name", None), Mapping):  # a ToolNode
            yield from ((name, node) for name in node.tools_by_name)


def blocks_the_loop(agent: Any) -> bool:
    """Whether an agent has a coroutine, which may block the event loop; what is not async gets a thread of its own."""
    if isinstance(agent, Pregel):  # LangGraph wraps what is not async in a `partial`
        functions = (getattr(node, "afunc", None) for node in _nodes_of(agent))
        return any(function is not None and not isinstance(function, partial) for function in functions)
    return isinstance(agent, Runnable) or inspect.iscoroutinefunction(call_of(agent))


def joins_messages(agent: Pregel[Any, Any, Any, Any]) -> bool:
    """Whether its state joins messages by LangGraph's reducer, which takes out those that a RemoveMessage names."""
    return getattr(agent.channels["messages"], "operator", None) is add_messages


def keeps_messages(agent: Pregel[Any, Any, Any, Any]) -> bool:
    """Whether a thread keeps what it was sent before; that of an `@entrypoint` does if it takes its own last result."""
    if "messages" in agent.channels:
        return not isinstance(agent.channels["messages"], LastValue)
    node = _nodes_of(agent)[0]
    return "previous" in inspect.signature(node.func or node.afunc).parameters


def is_limit(node: str, update: Any) -> bool:
    """Whether a node is a limit's middleware, such as LangChain's `ModelCallLimitMiddleware`, and ends the turn.

    Another middleware that ends it has answered.
    """
    middleware, _, hook = node.rpartition(".")
    ends = isinstance(update, Mapping) and update.get("jump_to") == "end"
    return ends and hook in ("before_model", "after_model") and "limit" in middleware.lower()


def declared(agent: object) -> tuple[str, ...]:
    """Names of the tools in a compiled graph, and in graphs inside it, that say of themselves that they change nothing.

    `tool.metadata = {"readOnlyHint": True}` says so, as a tool of a server of the Model Context Protocol has it.
    """
    metadata = ((name, getattr(node.tools_by_name[name], "metadata", None)) for name, node in tools_of(agent))
    return tuple(sorted({name for name, values in metadata if (values or {}).get("readOnlyHint") is True}))


def lasting(speaker: object, calls: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of the tools that were called and may have changed something, in order.

    A speaker says with `read_only` which tools change nothing; of one that does not say, any may.
    """
    read_only: Any = getattr(speaker, "read_only", ())
    called = (call["name"] for call in calls if read_only is not True)
    return list(dict.fromkeys(name for name in called if name not in (INTERRUPT, *(read_only or ()))))


def acts_in(draft: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of a draft or an attempt without the one that is its structured response, as of `ToolStrategy`."""
    response = (draft.get("kept") or {}).get(STRUCTURED) or {}

    def is_response(call: Mapping[str, Any]) -> bool:
        given = call.get("arguments") or {}
        same = all(key in response and response[key] == value for key, value in given.items())
        return same and (draft["text"] in given.values() or given.keys() == response.keys())

    return [call for call in draft.get("tool_calls", []) if not response or not is_response(call)]


def calls_that_ran(draft: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The acts of a draft or an attempt without those that wait for an answer, and approvals, which are recorded so."""
    return [call for call in acts_in(draft) if call.get("error") != WAITING and call["name"] != INTERRUPT]


def was_not_undone(attempt: Mapping[str, Any]) -> bool:
    """Whether an attempt's tools ran and what they did lasts, although the draft may not have been sent."""
    return any(str(note).startswith((NOT_ASKED_AGAIN, NOT_UNDONE)) for note in attempt.get("notes", ()))


def check_fork(state: State, speakers: Mapping[Role, object]) -> None:
    """WorldError if the kept messages of a fork called tools that may have changed something: a new world lacks that."""
    for number, message in enumerate(said(state) if state.get("origin", {}).get("forks") else ()):
        ran = [one for one in message.get("attempts", ()) if one["verdict"] != "rejected" or was_not_undone(one)]
        calls = [call for one in ran for call in calls_that_ran(one)]
        if names := lasting(speakers[message["role"]], calls):
            raise WorldError(
                f"the fork's new world lacks what {', '.join(names)} did for message #{number}: fork at an earlier "
                "message, or declare the tools that change nothing as read-only"
            )
