"""What is read of an agent that LangGraph compiled: its tools, what its state keeps, and whether it blocks the event loop."""

import inspect
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.channels import LastValue
from langgraph.graph.message import add_messages
from langgraph.pregel import Pregel

from ..contract import call_of


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
