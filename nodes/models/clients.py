"""HTTP clients for endpoints: no redirect to another origin, no reply without bound.

The module is imported when a model is created.
"""

from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx2
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

from ..settings.redaction import host_of
from .completions import judged
from .conversation_header import header_of_conversation
from .faults import ReplyError, fault
from .reported_limits import note_headers
from .sessions import CONNECT_SECONDS

MOST_BYTES = 32 * 2**20
"""Bytes of a reply, decompressed."""
MOST_REDIRECTS = 5
OF_ENCODING = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that a decompressed body has no more."""


@dataclass
class CallNotes:
    """The client's notes on a call."""

    head: bool = False
    """Whether the client has received the head of a response."""
    usage_left_out: bool = False
    """Whether the reply had an impossible usage."""


seen: ContextVar[CallNotes | None] = ContextVar("seen", default=None)
"""The notes on the call that is under way."""


@dataclass
class ForwardedRequest:
    """A request that another client sends: it takes the package's request, or hands it the outcome."""

    request: httpx2.Request | None = None
    outcome: httpx2.Response | httpx2.RequestError | None = None
    """The response or error of the request; None: the request is only taken, and its call is of no use."""

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """The response to the request; its error is raised."""
        self.request = request
        if self.outcome is None:
            return httpx2.Response(httpx2.codes.NOT_IMPLEMENTED, request=request)
        self.outcome.request = request
        if isinstance(self.outcome, httpx2.Response):
            return self.outcome
        raise self.outcome from self.outcome.__cause__


by_hand: ContextVar[ForwardedRequest | None] = ContextVar("by_hand", default=None)
"""The sender of the requests of the call that is under way, if not the client itself."""


class EndpointClient(DefaultAsyncHttpxClient):
    """Follows redirects only within the origin, reads at most `MOST_BYTES`, and checks replies that are not streams.

    The environment's proxies and certificates hold as for any client. `own_header`: name of the header for the id of the
    conversation.
    """

    def __init__(self, own_header: str | None = None) -> None:
        super().__init__()
        self.own_header = own_header

    async def send(self, request: httpx2.Request, *, stream: bool = False, **more: Any) -> httpx2.Response:
        if (hand := by_hand.get()) is not None:
            return hand.answer(request)
        request.headers.update(header_of_conversation(self.own_header))
        settled: dict[str, Any] = {**more, "follow_redirects": False}
        for _ in range(MOST_REDIRECTS + 1):
            _prepare(request)
            response = await super().send(request, stream=True, **settled)
            _note(response)
            if (following := response.next_request) is None:
                bounded = _copied(response)
                if stream:
                    return bounded
                try:
                    await bounded.aread()
                finally:
                    await response.aclose()
                return _judged(bounded)
            await response.aclose()
            check_origin(request.url, following.url)
            request = following
        raise endless(str(request.url))


class SyncEndpointClient(DefaultHttpxClient):
    """The same for calls that are not async."""

    def __init__(self, own_header: str | None = None) -> None:
        super().__init__()
        self.own_header = own_header

    def send(self, request: httpx2.Request, *, stream: bool = False, **more: Any) -> httpx2.Response:
        request.headers.update(header_of_conversation(self.own_header))
        settled: dict[str, Any] = {**more, "follow_redirects": False}
        for _ in range(MOST_REDIRECTS + 1):
            _prepare(request)
            response = super().send(request, stream=True, **settled)
            _note(response)
            if (following := response.next_request) is None:
                bounded = _copied(response)
                if stream:
                    return bounded
                try:
                    bounded.read()
                finally:
                    response.close()
                return _judged(bounded)
            response.close()
            check_origin(request.url, following.url)
            request = following
        raise endless(str(request.url))


class _Bounded(httpx2.AsyncByteStream, httpx2.SyncByteStream):
    """The decompressed bytes of a response, at most `MOST_BYTES` of them."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.response.aiter_bytes():
            size = counted(size, piece)
            yield piece

    async def aclose(self) -> None:
        await self.response.aclose()

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self.response.iter_bytes():
            size = counted(size, piece)
            yield piece

    def close(self) -> None:
        self.response.close()


def counted(size: int, piece: bytes) -> int:
    """The bytes of a reply with a further piece; ReplyError if these are too many."""
    size += len(piece)
    if size > MOST_BYTES:
        raise ReplyError(fault("too_large", f"more than {MOST_BYTES // 2**20} MiB"))
    return size


def _copied(response: httpx2.Response) -> httpx2.Response:
    """The response with a bounded stream of its decompressed bytes."""
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in OF_ENCODING]
    return httpx2.Response(
        response.status_code,
        headers=headers,
        stream=_Bounded(response),
        request=response.request,
        extensions=response.extensions,
        default_encoding=response.default_encoding,
    )


def _prepare(request: httpx2.Request) -> None:
    # A connection belongs to one event loop, but the client is used in several: none is kept open.
    request.headers["Connection"] = "close"
    limits = dict(request.extensions.get("timeout") or {})
    connect = limits.get("connect")
    limits["connect"] = CONNECT_SECONDS if connect is None else min(connect, CONNECT_SECONDS)
    request.extensions = {**request.extensions, "timeout": limits}


def _note(response: httpx2.Response) -> None:
    if (noted := seen.get()) is not None and response.next_request is None:
        noted.head = True
        note_headers(response.headers)


def _judged(response: httpx2.Response) -> httpx2.Response:
    """The complete response, if it is a reply; the package handles errors by their status itself."""
    if response.is_error or response.is_redirect:
        return response
    content, left_out = judged(response.request.url.path, response.content)
    if (noted := seen.get()) is not None:
        noted.usage_left_out = left_out
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() != "content-type"]
    return httpx2.Response(
        response.status_code,
        headers=[*headers, ("content-type", "application/json")],
        content=content,
        request=response.request,
        extensions=response.extensions,
    )


def check_origin(here: httpx2.URL, there: httpx2.URL) -> None:
    """ReplyError if a redirect leads to another scheme, host or port."""
    if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
        redirect = f"{here.scheme}://{host_of(str(here))} redirects to {there.scheme}://{host_of(str(there))}"
        raise ReplyError(fault("redirected", f"{redirect}: give the address that it redirects to, if you trust it"))


def endless(url: str) -> ReplyError:
    """The fault of redirects that do not end."""
    return ReplyError(fault("redirected", f"{host_of(url)} redirects without end"))


endpoint_client = cache(EndpointClient)
"""The client of all models with this header. No connection is kept open in it, so that event loops may share it."""
sync_endpoint_client = cache(SyncEndpointClient)
"""The same for calls that are not async."""
