"""Requests over a kept connection, and their responses: in bounds, and from the same origin."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import aiohttp
import httpx2
from yarl import URL

from . import clients
from .clients import OF_ENCODING, CallNotes, check_origin, counted, endless
from .reported_limits import note_headers
from .request_forms import RequestForm
from .sessions import lines

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEPT_METHOD = frozenset({307, 308})


class WholeResponse(NamedTuple):
    """A response with its complete body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def response(self) -> httpx2.Response:
        """The same for the package that reads errors."""
        headers = [(name, value) for name, value in self.headers.items() if name.lower() not in OF_ENCODING]
        return httpx2.Response(self.status, headers=headers, content=self.body)


async def exchanged(form: RequestForm, body: bytes, more: Mapping[str, str], noted: CallNotes) -> WholeResponse:
    """The response to a request with this body and these further headers; RequestError without one.

    The request is sent once, also where a kept connection turns out to be closed. The endpoint may have answered before
    that, and a second request would cost too. Retries are made by the code that holds the rate limiter.
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
                    note_headers(response.headers)
                    return WholeResponse(response.status, response.headers, await _body(response))
        except (aiohttp.ClientError, OSError) as error:
            raise _of_package(error) from getattr(error, "certificate_error", None)
        url = _within_origin(url, to)
        if response.status not in _KEPT_METHOD:
            method, data = "GET", b""
    raise endless(str(form.url))


def _within_origin(url: URL, location: str) -> URL:
    """The target of a redirect; ReplyError if it is another origin."""
    here = httpx2.URL(str(url))
    try:
        there = here.join(location)
    except httpx2.InvalidURL as error:
        raise httpx2.RemoteProtocolError(f"a redirect to no address: {error}") from None
    check_origin(here, there)
    return URL(str(there), encoded=True)


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
"""Errors of sessions, and their names in the package whose errors all other code reads."""


def _of_package(error: Exception) -> httpx2.RequestError:
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, aiohttp.ClientPayloadError) and "content-encoding" in words.lower():
        return httpx2.DecodingError(words)
    return next((error_type for kind, error_type in _OF_PACKAGE if isinstance(error, kind)), httpx2.ReadError)(words)
