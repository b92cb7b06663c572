"""Which tools of an agent change something outside it: a rejected draft that called one cannot just be asked again."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from langgraph.pregel import Pregel

from ...data.attempts import INTERRUPT, WAITING
from ..contract import ContractError
from ..state import Draft

ReadOnly: TypeAlias = bool | Collection[str]
"""Names of the tools that change nothing outside the agent's own state; True: all of them."""

NOT_ASKED_AGAIN, NOT_UNDONE = "not asked again: it had called ", "not undone: it had called "
"""How the note of a draft begins whose tools ran and were not undone, before their names: `NOT_ASKED_AGAIN` where it was
rejected for that, `NOT_UNDONE` where the conversation had ended."""
_HINTS = ("readOnlyHint", "read_only")
"""Keys of a tool's metadata that declare it read-only: the Model Context Protocol's annotation, and a plain one."""


def read_only_tools(role: str, agent: object, named: ReadOnly) -> bool | tuple[str, ...]:
    """The read-only tools of an agent: those that are named, and those that declare it themselves."""
    if isinstance(named, bool):
        return named or declared(agent)
    if isinstance(named, str) or not all(isinstance(name, str) for name in named):
        raise ContractError(f"{role}: read_only: expected a list of tools' names, or True for all; got {named!r}")
    return tuple(dict.fromkeys([*named, *declared(agent)]))


def told_read_only(read_only: ReadOnly) -> dict[str, Any]:
    """The read-only tools for the record; nothing without any."""
    return {"read_only": read_only if isinstance(read_only, bool) else list(read_only)} if read_only else {}


def declared(agent: object) -> tuple[str, ...]:
    """Names of the tools in a compiled graph, and in graphs inside it, whose metadata marks them as read-only.

    `tool.metadata = {"readOnlyHint": True}`, as a tool of a server of the Model Context Protocol has it, or
    `{"read_only": True}`.
    """
    return tuple(sorted({name for name, tool in tools_of(agent) if _says_so(getattr(tool, "metadata", None))}))


def tools_of(agent: object) -> Iterator[tuple[str, object]]:
    """The tools in a compiled graph, and in graphs inside it, by name."""
    for node in _tool_nodes(agent):
        yield from node.tools_by_name.items()


def tool_nodes(agent: object) -> dict[str, Any]:
    """The tool node of each tool in a compiled graph, and in graphs inside it, by the tool's name."""
    return {name: node for node in _tool_nodes(agent) for name in node.tools_by_name}


def _tool_nodes(agent: object) -> Iterator[Any]:
    if not isinstance(agent, Pregel):
        return
    for graph in (agent, *(graph for _, graph in agent.get_subgraphs(recurse=True))):
        for node in getattr(graph, "nodes", {}).values():
            if isinstance(getattr(node.bound, "tools_by_name", None), Mapping):  # a ToolNode
                yield node.bound


def _says_so(metadata: Any) -> bool:
    if not isinstance(metadata, Mapping):
        return False
    return any(metadata.get(hint) is True for hint in _HINTS) or _says_so(metadata.get("annotations"))


def calls_that_ran(draft: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of a draft or an attempt without those that wait for the user's answer."""
    return [call for call in draft.get("tool_calls", []) if call.get("error") != WAITING]


def was_not_undone(attempt: Mapping[str, Any]) -> bool:
    """Whether an attempt's tools ran and what they did lasts, although the draft may not have been sent."""
    return any(str(note).startswith((NOT_ASKED_AGAIN, NOT_UNDONE)) for note in attempt.get("notes", ()))


def lasting(speaker: object, drafts: Sequence[Draft]) -> list[str]:
    """Names of the tools that were called for the drafts and may have changed something, in order.

    A speaker says with `read_only` which tools change nothing; of one that does not say, any may.
    """
    read_only: Any = getattr(speaker, "read_only", ())
    if read_only is True:
        return []
    called = (call["name"] for draft in drafts for call in draft.get("tool_calls", []))
    return list(dict.fromkeys(name for name in called if name not in (INTERRUPT, *(read_only or ()))))
