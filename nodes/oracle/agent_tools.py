"""The tools of an agent: their schemas, and what calls them outside the agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph.state import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from ...data.attempts import is_object
from ...data.test_design.tool_schemas import ToolSchema, schemas_of
from ...errors import DataError, DuologueError, SettingError, kind
from ..contract import required_parameters
from ..limits import Limits
from ..settings.import_path import imported
from ..settings.redaction import error_line
from ..speakers.agent_calls import own_context
from ..speakers.repeated_calls import called_by_node
from ..speakers.tools import tool_nodes, tools_of
from ..worlds import Context

FORMS = "a compiled LangGraph graph with tool nodes, or a list of tools, functions or objects in OpenAI's form"


@dataclass(frozen=True)
class PlayedCall:
    """A tool call that was made in a world, outside any conversation."""

    name: str
    arguments: Mapping[str, Any]
    result: Any = None
    error: str | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """Its name and arguments, as in a plan."""
        return {"name": self.name, "arguments": dict(self.arguments)}


@dataclass(frozen=True)
class AgentTools:
    """An agent's tools."""

    schemas: tuple[ToolSchema, ...]
    nodes: Mapping[str, Any] = field(default_factory=dict)
    """The tool node of each tool by name; none for tools of which only the schema is known."""
    agent: Any = None

    async def play(self, name: str, arguments: Mapping[str, Any], world: Any) -> PlayedCall:
        """Call a tool in a live world.

        What it raises is the call's error.
        """
        context: Any = Context.of(Limits(), world)
        if self.agent is not None:
            context = own_context("assistant", self.agent, None, {}, context)
        try:
            call = await called_by_node(self.nodes[name], name, arguments, context)
        except (Exception, SystemExit) as error:
            return PlayedCall(name, arguments, error=error_line(error))
        return PlayedCall(name, arguments, call.get("result"), call.get("error"))


def tools_at(path: str, what: str = "scenarios") -> AgentTools:
    """The tools of an import path.

    It names an agent, a list, or a function without parameters that makes one.

    SettingError or DataError, in one line, for anything else, for an agent without tools, and for two of one name.
    """
    value = imported(path, what)
    if callable(value) and not isinstance(value, BaseTool | Pregel | ToolNode) and required_parameters(value) == []:
        try:
            value = value()
        except DuologueError:
            raise
        except (Exception, SystemExit) as error:
            raise SettingError(f"{what}: {path}: failed: {error_line(error)}") from error
    return tools_in(value, f"{what}: {path}")


def tools_in(value: Any, where: str) -> AgentTools:
    """The tools of an agent or a list."""
    if isinstance(value, StateGraph):
        value = value.compile()
    if isinstance(value, Pregel):
        return _of_graph(value, where)
    if isinstance(value, ToolNode):
        value = list(value.tools_by_name.values())
    if isinstance(value, BaseTool):
        value = [value]
    if not isinstance(value, list | tuple):
        raise SettingError(f"{where}: has no tools: it is a value of the kind {kind(value)}; give {FORMS}")
    schemas = schemas_of([_described(one, where) for one in value], where)
    playable = [one for one in value if not is_object(one)]
    node = ToolNode(playable) if playable else None
    return AgentTools(schemas, dict.fromkeys(node.tools_by_name, node) if node is not None else {})


def _of_graph(agent: Any, where: str) -> AgentTools:
    tools: dict[str, object] = {}
    for name, tool in tools_of(agent):
        if tools.setdefault(name, tool) is not tool:
            raise DataError(f"{where}: has two tools of the name {name!r}: rename one of them, or leave it out")
    schemas = schemas_of([_described(tool, where) for tool in tools.values()], where)
    return AgentTools(schemas, tool_nodes(agent), agent)


def _described(tool: Any, where: str) -> Any:
    if is_object(tool):
        return tool
    try:
        return convert_to_openai_tool(tool)
    except Exception as error:
        raise SettingError(f"{where}: {kind(tool)} is not a tool ({error_line(error)}): give {FORMS}") from None
