"""Requests over kept connections: each is sent once, never after a redirect, and its reply is read only so far."""

import asyncio
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


async def post(
    address: str, key: str, body: bytes, *, proxy: str | None, seconds: float | None
) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of the response to a POST of JSON, whatever its status, all of it within these seconds.

    A user and a password in the address take the place of the key. aiohttp's own errors, or ReplyError for a response
    that is too late, too large, or leads elsewhere.
    """
    loop = asyncio.get_running_loop()
    if loop not in _open:
        for closed in [other for other in list(_open) if other.is_closed()]:
            _open.pop(closed, None)
        _open[loop] = _connections()
    url, pieces, begun = URL(address), bytearray(), False
    authorization = aiohttp.encode_basic_auth(url.user, url.password or "") if url.user else f"Bearer {key}"
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    session = aiohttp.ClientSession(
        connector=await anext(_open[loop]),
        connector_owner=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(
            total=None, sock_connect=10.0
        ),  # as what never answers is found before a slow reply
        max_line_size=2**16,
        max_field_size=2**16,
    )
    sent = session.post(url.with_user(None), data=body, headers=headers, proxy=proxy, allow_redirects=False)
    try:
        async with asyncio.timeout(seconds) as within, session, sent as response:
            if 300 <= response.status < 400 and (to := response.headers.get("Location")):
                there = to.removesuffix("/chat/completions")
                raise ReplyError(fault("redirected", f"to {there}: give that address, if you trust it"))
            begun = True
            while piece := await response.content.readany():
                pieces += piece
                if len(pieces) > MOST_BYTES:
                    raise ReplyError(fault("too_large", f"more than {MOST_BYTES // 2**20} MiB"))
            return response.status, response.headers, bytes(pieces)
    except TimeoutError:
        if not within.expired():  # of the connection
            raise
        name, when = ("too_slow", "in the middle of its reply") if begun else ("timeout", "before its reply")
        raise ReplyError(fault(name, f"timed out after {seconds:g} seconds, {when}")) from None


def proxy_of(address: str) -> str | None:
    """The proxy for this address by the environment (`HTTPS_PROXY`, `NO_PROXY`, ...); None without one."""
    url, proxies = URL(address), getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(f"{url.host}:{url.port}"):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


class _Connector(aiohttp.TCPConnector):
    """The connections of a loop, which end with it: one of a parent process, or of a thread at its end, is left alone."""

    def __del__(self, *_: Any) -> None:
        pass


_open: dict[asyncio.AbstractEventLoop, AsyncGenerator[aiohttp.BaseConnector]] = {}


async def _connections() -> AsyncGenerator[aiohttp.BaseConnector]:
    """Those of the running loop, which `loop.shutdown_asyncgens()` closes, at the end of `asyncio.run`."""
    loop = asyncio.get_running_loop()
    try:
        async with _Connector(
            limit=0, keepalive_timeout=IDLE_SECONDS
        ) as connector:  # the gate bounds how many are used
            while True:
                yield connector
    finally:
        _open.pop(loop, None)  # which may go on
