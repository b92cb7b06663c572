"""The forms of a model's requests: address, headers and order of keys, learned from the package that would send them."""

import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
from multidict import CIMultiDict
from yarl import URL

from .clients import ByHand, NotSentError, by_hand
from .payloads import Payload, encoded, merged
from .sessions import lines, proxy_of, trust

T = TypeVar("T")
_BY_SESSION = frozenset({"host", "connection", "accept-encoding", "content-length", "transfer-encoding"})
"""Headers that a session writes itself."""


@dataclass(frozen=True, repr=False)  # the key is in it
class Form:
    """What requests have in common whose payloads have the same keys."""

    url: URL
    headers: CIMultiDict[str]
    order: tuple[str, ...]
    """The keys of the body."""
    proxy: URL | None = None
    trust: ssl.SSLContext | bool = True

    @classmethod
    def of(cls, request: httpx2.Request, own_header: str | None = None) -> "Form | None":
        """The form of a request, without a header that is the call's own; None if a session cannot send such ones."""
        url = URL(str(request.url), encoded=True)
        proxy = proxy_of(url)
        if url.raw_user is not None or url.raw_password is not None or url.scheme not in ("http", "https"):
            return None
        if proxy is not None and not proxy.lower().startswith("http://"):
            return None
        left_out = _BY_SESSION | {(own_header or "host").lower()}
        headers = CIMultiDict(pair for pair in request.headers.multi_items() if pair[0].lower() not in left_out)
        trusted = trust() if url.scheme == "https" else True
        return cls(url, headers, tuple(json.loads(request.content)), URL(proxy) if proxy else None, trusted)


@dataclass(repr=False)
class Forms:
    """The forms of one client's requests."""

    client: object
    known: dict[object, Form | None] = field(default_factory=dict)
    """By the keys of payloads; None: the package alone knows how to send such a one."""

    async def request(
        self, payload: Payload, stock: Callable[[], Awaitable[Any]], own_header: str | None = None
    ) -> tuple[Form, bytes] | None:
        """The form and body of the request that `stock` would send; None if that is to send it itself."""
        more = payload.get("extra_body")
        shape = (tuple(payload), tuple(more) if isinstance(more, Mapping) else None)
        payload = merged(payload)
        if shape not in self.known:
            async with (await lines()).learning:
                if shape not in self.known and not await self._learn(shape, payload, stock, own_header):
                    return None
        form = self.known[shape]
        body = None if form is None else encoded(payload, form.order)
        return None if form is None or body is None else (form, body)

    async def _learn(
        self, shape: object, payload: Payload, stock: Callable[[], Awaitable[Any]], own_header: str | None
    ) -> bool:
        """Look at the request that `stock` makes, and keep its form if the same would be written; whether it is known now."""
        request = await taken(stock)
        form = Form.of(request, own_header)
        if form is not None:
            body = encoded(payload, form.order) if form.order and set(form.order) <= set(payload) else b""
            if body is None:  # there is something in this payload that only the package can write
                return False
            form = form if body == request.content else None
        self.known[shape] = form
        return True


async def taken(stock: Callable[[], Awaitable[Any]]) -> httpx2.Request:
    """The request that a call would send."""
    hand = ByHand()
    token = by_hand.set(hand)
    try:
        await stock()
    except NotSentError:
        pass
    finally:
        by_hand.reset(token)
    if hand.request is None:
        raise RuntimeError("the call has sent its request by another client")
    return hand.request


async def told(came: httpx2.Response | httpx2.RequestError, stock: Callable[[], Awaitable[T]]) -> T:
    """What a call makes of what came of its request: the package's own errors."""
    token = by_hand.set(ByHand(came=came))
    try:
        return await stock()
    finally:
        by_hand.reset(token)
