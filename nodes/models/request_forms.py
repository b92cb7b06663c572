"""The forms of a model's requests, taken from what its package sends, and the bodies written in them."""

import json
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

import httpx2
import orjson
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from multidict import CIMultiDict
from yarl import URL

from ..context_values import during
from .clients import ForwardedRequest, by_hand
from .sessions import lines, proxy_of, trust

T = TypeVar("T")
Arguments: TypeAlias = Mapping[str, Any]
Stock: TypeAlias = Callable[..., Awaitable[Any]]
"""The package's own call with these messages, and with these arguments changed."""

MOST_FORMS = 64
"""Forms of one model: a caller whose arguments differ from call to call gets no more."""
_CALL = {"name": "", "args": {"\u00e4": [1, 2.5, None]}, "id": "", "type": "tool_call"}
_STUBS: Mapping[str, BaseMessage] = {
    "system": SystemMessage(""),
    "human": HumanMessage(""),
    "ai": AIMessage(""),
    "ai, calls": AIMessage("", tool_calls=[_CALL, _CALL]),
    "ai, text and calls": AIMessage(".", tool_calls=[_CALL]),
    "tool": ToolMessage("", tool_call_id="", name="."),
}
"""A message of each kind whose form is taken from the package."""
_FIELDS = {"tool": {"content", "tool_call_id"}, "ai, calls": {"content", "tool_calls"}}
_FIELDS["ai, text and calls"] = _FIELDS["ai, calls"]
"""Fields of a kind besides its role, if not only the content."""
_STUB_SEED = -4711
_UNSENT = frozenset({"refusal", "parsed"})
"""Keys that replies have in their `additional_kwargs`, and that are not sent back."""
_BY_SESSION = frozenset({"host", "connection", "accept-encoding", "content-length", "transfer-encoding"})
"""Headers that a session writes itself."""
_AS_SDK = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, repr=False)  # the key is in it
class RequestForm:
    """The address and the headers of requests."""

    url: URL
    headers: CIMultiDict[str]
    proxy: URL | None = None
    trust: ssl.SSLContext | bool = True

    @classmethod
    def of(cls, request: httpx2.Request) -> "RequestForm | None":
        """The form of a request; None if a session cannot send it."""
        url = URL(str(request.url), encoded=True)
        proxy = proxy_of(url)
        if url.raw_user is not None or url.raw_password is not None or url.scheme not in ("http", "https"):
            return None
        if proxy is not None and not proxy.lower().startswith("http://"):
            return None
        headers = CIMultiDict(pair for pair in request.headers.multi_items() if pair[0].lower() not in _BY_SESSION)
        trusted = trust() if url.scheme == "https" else True
        return cls(url, headers, URL(proxy) if proxy else None, trusted)


@dataclass(frozen=True, repr=False)
class RequestTemplate:
    """The requests of calls that differ in their messages and their seed only."""

    form: RequestForm
    fields: Mapping[str, bytes]
    """The fields of the body, in their order, as they are written, each with its name."""
    forms: Mapping[str, Mapping[str, Any]]
    """A message of each kind, whose texts are exchanged."""

    @classmethod
    def of(cls, request: httpx2.Request, seed: int | None) -> "RequestTemplate | None":
        """The template of a request with `_STUBS` and this seed; None if others cannot be written by it."""
        form, body = RequestForm.of(request), json.loads(request.content)
        messages = body.get("messages")
        if form is None or body.get("stream") or not isinstance(messages, list) or len(messages) != len(_STUBS):
            return None
        forms = dict(zip(_STUBS, messages, strict=True))
        if any(set(forms[kind]) != {"role"} | _FIELDS.get(kind, {"content"}) for kind in forms):
            return None
        if seed is not None and body.get("seed") != seed:
            return None
        fields = {name: _AS_SDK.encode({name: value})[1:-1].encode() for name, value in body.items()}
        template = cls(form, fields, forms)
        return template if template.body(tuple(_STUBS), tuple(_STUBS.values()), seed) == request.content else None

    def body(self, kinds: Sequence[str], messages: Sequence[BaseMessage], seed: int | None) -> bytes:
        """The body with these messages of these kinds, and this seed."""
        pairs = zip(kinds, messages, strict=True)
        texts = orjson.dumps([{**self.forms[kind], **_texts_of(kind, message)} for kind, message in pairs])
        fields = {**self.fields, "messages": b'"messages":' + texts}
        if seed is not None:
            fields["seed"] = b'"seed":%d' % seed
        return b"{" + b",".join(fields.values()) + b"}"


def _texts_of(kind: str, message: Any) -> Mapping[str, Any]:
    """What is exchanged in a message of this kind."""
    if kind == "tool":
        return {"content": message.content, "tool_call_id": message.tool_call_id}
    if kind.endswith("calls"):
        return {"content": message.content or None, "tool_calls": [_call(call) for call in message.tool_calls]}
    return {"content": message.content}


def _call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)}
    return {"type": "function", "id": call["id"], "function": function}


@dataclass(repr=False)
class RequestTemplates:
    """The templates of one model's requests, by the arguments of its calls."""

    templates: dict[str, RequestTemplate | None] = field(default_factory=dict)
    """None: only the package can send such a request."""

    async def request(
        self, messages: Sequence[BaseMessage], arguments: Arguments, stock: Stock
    ) -> tuple[RequestForm, bytes] | None:
        """The form and body of the request that `stock` would send; None if that is to send it itself."""
        seed = arguments.get("seed")
        if type(seed) is not int:  # a number, as each call of a run has its own
            seed = None
        shared = {name: value for name, value in arguments.items() if seed is None or name != "seed"}
        try:
            key = f"{seed is None} {json.dumps(shared, sort_keys=True)}"
        except (TypeError, ValueError, RecursionError):  # something in it is no JSON as it stands
            return None
        if key not in self.templates:
            async with (await lines()).learning:
                if key not in self.templates:
                    await self._learn(key, stock, seeded=seed is not None)
        template = self.templates[key]
        if template is None:
            return None
        kinds = [_kind(message) for message in messages]
        if all(kinds):
            try:
                return template.form, template.body(kinds, messages, seed)
            except (TypeError, ValueError, RecursionError):  # half a sign, or no JSON: the package has its own error
                return None
        return template.form, (await request_of(stock, messages)).content

    async def _learn(self, key: str, stock: Stock, *, seeded: bool) -> None:
        changed = {"seed": _STUB_SEED} if seeded else {}
        request = await request_of(partial(stock, **changed), tuple(_STUBS.values()))
        if len(self.templates) >= MOST_FORMS:
            self.templates.clear()
        self.templates[key] = RequestTemplate.of(request, changed.get("seed"))


def _kind(message: BaseMessage) -> str:
    """The kind of a message; none of a message whose form is not known."""
    text, more = message.content, message.additional_kwargs
    if not isinstance(text, str) or (more and not _UNSENT.issuperset(more)):
        return ""
    if type(message) is ToolMessage:  # whose name is not sent
        return "tool"
    if type(message) not in (SystemMessage, HumanMessage, AIMessage) or message.name is not None:
        return ""
    if not isinstance(message, AIMessage) or not (message.tool_calls or message.invalid_tool_calls):
        return message.type
    return "" if message.invalid_tool_calls else "ai, text and calls" if text else "ai, calls"


async def request_of(stock: Stock, messages: Sequence[BaseMessage]) -> httpx2.Request:
    """The request that a call would send. The call itself ends with the error of an unusable answer."""
    with during(by_hand, ForwardedRequest()) as hand:
        try:
            await stock(list(messages))
        except Exception:
            if hand.request is None:  # the call has failed before it sent anything
                raise
    if hand.request is None:
        raise RuntimeError("the call has sent its request by another client")
    return hand.request


async def stock_outcome(outcome: httpx2.Response | httpx2.RequestError, stock: Callable[[], Awaitable[T]]) -> T:
    """The outcome of the stock call for this outcome of its request, with the package's own errors."""
    with during(by_hand, ForwardedRequest(outcome=outcome)):
        return await stock()
