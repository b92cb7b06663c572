"""Requests over kept connections: sent once, followed only within the origin, their replies read only so far."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from .faults import ReplyError, fault

IDLE_SECONDS = 4.0
"""Seconds after which an idle connection is not used again. Common servers (uvicorn, and with it vLLM; node) close it
after 5, and a request at that moment is lost: nobody knows whether it was answered and must be paid."""
MOST_BYTES = 32 * 2**20
"""Most bytes of a reply, unpacked."""
_BOUNDS: Any = {
    "timeout": aiohttp.ClientTimeout(total=None, sock_connect=10.0),
    "max_line_size": 2**16,
    "max_field_size": 2**16,
}
"""Of a connection, as an address that never answers is found sooner than a slow reply, and of a reply's head."""


async def post(
    address: str, key: str, body: bytes, *, proxy: str | None, seconds: float | None
) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of the response to a POST of JSON, whatever its status, all of it within these seconds.

    A user and a password in the address take the place of the key. aiohttp's own errors, or ReplyError for a response
    that is too late, too large, or leads to another origin.
    """
    url, begun = URL(address), False
    pair = f"{url.user}:{url.password or ''}".encode()
    url, authorization = url.with_user(None), f"Basic {b64encode(pair).decode()}" if url.user else f"Bearer {key}"
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    about: Any = {"data": body, "headers": headers, "proxy": proxy, "allow_redirects": False}
    over: Any = {"connector": await _connector(), "connector_owner": False, "cookie_jar": aiohttp.DummyCookieJar()}
    try:
        async with asyncio.timeout(seconds) as within, aiohttp.ClientSession(**over, **_BOUNDS) as session:
            for _ in range(6):
                async with session.post(url, **about) as response:
                    to = response.headers.get("Location") if response.status in (301, 302, 303, 307, 308) else None
                    if to is None:
                        begun = True
                        return response.status, response.headers, await _bounded(response)
                url = _within_origin(url, to)
    except TimeoutError:
        if not within.expired():  # of the connection
            raise
        name, when = ("too_slow", "in the middle of its reply") if begun else ("timeout", "before its reply")
        raise ReplyError(fault(name, f"timed out after {seconds:g} seconds, {when}")) from None
    raise ReplyError(fault("redirected", f"{url.origin()} redirects without end"))


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    size, pieces = 0, []
    while piece := await response.content.readany():
        pieces.append(piece)
        if (size := size + len(piece)) > MOST_BYTES:
            raise ReplyError(fault("too_large", f"more than {MOST_BYTES // 2**20} MiB"))
    return b"".join(pieces)


def _within_origin(url: URL, location: str) -> URL:
    try:
        there = url.join(URL(location, encoded=True))
        origin = there.origin()
    except ValueError:
        raise ReplyError(fault("redirected", f"{url.origin()} redirects to no address")) from None
    if origin != url.origin():
        redirect = f"{url.origin()} redirects to {origin}"
        raise ReplyError(fault("redirected", f"{redirect}: give the address that it redirects to, if you trust it"))
    return there


def proxy_of(address: str) -> str | None:
    """The proxy for this address by the environment (`HTTPS_PROXY`, `NO_PROXY`, ...); None without one."""
    url, proxies = URL(address), getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(f"{url.host}:{url.port}") or proxy_bypass(url.host or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


class _Connector(aiohttp.TCPConnector):
    """The connections of a loop, which end with it: one of a parent process, or of a thread at its end, is left alone."""

    def __del__(self, *_: Any) -> None:
        pass


_connectors: dict[asyncio.AbstractEventLoop, tuple[_Connector, AsyncGenerator[_Connector]]] = {}


async def _connector() -> _Connector:
    """The connections of the running loop, which `loop.shutdown_asyncgens()` closes, at the end of `asyncio.run`."""
    loop = asyncio.get_running_loop()
    if loop not in _connectors:
        for closed in [other for other in list(_connectors) if other.is_closed()]:
            _connectors.pop(closed, None)
        lasting = _lasting(loop)
        _connectors[loop] = await anext(lasting), lasting
    return _connectors[loop][0]


async def _lasting(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[_Connector]:
    connector = _Connector(limit=0, keepalive_timeout=IDLE_SECONDS)  # the gate bounds how many calls are under way
    try:
        yield connector
    finally:
        _connectors.pop(loop, None)
        await connector.close()
