"""What the commands that serve other programs share: a token in a file, and a port of this machine."""

import socket
from pathlib import Path
from typing import Annotated, TypeAlias

from ...errors import SettingError
from ..options.sections import OUTPUT
from ..options.shared import option
from ..streams import say

PORTS = 200
"""Ports that are tried, from the first one on."""

ServerToken: TypeAlias = Annotated[
    Path | None,
    option(
        "Answer only clients with the token in this file. If there is no such file, it is written with a new token.",
        "--token",
        section=OUTPUT,
        metavar="FILE",
    ),
]


def port_from(first: int, content: str) -> object:
    """The port of a server."""
    return option(
        f"Serve {content} at this port. Default: the first free one from {first}.",
        "--port",
        section=OUTPUT,
        min=1,
        max=65535,
    )


def opened_at(port: int | None, first: int) -> tuple[socket.socket, str]:
    """A socket that listens, and its address.

    Without a `port` it is the first free one. SettingError if the port is taken.
    """
    from ...views.doors import HERE, listening

    try:
        opened, number = listening(port or first, 1 if port is not None else PORTS)
    except OSError:
        raise SettingError(f"--port {port or first}: is taken: give another") from None
    return opened, f"http://{HERE}:{number}"


def token_in(path: Path) -> str:
    """The token in a file; SettingError for a file without one.

    A missing file is written with a new token.
    """
    from ...views.doors import new_token

    if not path.exists():
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(new_token() + "\n", encoding="utf-8")
        say(f"a new token was written to {path}: give it to your clients")
    token = path.read_text(encoding="utf-8").strip()
    if not token or not token.isascii() or not token.isprintable():
        raise SettingError(f"--token {path}: holds no token: one line of ASCII, or no file")
    return token
