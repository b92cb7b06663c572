"""Requests over kept connections: sent once, followed only within the origin, their replies read only so far."""

import asyncio
import atexit
import os
from collections.abc import AsyncGenerator, Mapping
from typing import Any, NamedTuple
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from .faults import ReplyError, fault

CONNECT_SECONDS = 10.0
"""Most seconds until a connection is open: an address that never answers is found sooner than a slow reply."""
IDLE_SECONDS = 4.0
"""Seconds after which an idle connection is not used again. Common servers (uvicorn, and with it vLLM; node) close it
after 5, and a request at that moment is lost: nobody knows whether it was answered and must be paid."""
MOST_BYTES = 32 * 2**20
"""Most bytes of a reply, unpacked."""
MOST_REDIRECTS = 5
_HEAD_BYTES = 2**16
"""Most bytes of a line of a reply's head."""


class Response(NamedTuple):
    """A response with its whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def post(
    url: URL, body: bytes, headers: Mapping[str, str], *, proxy: str | None = None, seconds: float | None = None
) -> Response:
    """The response to a POST, whatever its status, all of it within these seconds.

    aiohttp's own errors, or ReplyError for a response that is too late, too large, or leads to another origin.
    """
    begun = False
    try:
        async with asyncio.timeout(seconds) as within:
            session = await _session()
            for _ in range(MOST_REDIRECTS + 1):
                request = session.post(url, data=body, headers=headers, proxy=proxy, allow_redirects=False)
                async with request as response:
                    to = response.headers.get("Location") if response.status in (301, 302, 303, 307, 308) else None
                    if to is None:
                        begun = True
                        return Response(response.status, response.headers, await _bounded(response))
                url = _within_origin(url, to)
    except TimeoutError:
        if not within.expired():  # of the connection
            raise
        name, when = ("too_slow", "in the middle of its reply") if begun else ("timeout", "before its reply")
        raise ReplyError(fault(name, f"timed out after {seconds:g} seconds, {when}")) from None
    raise ReplyError(fault("redirected", f"{_origin(url)} redirects without end"))


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    size, pieces = 0, []
    while piece := await response.content.readany():
        pieces.append(piece)
        if (size := size + len(piece)) > MOST_BYTES:
            raise ReplyError(fault("too_large", f"more than {MOST_BYTES // 2**20} MiB"))
    return b"".join(pieces)


def _within_origin(url: URL, location: str) -> URL:
    there = url.join(URL(location, encoded=True))
    if _origin(there) != _origin(url):
        redirect = f"{_origin(url)} redirects to {_origin(there)}"
        raise ReplyError(fault("redirected", f"{redirect}: give the address that it redirects to, if you trust it"))
    return there


def _origin(url: URL) -> str:
    return f"{url.scheme}://{url.host}:{url.port}"


def proxy_of(url: URL) -> str | None:
    """The proxy for this address by the environment (`HTTPS_PROXY`, `NO_PROXY`, ...); None without one."""
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(f"{url.host}:{url.port}") or proxy_bypass(url.host or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


class _Connector(aiohttp.TCPConnector):
    """Its connections end with their loop or with the process: nothing is left to do, or to say, when it is deleted."""

    def __del__(self, *_: Any) -> None:
        pass


_sessions: dict[asyncio.AbstractEventLoop, tuple[aiohttp.ClientSession, AsyncGenerator[aiohttp.ClientSession]]] = {}
_left: list[object] = []
"""Sessions of loops that are another process's, or another thread's at the end: touching them would touch the loop."""


async def _session() -> aiohttp.ClientSession:
    """The session of the running loop, which `loop.shutdown_asyncgens()` closes, at the end of `asyncio.run`."""
    loop = asyncio.get_running_loop()
    if loop not in _sessions:
        for closed in [other for other in list(_sessions) if other.is_closed()]:
            _leave(closed)
        lasting = _lasting(loop)
        _sessions[loop] = await anext(lasting), lasting
    return _sessions[loop][0]


async def _lasting(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[aiohttp.ClientSession]:
    session = aiohttp.ClientSession(
        connector=_Connector(limit=0, keepalive_timeout=IDLE_SECONDS),  # the gate bounds how many calls are under way
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        max_line_size=_HEAD_BYTES,
        max_field_size=_HEAD_BYTES,
    )
    try:
        yield session
    finally:
        _sessions.pop(loop, None)
        await session.close()


def _leave(*loops: asyncio.AbstractEventLoop) -> None:
    """Leave the sessions of these loops, or of all, to the system, which closes what is open."""
    for loop in loops or list(_sessions):
        _left.append(left := _sessions.pop(loop))
        left[0].detach()


atexit.register(_leave)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave)
