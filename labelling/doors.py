"""The door of the labelling page's server, as an ASGI middleware: the rules are `views.doors`'."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from ..views.doors import HEADERS, DoorKey

AsgiScope: TypeAlias = MutableMapping[str, Any]
AsgiReceive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
AsgiSend: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]
"""An ASGI application."""

POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'none'; form-action 'self'"
"""The policy of Streamlit's page, which writes scripts and styles of its own."""


class Door:
    """An ASGI middleware that answers its own page, with the token, under a name of this machine.

    What is refused has the status of `DoorKey.refusal`; a web socket is closed before it opens.
    """

    def __init__(self, app: AsgiApp, token: str) -> None:
        self.app = app
        self.key = DoorKey(token)

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query, is_socket = scope["query_string"].decode("latin-1"), scope["type"] == "websocket"
        if refusal := self.key.refusal(scope["path"], query, headers, is_socket=is_socket):
            await _refuse(scope, send, *refusal)
        elif scope["path"] == "/":
            await _answer(send, 200, self.key.opening, b"text/html", (("set-cookie", self.key.cookie),))
        else:
            await self.app(scope, receive, _with_headers(send))


def _with_headers(send: AsgiSend) -> AsgiSend:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *_encoded()]}
        await send(message)

    return sending


def _encoded(*headers: tuple[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers of every response, and these."""
    every = (*HEADERS, ("content-security-policy", POLICY), *headers)
    return [(name.encode(), value.encode()) for name, value in every]


async def _refuse(scope: AsgiScope, send: AsgiSend, status: int, reason: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, status, reason, b"text/plain")


async def _answer(
    send: AsgiSend, status: int, text: str, kind: bytes, headers: tuple[tuple[str, str], ...] = ()
) -> None:
    content = (b"content-type", kind + b"; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [content, *_encoded(*headers)]})
    await send({"type": "http.response.body", "body": text.encode()})
