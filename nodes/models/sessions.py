"""The sessions of `aiohttp` through which endpoints are called: one for each running event loop, closed with it."""

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import aiohttp
import httpx2
from yarl import URL

CONNECT_SECONDS = 10.0
"""Most seconds for a connection: an address that answers nothing is known sooner than a slow reply."""
IDLE_SECONDS = 4.0
"""Seconds after which an unused connection is not used again. Common servers (uvicorn, and with it vLLM; node) end theirs
after 5: a request that is sent just then is lost, and nobody knows whether it was answered and must be paid."""
MOST_HEAD_BYTES = 2**16
"""Bytes of a line of a reply's head."""


@dataclass
class Lines:
    """What the calls of one event loop share."""

    session: aiohttp.ClientSession
    learning: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Is held while the form of a model's requests is learned."""


_lock = threading.Lock()
_open: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[AsyncGenerator[Lines], Lines]] = WeakKeyDictionary()


async def lines() -> Lines:
    """Those of the running event loop. `loop.shutdown_asyncgens()`, as `asyncio.run` ends, closes their session."""
    loop = asyncio.get_running_loop()
    known = _open.get(loop)
    if known is not None and not known[1].session.closed:
        return known[1]
    _forget_closed_loops()
    lasting = _lasting(loop)
    made = await anext(lasting)
    with _lock:
        _open[loop] = lasting, made
    return made


async def _lasting(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[Lines]:
    """The lines until the loop ends: loops know their generators, and close them at their end."""
    session = aiohttp.ClientSession(
        # The gate of an endpoint bounds how many calls are under way.
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        max_line_size=MOST_HEAD_BYTES,
        max_field_size=MOST_HEAD_BYTES,
    )
    try:
        yield Lines(session)
    finally:
        with _lock:
            _open.pop(loop, None)
        await session.close()


def _forget_closed_loops() -> None:
    """Let go of the sessions of loops that were closed without an end of their generators."""
    with _lock:
        for loop in [loop for loop in _open if loop.is_closed()]:
            _abandon(_open.pop(loop))


_abandoned: list[object] = []


def _abandon(held: tuple[AsyncGenerator[Lines], Lines]) -> None:
    """Keep what cannot be closed any more, as its loop is gone or another process's: to delete it would touch the loop."""
    held[1].session.detach()
    _abandoned.append(held)


def _close_all() -> None:
    """At the end of the process: close in order what is still open, such as in a loop that runs in a thread."""
    for loop, (lasting, made) in list(_open.items()):
        closing = lasting.aclose()
        with suppress(Exception):
            if loop.is_running():
                asyncio.run_coroutine_threadsafe(closing, loop).result(timeout=2)
            elif not loop.is_closed():
                loop.run_until_complete(closing)
        closing.close()
        if not made.session.closed:
            _abandon((lasting, made))


def _forget_parents() -> None:
    """A forked process must not write into its parent's connections, nor close them."""
    global _lock, _open
    inherited, _lock, _open = list(_open.values()), threading.Lock(), WeakKeyDictionary()
    _abandoned.extend(inherited)


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)


@cache
def trust() -> SSLContext:
    """Whom https endpoints are trusted by: `SSL_CERT_FILE` and `SSL_CERT_DIR` hold as for any client."""
    context = httpx2.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def proxy_of(url: URL) -> str | None:
    """The proxy through which the environment has this address called; None if there is none."""
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(f"{url.host}:{url.port}") or proxy_bypass(url.host or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
