"""Who may talk to a server of this machine: those who have its address, from a page of its own.

A browser sends requests for any page that is open in it, and every user of the machine reaches a port of it. So a request
needs a token, which only the printed address holds, and its `Host` and `Origin` must be those of this server.
"""

import secrets  # noqa: TID251 - a token must be guessed by nobody, and is no part of a simulation
import socket
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from ..data.identity import digest

HERE = "127.0.0.1"
"""The only address of a server of ours, since a person who opens its page can read every conversation."""
HOSTS = (HERE, "localhost")
"""Names of this machine. Any other name in `Host` is that of a page whose name was bound to this address."""
COOKIE = "duologue"
HEADERS = (("referrer-policy", "no-referrer"), ("cross-origin-resource-policy", "same-origin"))
"""Headers of every response; each server adds a policy that loads nothing from elsewhere and allows no frame."""
OPENING = '<!doctype html><meta charset="utf-8"><title>Duologue</title><meta http-equiv="refresh" content="0;url={}">'
"""A page that leads on. A redirect from another site would come without the cookie, which stays within this site."""


def new_token() -> str:
    """A token that cannot be guessed, of letters that need no escape in an address."""
    return secrets.token_urlsafe(24)


def path_of(token: str) -> str:
    """The path below which a server with this token answers, such as `/3fa9c1/`.

    Cookies are sent to every port of a host. A path that other servers do not have keeps the cookie from them.
    """
    return f"/{digest('path', token)[:16]}/"


class DoorKey:
    """The token of a server, and the requests that it answers.

    `/?token=TOKEN` sets a cookie and leads to the path of the token. Every other request needs that cookie.
    """

    def __init__(self, token: str) -> None:
        self.token, self.path = token, path_of(token)

    @property
    def cookie(self) -> str:
        """The value of `Set-Cookie`."""
        return f"{COOKIE}={self.token}; Path={self.path}; HttpOnly; SameSite=Strict"

    @property
    def opening(self) -> str:
        """The page that the printed address opens."""
        return OPENING.format(self.path)

    def refusal(
        self, path: str, query: str, headers: Mapping[str, str], *, is_socket: bool = False
    ) -> tuple[int, str] | None:
        """Status and reason of a refusal, 403 or 421 for a wrong host; None for a request that is answered.

        `headers`: by their names in lower case. `is_socket`: whether a web socket is to be opened.
        """
        if refusal := wrong_place(headers, is_socket=is_socket):
            return refusal
        if path == "/" and not is_socket:
            given_tokens = parse_qs(query).get("token", [""])
        else:
            given_tokens = [_cookie(headers.get("cookie", ""))]
        if not secrets.compare_digest(given_tokens[0].encode(), self.token.encode()):
            return 403, "Open the address that the command printed, with its token."
        return None


def wrong_place(headers: Mapping[str, str], *, is_socket: bool = False) -> tuple[int, str] | None:
    """Status and reason of a refusal by a request's `Host` and `Origin`; None if both are those of this machine."""
    host = headers.get("host", "")
    if host.rpartition(":")[0] not in HOSTS:
        return 421, "This server answers under the address that the command printed."
    origin = headers.get("origin")
    if origin != f"http://{host}" and (origin is not None or is_socket):
        return 403, "This server answers its own page only."
    return None


def listening(port: int, ports: int) -> tuple[socket.socket, int]:
    """A socket at the first free port of so many from this one on; OSError if none is free."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((HERE, port))
        opened.listen()
    except OSError:
        opened.close()
        if ports > 1:
            return listening(port + 1, ports - 1)
        raise
    return opened, port


def _cookie(header: str) -> str:
    """The token of a `Cookie` header; empty without one."""
    try:
        cookies = SimpleCookie(header)
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def stay_on_this_machine(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook that refuses every connection to elsewhere, and every question for an address.

    A process of ours that serves a page needs none.
    """
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][0] not in (HERE, "::1"):
        raise PermissionError(f"a page's server connects to nothing: {arguments[1][0]}")
    if event == "socket.getaddrinfo" and arguments[0] not in (None, "", HERE, b"127.0.0.1", "localhost", "::1"):
        raise PermissionError(f"a page's server looks up no address: {arguments[0]}")
