"""Requests as they go over a kept connection, and what comes back: in bounds, and from the same origin."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import aiohttp
import httpx2
from yarl import URL

from . import clients
from .clients import Seen, check_origin, counted, endless
from .forms import Form
from .sessions import lines

_DECODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEPT_METHOD = frozenset({307, 308})


class Came(NamedTuple):
    """A response whose body was read."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def response(self) -> httpx2.Response:
        """The same for the package that reads errors."""
        headers = [(name, value) for name, value in self.headers.items() if name.lower() not in _DECODED]
        return httpx2.Response(self.status, headers=headers, content=self.body)


async def exchanged(form: Form, body: bytes, more: Mapping[str, str], noted: Seen) -> Came:
    """What comes of a request with this body and these further headers. RequestError: nothing came.

    It is sent once, also where a kept connection turns out to be closed: it may have been answered before that, and be
    paid twice. Whoever makes calls again does so knowingly, with all that the gate knows.
    """
    session = (await lines()).session
    method, url, data = "POST", form.url, body
    headers = form.headers
    if more:
        headers = headers.copy()
        headers.update(more)
    about: Any = {"headers": headers, "allow_redirects": False, "proxy": form.proxy, "ssl": form.trust}
    for _ in range(clients.MOST_REDIRECTS + 1):
        try:
            async with session.request(method, url, data=data, **about) as response:
                to = response.headers.get("Location") if response.status in _REDIRECTS else None
                if to is None:
                    noted.head = True
                    return Came(response.status, response.headers, await _body(response))
        except (aiohttp.ClientError, OSError) as error:
            raise _of_package(error) from None
        there = url.join(URL(to))
        check_origin(httpx2.URL(str(url)), httpx2.URL(str(there)))
        if response.status not in _KEPT_METHOD:
            method, data = "GET", b""
        url = there
    raise endless(str(form.url))


async def _body(response: aiohttp.ClientResponse) -> bytes:
    size, pieces = 0, []
    while piece := await response.content.readany():
        size = counted(size, piece)
        pieces.append(piece)
    return b"".join(pieces)


_OF_PACKAGE: tuple[tuple[type[Exception], type[httpx2.RequestError]], ...] = (
    (TimeoutError, httpx2.ConnectTimeout),
    (aiohttp.ClientHttpProxyError, httpx2.ProxyError),
    (aiohttp.ClientProxyConnectionError, httpx2.ProxyError),
    (aiohttp.ClientConnectorError, httpx2.ConnectError),
    (aiohttp.ServerDisconnectedError, httpx2.RemoteProtocolError),
    (aiohttp.ClientPayloadError, httpx2.RemoteProtocolError),
    (aiohttp.ClientResponseError, httpx2.RemoteProtocolError),
    (aiohttp.InvalidURL, httpx2.UnsupportedProtocol),
)
"""Errors of sessions, and what they are called by the package whose errors are known everywhere else."""


def _of_package(error: Exception) -> httpx2.RequestError:
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, aiohttp.ClientPayloadError) and "content-encoding" in words.lower():
        return httpx2.DecodingError(words)
    return next((made for kind, made in _OF_PACKAGE if isinstance(error, kind)), httpx2.ReadError)(words)
