"""The process of the labelling page: `duologue label` starts it, and it ends with that command, also a killed one."""

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from ..views.doors import HERE, listening, new_token, path_of, stay_on_this_machine
from .doors import Door

SETTINGS = {
    "browser.gatherUsageStats": False,
    "browser.serverAddress": HERE,
    "client.toolbarMode": "minimal",
    "global.developmentMode": False,
    "server.enableCORS": True,
    "server.enableStaticServing": False,
    "server.enableXsrfProtection": True,
    "server.fileWatcherType": "none",
}


def _end_with_the_command(folder: Path) -> None:
    """Wait until the command is gone, then end this server: left alone it would keep the person's file locked.

    The command holds the other end of this process' input. However it ends, killed too, the system closes that end.
    """
    while os.read(0, 1):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _settle(folder: Path) -> None:
    """Make Streamlit read no settings but ours: the working folder and the home become a folder of the command's own.

    A `.streamlit` of either would change the page.
    """
    environment = os.environ  # noqa: TID251 - that of this process, which serves a page and does nothing else
    for name in [name for name in environment if name.upper().startswith("STREAMLIT_")]:
        del environment[name]
    environment.update(HOME=str(folder), USERPROFILE=str(folder))
    os.chdir(folder)
    from streamlit import config

    for name, value in SETTINGS.items():
        config.set_option(name, value)


def _run(folder: Path, port: int, ports: int) -> None:
    """Serve `page.py` of the folder; print the address with its token once it can be opened."""
    Thread(target=_end_with_the_command, args=(folder,), daemon=True).start()
    sys.addaudithook(stay_on_this_machine)
    token = new_token()
    _settle(folder)
    import streamlit
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Mount

    opened, port = listening(port, ports)  # somebody may have taken it since the command looked
    page = streamlit.App(folder / "page.py")
    begin = page.lifespan()

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[Any]:
        async with begin(app) as state:
            sys.stdout.write(f"http://{HERE}:{port}/?token={token}\n")  # the socket listens, and the page has begun
            sys.stdout.flush()
            yield state

    app = Starlette(routes=[Mount(path_of(token).rstrip("/"), page)], lifespan=lifespan)
    uvicorn.Server(
        uvicorn.Config(Door(app, token), log_level="error", server_header=False, timeout_graceful_shutdown=1)
    ).run(sockets=[opened])


if __name__ == "__main__":
    _run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
