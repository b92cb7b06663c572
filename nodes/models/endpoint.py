"""`openai:` models: each answer of the endpoint is checked before it becomes a message.

A chat completion takes the short way, over a kept connection. The request is the one that `ChatOpenAI` and its package
would send, byte for byte, and the reply becomes the same message. All other calls go through that package. The module
is imported when a model is created.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from json import JSONDecodeError
from typing import Any

import httpx2
from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatResult
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.uuid import uuid7
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr, SecretStr, field_validator

from ..context_values import during
from .clients import CallNotes, EndpointClient, endpoint_client, seen, sync_endpoint_client
from .completions import judged_data
from .conversation_header import checked, header_of_conversation
from .faults import CallFault, ReplyError, fault
from .flaws import ODD_USAGE
from .request_forms import RequestTemplates, stock_outcome
from .results import message_of, result_of
from .wire import exchanged

_CHOKED = (TypeError, ValueError, KeyError, AttributeError, IndexError)
"""Errors of the packages for a reply in a form that they cannot read."""
_LONG_WAY = frozenset({"response_format", "extra_headers", "extra_query", "timeout", "stream"})
"""Arguments of a call that change more than its body, or the result of the reply."""
_GATEWAY = "lsv2_"
"""Beginning of LangSmith's keys: its gateway says more in the headers of its replies, which the package reads."""
_READ_BEFORE = frozenset(
    {"stream", "ls_structured_output_format", "structured_output_format"}
    | {"messages", "callbacks", "tags", "metadata", "run_name", "run_id"}
)
"""Arguments of a call that LangChain reads, or refuses, before they reach the model."""

StockCall = Callable[..., Awaitable[ChatResult]]


class EndpointModel(ChatOpenAI):
    """`ChatOpenAI` for endpoints that may answer anything: ReplyError names the fault of a reply.

    Each call is made once. `timeout` holds for the whole reply, from the first byte sent to the last byte received.
    """

    conversation_header: str | None = None
    """Name of the header for the id of the conversation; None: it is not sent."""

    _forms: RequestTemplates | None = PrivateAttr(default=None)
    _settings: dict[str, Any] = PrivateAttr(default_factory=dict)
    """The settings to which the forms belong."""

    @field_validator("conversation_header")
    @classmethod
    def _check_header(cls, name: str | None) -> str | None:
        return None if name is None else checked(name)

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """The model's reply.

        LangChain's own way is taken where callbacks watch the call, or a cache keeps replies.
        """
        messages = _texts(input)
        if messages is not None and self._unwatched and _READ_BEFORE.isdisjoint(kwargs):
            settled = ensure_config(config)
            if not AsyncCallbackManager.configure(settled.get("callbacks"), self.callbacks, self.verbose).handlers:
                result = await self._agenerate(messages, stop=stop, **kwargs)
                return message_of(result, settled.get("run_id") or uuid7())
        return await super().ainvoke(input, config, stop=stop, **kwargs)

    @property
    def _unwatched(self) -> bool:
        """Whether LangChain's only own work for a call is to run callbacks."""
        cached = self.cache or (self.cache is None and get_llm_cache() is not None)
        return not cached and self.rate_limiter is None and not self.streaming and self.output_version in (None, "v0")

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        async def stock(some: list[BaseMessage], **changed: Any) -> ChatResult:
            arguments = {**kwargs, **changed}
            return await super(EndpointModel, self)._agenerate(some, stop=stop, run_manager=run_manager, **arguments)

        with _noting() as noted:
            try:
                async with asyncio.timeout(self.deadline):
                    result = await self._answered(messages, {**kwargs, "stop": stop}, stock, noted)
            except TimeoutError:
                raise ReplyError(self._late(noted)) from None
        return _marked(result, noted)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with _noting() as noted:
            result = super()._generate(*args, **kwargs)
        return _marked(result, noted)

    async def _answered(
        self, messages: Sequence[BaseMessage], arguments: dict[str, Any], stock: StockCall, noted: CallNotes
    ) -> ChatResult:
        """The result of a call, by the short way if its form is known, else by the stock one."""
        client = self.http_async_client

        async def own() -> ChatResult:
            return await stock(list(messages))

        if not isinstance(client, EndpointClient) or not self._is_ordinary or not _LONG_WAY.isdisjoint(arguments):
            return await own()
        request = await self._forms_now().request(messages, arguments, stock)
        if request is None:
            return await own()
        try:
            response = await exchanged(*request, header_of_conversation(client.own_header), noted)
        except httpx2.RequestError as error:
            return await stock_outcome(error, own)
        if not 200 <= response.status < 300:
            return await stock_outcome(response.response(), own)
        data, noted.usage_left_out = judged_data(response.body)
        result = result_of(data)
        return await stock_outcome(httpx2.Response(200, json=data), own) if result is None else result

    @property
    def _is_ordinary(self) -> bool:
        """Whether the model's own settings leave the short way open."""
        key = self.openai_api_key
        return (
            self.max_retries == 0
            and isinstance(key, SecretStr)
            and not key.get_secret_value().startswith(_GATEWAY)
            and (self.request_timeout is None or self.deadline is not None)
            and not self.include_response_headers
            and not self.streaming
            and _LONG_WAY.isdisjoint(self.model_kwargs)
        )

    def _forms_now(self) -> RequestTemplates:
        """The forms of the requests with the settings of now, which anybody may change between two calls."""
        settings = {name: _still(value) for name, value in self.__dict__.items()}
        if self._forms is None or self._settings != settings:
            self._forms, self._settings = RequestTemplates(), settings
        return self._forms

    @property
    def deadline(self) -> float | None:
        """Seconds within which a reply must be complete; None if there is no bound."""
        timeout = self.request_timeout
        return float(timeout) if isinstance(timeout, (int, float)) else None

    def _late(self, noted: CallNotes) -> CallFault:
        within = f"timed out after {self.deadline:g} seconds" if self.deadline is not None else "timed out"
        if noted.head:
            return fault("too_slow", f"{within}, in the middle of its reply")
        return fault("timeout", f"{within}, before its reply")

    @classmethod
    def of(cls, **arguments: Any) -> "EndpointModel":
        """A model whose calls go through the clients that bound and judge replies."""
        header = arguments.get("conversation_header")
        return cls(
            max_retries=0,
            http_async_client=endpoint_client(header),
            http_client=sync_endpoint_client(header),
            http_socket_options=(),  # the clients have their own
            **arguments,
        )


def _still(value: object) -> object:
    """A value that stays as it is now when a setting is changed in place."""
    if isinstance(value, (dict, list)):
        try:
            return json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            return value
    return value


def _texts(model_input: LanguageModelInput) -> list[BaseMessage] | None:
    """The messages of an input; None if only LangChain can read them or their content."""
    if isinstance(model_input, str):
        return [HumanMessage(model_input)]
    messages = model_input.to_messages() if isinstance(model_input, PromptValue) else list(model_input)
    if all(isinstance(message, BaseMessage) and isinstance(message.content, str) for message in messages):
        return messages  # type: ignore[return-value] # they are
    return None


@contextmanager
def _noting() -> Iterator[CallNotes]:
    """What the client sees of the call within; a reply that the packages cannot read is a ReplyError."""
    try:
        with during(seen, CallNotes()) as noted:
            yield noted
    except _CHOKED as error:
        if (choked := _choked(error)) is None:
            raise
        raise choked from error


def _choked(error: Exception) -> ReplyError | None:
    """The ReplyError for a package's error on a reply; None for any other error."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is None or isinstance(error, JSONDecodeError):
        return None
    return ReplyError(fault("not_a_completion", f"{type(error).__name__}: {error}"))


def _marked(result: ChatResult, noted: CallNotes) -> ChatResult:
    if noted.usage_left_out:
        for generation in result.generations:
            generation.message.response_metadata[ODD_USAGE] = True
    return result
