"""`openai:` models: what the endpoint answers is judged before it is taken for a message. Imported when a model is made.

A chat completion takes the short way: the request is the one that `ChatOpenAI` and its package would send, byte for
byte, over a connection that is kept, and the reply becomes the same message. All else takes theirs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from json import JSONDecodeError
from typing import Any
from urllib.parse import quote

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
from pydantic import PrivateAttr, SecretStr

from ..calls.faults import Fault, ReplyError, fault
from ..calls.kept import SPEAKING
from ..flaws import ODD
from .clients import EndpointClient, Seen, endpoint_client, seen, sync_endpoint_client
from .completions import judged_data
from .forms import Forms, told
from .payloads import payload_of
from .results import message_of, result_of
from .wire import exchanged

_CHOKED = (TypeError, ValueError, KeyError, AttributeError, IndexError)
"""What the packages raise where a reply has another form than they read."""
_LONG_WAY = frozenset({"response_format", "extra_headers", "extra_query", "timeout"})
"""Arguments of a call that change more of it than its body, or what becomes of the reply."""
_WATCHED = frozenset({"stream", "ls_structured_output_format", "structured_output_format"})
"""Arguments of a call that LangChain reads before the model does."""

Stock = Callable[[], Awaitable[ChatResult]]


class EndpointModel(ChatOpenAI):
    """`ChatOpenAI` for endpoints that may answer anything: ReplyError says what is wrong with a reply.

    Each call is made once. `timeout` holds for the whole reply, from the first byte that is sent to the last that comes.
    """

    conversation_header: str | None = None
    """The header that tells the endpoint the id of the conversation, if it is to know."""

    _forms: Forms | None = PrivateAttr(default=None)

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """The model's reply. LangChain's own way is taken where somebody watches the call, or keeps replies."""
        messages = _texts(input)
        if messages is not None and self._unwatched and _WATCHED.isdisjoint(kwargs):
            settled = ensure_config(config)
            if not AsyncCallbackManager.configure(settled.get("callbacks"), self.callbacks, self.verbose).handlers:
                result = await self._agenerate(messages, stop=stop, **kwargs)
                return message_of(result, settled.get("run_id") or uuid7())
        return await super().ainvoke(input, config, stop=stop, **kwargs)

    @property
    def _unwatched(self) -> bool:
        """Whether LangChain itself has nothing to do for a call but to tell callbacks."""
        cached = self.cache or (self.cache is None and get_llm_cache() is not None)
        return not cached and self.rate_limiter is None and not self.streaming and self.output_version in (None, "v0")

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        async def stock() -> ChatResult:
            return await super(EndpointModel, self)._agenerate(messages, stop=stop, run_manager=run_manager, **kwargs)

        noted = Seen()
        token = seen.set(noted)
        try:
            async with asyncio.timeout(self.deadline):
                result = await self._answered(messages, {**kwargs, "stop": stop}, stock, noted)
        except TimeoutError:
            raise ReplyError(self._late(noted)) from None
        except _CHOKED as error:
            if (choked := _choked(error)) is None:
                raise
            raise choked from error
        finally:
            seen.reset(token)
        return _marked(result, noted)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        noted = Seen()
        token = seen.set(noted)
        try:
            result = super()._generate(*args, **kwargs)
        except _CHOKED as error:
            if (choked := _choked(error)) is None:
                raise
            raise choked from error
        finally:
            seen.reset(token)
        return _marked(result, noted)

    async def _answered(
        self, messages: Sequence[BaseMessage], arguments: dict[str, Any], stock: Stock, noted: Seen
    ) -> ChatResult:
        """The result of a call, the short way if that is known, else the stock one."""
        convert = super()._get_request_payload
        if not self._is_ordinary:
            return await stock()
        payload = payload_of(lambda some: convert(some, **arguments), messages)
        if payload.get("stream") or "messages" not in payload or not _LONG_WAY.isdisjoint(payload):
            return await stock()
        if self._forms is None or self._forms.client is not self.async_client:
            self._forms = Forms(self.async_client)
        request = await self._forms.request(payload, stock, self.conversation_header)
        if request is None:
            return await stock()
        try:
            came = await exchanged(*request, self._own_headers(), noted)
        except httpx2.RequestError as error:
            return await told(error, stock)
        if not 200 <= came.status < 300:
            return await told(came.response(), stock)
        data, noted.usage_left_out = judged_data(came.body)
        return result_of(self, data)

    @property
    def _is_ordinary(self) -> bool:
        """Whether the model's own settings leave the short way open."""
        return (
            isinstance(self.http_async_client, EndpointClient)
            and self.max_retries == 0
            and isinstance(self.openai_api_key, SecretStr)
            and (self.request_timeout is None or self.deadline is not None)
            and not self.include_response_headers
            and not self._uses_gateway
        )

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload = super()._get_request_payload(input_, stop=stop, **kwargs)
        if own := self._own_headers():
            payload["extra_headers"] = {**(payload.get("extra_headers") or {}), **own}
        return payload

    def _own_headers(self) -> dict[str, str]:
        """The headers of the call that is under way."""
        if self.conversation_header is None or not (conversation := SPEAKING.get()):
            return {}
        return {self.conversation_header: quote(conversation, safe=" !#$&'()*+,/:;=?@[]^`{|}")}

    @property
    def deadline(self) -> float | None:
        """Seconds within which a reply must be complete; None if there is no bound."""
        given = self.request_timeout
        return float(given) if isinstance(given, (int, float)) else None

    def _late(self, noted: Seen) -> Fault:
        within = f"timed out after {self.deadline:g} seconds" if self.deadline is not None else "timed out"
        if noted.head:
            return fault("too_slow", f"{within}, in the middle of its reply")
        return fault("timeout", f"{within}, before its reply")

    @classmethod
    def of(cls, **arguments: Any) -> "EndpointModel":
        """A model whose calls go through the clients that bound and judge replies."""
        return cls(
            max_retries=0,
            http_async_client=endpoint_client(),
            http_client=sync_endpoint_client(),
            http_socket_options=(),  # the clients have their own
            **arguments,
        )


def _texts(given: LanguageModelInput) -> list[BaseMessage] | None:
    """The messages of an input; None if LangChain has to read them, or to put their content in its own form."""
    if isinstance(given, str):
        return [HumanMessage(given)]
    messages = given.to_messages() if isinstance(given, PromptValue) else list(given)
    if all(isinstance(each, BaseMessage) and isinstance(each.content, str) for each in messages):
        return messages  # type: ignore[return-value] # they are
    return None


def _choked(error: Exception) -> ReplyError | None:
    """What to raise for an error of a package that choked on a reply; None for any other error."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is None or isinstance(error, JSONDecodeError):
        return None
    return ReplyError(fault("not_a_completion", f"{type(error).__name__}: {error}"))


def _marked(result: ChatResult, noted: Seen) -> ChatResult:
    if noted.usage_left_out:
        for generation in result.generations:
            generation.message.response_metadata[ODD] = True
    return result
