"""Who may talk to a server of this machine: those who have its address, from a page of its own.

A browser sends requests for any page that is open in it, and every user of the machine reaches a port of it. So a request
needs a token, which only the printed address holds, and its `Host` and `Origin` must be those of this server.
"""

import secrets  # noqa: TID251 - a token must be guessed by nobody, and is no part of a simulation
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from ..data.identity import digest

AsgiScope: TypeAlias = MutableMapping[str, Any]
AsgiReceive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
AsgiSend: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]
"""An ASGI application."""

HOSTS = ("127.0.0.1", "localhost")
"""Names of this machine. Any other name in `Host` is that of a page whose name was bound to this address."""
COOKIE = "duologue"
HEADERS = (
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'none'; form-action 'self'",
    ),
)
"""Headers of every response: nothing is loaded from elsewhere, and no other page shows this one in a frame."""
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


class Door:
    """An ASGI middleware that answers its own page, with the token, under a name of this machine.

    `/?token=TOKEN` sets a cookie and leads to the path of the token. Every other request needs that cookie. What is refused
    has status 403 (a wrong host 421); a web socket is closed before it opens.
    """

    def __init__(self, app: AsgiApp, token: str) -> None:
        self.app = app
        self.token = token
        self.path = path_of(token)

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if refusal := self._refusal(scope, headers):
            await _refuse(scope, send, *refusal)
        elif scope["path"] == "/":
            cookie = f"{COOKIE}={self.token}; Path={self.path}; HttpOnly; SameSite=Strict".encode()
            await _answer(send, 200, OPENING.format(self.path), b"text/html", ((b"set-cookie", cookie),))
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refusal(self, scope: AsgiScope, headers: MutableMapping[bytes, str]) -> tuple[int, str] | None:
        """Status and reason of a refusal; None for a request that is answered."""
        host = headers.get(b"host", "")
        if host.rpartition(":")[0] not in HOSTS:
            return 421, "This server answers under the address that the command printed."
        origin = headers.get(b"origin")
        if origin != f"http://{host}" and (origin is not None or scope["type"] == "websocket"):
            return 403, "This server answers its own page only."
        if scope["path"] == "/" and scope["type"] == "http":
            given_tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        else:
            given_tokens = [_cookie(headers.get(b"cookie", ""))]
        if not secrets.compare_digest(given_tokens[0].encode(), self.token.encode()):
            return 403, "Open the address that the command printed, with its token."
        return None


def _cookie(header: str) -> str:
    """The token of a `Cookie` header; empty without one."""
    try:
        cookies = SimpleCookie(header)
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _with_headers(send: AsgiSend) -> AsgiSend:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
        await send(message)

    return sending


async def _refuse(scope: AsgiScope, send: AsgiSend, status: int, reason: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, status, reason, b"text/plain")


async def _answer(
    send: AsgiSend, status: int, text: str, kind: bytes, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    content = (b"content-type", kind + b"; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [content, *HEADERS, *headers]})
    await send({"type": "http.response.body", "body": text.encode()})
