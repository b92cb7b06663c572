"""An MCP server for a coding agent: the tools of a folder, and its runs as resources (extra `mcp`)."""

from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any

from ..data.identity import VERSION
from ..errors import DuologueError, of_extra
from .folder_commands import without_secrets
from .folder_tools import FolderTools, ToolAnswer

RUNS = "duologue://runs/"
"""Beginning of the addresses of run folders."""
INSTRUCTIONS = (
    "Test a conversational agent with simulated users, and read conversations. Paths are relative to the server's folder. "
    "A run folder holds the conversations of a test: `test` reports them, `show` lists them and shows one. "
)
READ_ONLY = "This server is read-only: it simulates only if it is started with --allow-simulate."
SIMULATES = "`test` with an assistant simulates conversations with the code of the folder as it is now."


def folder_server(root: Path, *, may_simulate: bool = False) -> Any:
    """The server, which reads and writes files of this folder only.

    Without `may_simulate` it writes nothing and runs no code of the folder. Else `test` simulates conversations with an
    agent in the folder.
    """
    of_extra("mcp", "mcp")
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ResourceError, ToolError
    from mcp_types import CallToolResult, Resource, ResourceLink, TextContent, ToolAnnotations

    tools = FolderTools(root, may_simulate=may_simulate)

    class FolderServer(MCPServer[Any]):
        async def list_resources(self) -> list[Resource]:
            """The runs as they are now."""
            return [
                Resource(**_named(Path(run.path).relative_to(root)), title=f"{run.cast}, {run.finished} conversations")
                for run in tools.runs()
            ]

    def served(tool: Callable[..., Awaitable[ToolAnswer]]) -> Callable[..., Awaitable[CallToolResult]]:
        @wraps(tool)
        async def call(**arguments: Any) -> CallToolResult:
            try:
                answer = await tool(**arguments)
            except DuologueError as error:
                raise ToolError(without_secrets(str(error))) from None
            links = [] if answer.run is None else [ResourceLink(**_named(Path(answer.run)))]
            return CallToolResult(
                content=[TextContent(type="text", text=answer.text), *links],
                structured_content={"exit_code": answer.code},
                is_error=answer.code > 1,
            )

        return call

    server = FolderServer(
        "duologue",
        version=VERSION,
        instructions=INSTRUCTIONS + (SIMULATES if may_simulate else READ_ONLY),
        log_level="CRITICAL",
    )
    for tool in (tools.test, tools.show, tools.check, tools.compare):
        simulates = may_simulate and tool == tools.test
        hints = ToolAnnotations(read_only_hint=not simulates, destructive_hint=False, open_world_hint=simulates)
        server.add_tool(served(tool), structured_output=False, annotations=hints)

    @server.resource(RUNS + "{+path}", name="run", description="The report of a run folder.", mime_type="text/plain")
    async def report(path: str) -> str:
        try:
            answer = await tools.test(run=path)
        except DuologueError as error:
            raise ResourceError(without_secrets(str(error))) from None
        if answer.code > 1:
            raise ResourceError(answer.text)
        return answer.text

    return server


def _named(path: Path) -> dict[str, Any]:
    """Address, name and kind of a run folder as a resource."""
    return {"uri": RUNS + path.as_posix(), "name": path.as_posix(), "mime_type": "text/plain"}
