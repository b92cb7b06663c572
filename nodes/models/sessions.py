"""The sessions of `aiohttp` for calls to endpoints: one for each running event loop, closed with it."""

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from typing import Any
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import aiohttp
import httpx2
from yarl import URL

CONNECT_SECONDS = 10.0
"""Maximum seconds for a connection: an address that never answers is detected sooner than a slow reply."""
IDLE_SECONDS = 4.0
"""Seconds after which an unused connection is not used again. Common servers (uvicorn, and with it vLLM; node) close
idle connections after 5: a request at that moment is lost, and it remains unknown whether it was answered and must be
paid."""
MOST_HEAD_BYTES = 2**16
"""Bytes of a line of a reply's head."""


class Connector(aiohttp.TCPConnector):
    """Keeps the connections of a session."""

    abandoned = False
    """Whether its loop is gone, or another process's, so that it must not be touched any more."""

    def __del__(self, *modules: Any) -> None:
        if not self.abandoned:
            super().__del__(*modules)


@dataclass
class HttpSessions:
    """The objects that the calls of one event loop share."""

    session: aiohttp.ClientSession
    connector: Connector
    learning: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Locked while the form of a model's requests is learned."""


_lock = threading.Lock()
_open: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[AsyncGenerator[HttpSessions], HttpSessions]] = (
    WeakKeyDictionary()
)


async def lines() -> HttpSessions:
    """The sessions of the running event loop.

    `loop.shutdown_asyncgens()`, at the end of `asyncio.run`, closes them.
    """
    loop = asyncio.get_running_loop()
    entry = _open.get(loop)
    if entry is not None and not entry[1].session.closed:
        return entry[1]
    _forget_closed_loops()
    lasting = _lasting(loop)
    sessions = await anext(lasting)
    with _lock:
        _open[loop] = lasting, sessions
    return sessions


async def _lasting(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[HttpSessions]:
    """The sessions until the loop ends, as loops close their generators at their end."""
    # The gate of an endpoint bounds how many calls are under way.
    connector = Connector(limit=0, keepalive_timeout=IDLE_SECONDS)
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        max_line_size=MOST_HEAD_BYTES,
        max_field_size=MOST_HEAD_BYTES,
    )
    try:
        yield HttpSessions(session, connector)
    finally:
        with _lock:
            _open.pop(loop, None)
        await session.close()


def _forget_closed_loops() -> None:
    """Forget the sessions of loops that were closed without an end of their generators."""
    with _lock:
        for loop in [loop for loop in _open if loop.is_closed()]:
            _abandon(_open.pop(loop))


_abandoned: list[object] = []
"""Sessions that cannot be closed any more: deleting them would touch their loop."""


def _abandon(entry: tuple[AsyncGenerator[HttpSessions], HttpSessions]) -> None:
    entry[1].connector.abandoned = True
    entry[1].session.detach()
    _abandoned.append(entry)


def _close_all() -> None:
    """Close the open sessions at the end of the process, such as those of a thread's loop."""
    for loop, (lasting, sessions) in list(_open.items()):
        closing = lasting.aclose()
        with suppress(Exception):
            if loop.is_running():
                asyncio.run_coroutine_threadsafe(closing, loop).result(timeout=2)
            elif not loop.is_closed():
                loop.run_until_complete(closing)
        closing.close()
        if not sessions.session.closed:
            _abandon((lasting, sessions))


def _forget_parents() -> None:
    """Forget the parent's connections: a forked process must neither write into nor close them."""
    global _lock, _open
    inherited, _lock, _open = list(_open.values()), threading.Lock(), WeakKeyDictionary()
    for entry in inherited:
        _abandon(entry)


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)


@cache
def trust() -> SSLContext:
    """The certificates for https endpoints: `SSL_CERT_FILE` and `SSL_CERT_DIR` hold as for any client."""
    context = httpx2.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def proxy_of(url: URL) -> str | None:
    """The proxy for this address, from the environment; None without one."""
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(f"{url.host}:{url.port}") or proxy_bypass(url.host or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
