"""`duologue mcp`: an MCP server on stdio, by which a coding agent tests the agent that it writes."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ...errors import SettingError
from ..options.shared import option


def mcp_command(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="The only folder whose files are read and written.")
    ] = Path(),
    allow_simulate: Annotated[
        bool,
        option(
            "Let the tool `test` simulate conversations with agents of the folder, whose code it runs, and write run "
            "folders into out. Default: only stored conversations are read.",
            "--allow-simulate",
        ),
    ] = False,
) -> int:
    """Serve test, show, check and compare to a coding agent.

    A program starts it, with its standard input and output as the connection.
    """
    from ...hosts.mcp_server import folder_server

    if not folder.is_dir():
        raise SettingError(f"{folder}: is not a folder: give the one with the agent's code and its conversations")
    os.chdir(folder)  # where `.env` is read, as for the commands that it starts
    folder_server(Path.cwd(), may_simulate=allow_simulate).run("stdio")
    return 0
