"""What the commands that serve have in common: this machine's address, a free port, a token."""

import secrets  # noqa: TID251 - a token must be guessed by nobody, and is no part of a simulation
import socket
from pathlib import Path

from ..errors import SettingError
from .printing import say

HERE = "127.0.0.1"
"""The only address of a server of ours, since a person who opens its page can read every conversation."""
PORTS = 200
"""Ports that are tried, from the first one on."""


def new_token() -> str:
    """A token that cannot be guessed, of letters that need no escape in an address."""
    return secrets.token_urlsafe(24)


def listening(port: int | None, first: int) -> socket.socket:
    """A socket at the port, or at the first free one; SettingError if the one that was asked for is taken."""
    for candidate in [port] if port is not None else range(first, first + PORTS):
        opened = socket.socket()
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((HERE, candidate))
            opened.listen()
        except OSError:
            opened.close()
            continue
        return opened
    raise SettingError(f"--port {port}: is taken: give another" if port else "--port: none is free: give one")


def free_port(port: int | None, first: int) -> int:
    """The number of such a port."""
    with listening(port, first) as opened:
        return int(opened.getsockname()[1])


def token_in(path: Path) -> str:
    """The token in a file, which is made with a new one if it is missing; SettingError for a file without one."""
    if not path.exists():
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(new_token() + "\n", encoding="utf-8")
        say(f"a new token was written to {path}: give it to your clients")
    token = path.read_text(encoding="utf-8").strip()
    if not token or not token.isascii() or not token.isprintable():
        raise SettingError(f"--token {path}: holds no token: one line of ASCII, or no file")
    return token
