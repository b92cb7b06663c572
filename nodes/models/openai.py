"""`openai:` models: Chat Completions, with a body of our own and each reply checked before it becomes a message."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Annotated, Any

import orjson
from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, SecretStr, ValidationError

from ...errors import first_invalid
from ..settings.redaction import error_line, host_of
from .faults import ReplyError, StatusError, fault, of_error_in_reply
from .flaws import ODD_USAGE, count_of, flaw_of_finish
from .http import post, proxy_of

_OF_LANGCHAIN = frozenset(
    "stream callbacks tags metadata run_name run_id ls_structured_output_format structured_output_format".split()
)
"""Arguments of a call that LangChain takes for itself."""
_ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}
_OF_LIMITS = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after", "date")
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
    """Fields of each request, as the endpoint names them: `temperature`, `max_tokens`, `top_p`, ..."""
    proxy: str | None = Field(default_factory=lambda fields: proxy_of(fields["base_url"]), repr=False)
    """The proxy of its calls; by default that of the environment."""

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
        cached = self.cache or (self.cache is None and get_llm_cache() is not None)
        if not cached and self.rate_limiter is None and self.output_version in (None, "v0"):
            callbacks = ensure_config(config).get("callbacks")
            watched = AsyncCallbackManager.configure(callbacks, self.callbacks, self.verbose).handlers
            if not watched and _OF_LANGCHAIN.isdisjoint(kwargs):
                return await self._reply(_messages(input), stop=stop, **kwargs)
        return await super().ainvoke(input, config, stop=stop, **kwargs)

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

    async def _reply(self, messages: Sequence[BaseMessage], **given: Any) -> AIMessage:
        given = {name: value for name, value in ({"seed": self.seed} | given).items() if value is not None}
        body = {"model": self.model_name, "messages": [one for message in messages for one in _sent(message)]}
        body |= self.arguments | given
        address, key = f"{self.base_url.rstrip('/')}/chat/completions", self.api_key.get_secret_value()
        status, headers, content = await post(address, key, _encoded(body), proxy=self.proxy, seconds=self.timeout)
        if not 200 <= status < 300:
            raise StatusError(status, headers, content)
        message = message_in(content)
        limits = {name.lower(): text for name, text in headers.items() if name.lower().startswith(_OF_LIMITS)}
        if limits.keys() - {"date"}:
            message.response_metadata["headers"] = limits
        return message


def _encoded(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:  # half a surrogate pair, or a number of more than 64 bits
        return json.dumps(body).encode()


def _messages(model_input: LanguageModelInput) -> list[BaseMessage]:
    if isinstance(model_input, str):
        return [HumanMessage(model_input)]
    return model_input.to_messages() if isinstance(model_input, PromptValue) else convert_to_messages(model_input)


def _sent(message: BaseMessage) -> list[dict[str, Any]]:
    """A message as the endpoint reads it."""
    role, text = _ROLES.get(message.type), message.content
    if role is None or not isinstance(text, str) or (message.name is not None and role != "tool"):
        return convert_to_openai_messages([message])
    if role == "tool":
        return [{"role": role, "tool_call_id": getattr(message, "tool_call_id", None), "content": text}]
    calls = [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []
    if calls:
        return [{"role": role, "content": text or None, "tool_calls": [_call(call) for call in calls]}]
    return [{"role": role, "content": text}]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call["args"] if isinstance(call["args"], str) else json.dumps(call["args"], ensure_ascii=False)
    return {"type": "function", "id": call["id"], "function": {"name": call["name"], "arguments": arguments}}


def message_in(body: bytes) -> AIMessage:
    """The message of a chat completion's JSON, with its usage and finish reason; ReplyError if it is none.

    A usage that cannot be is left out, and the metadata have the key ODD_USAGE.
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
        name = "not_json" if data is None and (not begin or begin[:1] in b'{["') else "not_a_completion"
        first = first_invalid(error) if isinstance(error, ValidationError) else None
        detail = f"{first.path}: {first.message}" if first else error_line(error)
        raise ReplyError(fault(name, f"{detail}, it begins with {begin.decode('utf-8', 'replace')!r}")) from None


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
    if (usage := data.get("usage")) is not None:
        made.usage_metadata = _usage(usage if isinstance(usage, dict) else {})
        if made.usage_metadata is None:
            made.response_metadata[ODD_USAGE] = True
    return made


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    return text if isinstance(text := fields.get(name), str) and text.strip() else None


def _usage(usage: Mapping[str, Any]) -> UsageMetadata | None:
    """The tokens of a usage; None if input or output is not a number of tokens."""
    sent, written = count_of(usage.get("prompt_tokens")), count_of(usage.get("completion_tokens"))
    if sent is None or written is None:
        return None
    read, thought = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return UsageMetadata(
        input_tokens=sent,
        output_tokens=written,
        total_tokens=sent + written,
        input_token_details=_detail("cache_read", read, "cached_tokens"),
        output_token_details=_detail("reasoning", thought, "reasoning_tokens"),
    )


def _detail(name: str, details: Any, key: str) -> Any:
    count = count_of(details.get(key)) if isinstance(details, dict) else None
    return {} if count is None else {name: count}
