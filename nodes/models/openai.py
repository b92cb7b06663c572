"""`openai:` models: Chat Completions, with a body of our own and each reply checked before it becomes a message."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, NoReturn

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
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr, SecretStr
from yarl import URL

from ..settings.redaction import host_of
from .faults import ReplyError, StatusError, fault, of_broken_json, of_error_in_reply
from .flaws import ODD_USAGE, count_of, flaw_of_finish
from .http import post, proxy_of
from .reported_limits import note_headers

_READ_BEFORE = frozenset(
    {"stream", "ls_structured_output_format", "structured_output_format"}
    | {"callbacks", "tags", "metadata", "run_name", "run_id"}
)
"""Arguments of a call that LangChain takes for itself."""
_ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}
_OF_LIMITS = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after")
_INSTEAD = ("function_call", "audio", "reasoning_content", "reasoning", "reasoning_details")
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
    timeout: float | None = 120.0
    """Seconds for the whole reply, also where it arrives slowly; None: no bound."""
    seed: int | None = None
    """The seed of every call without its own."""
    arguments: dict[str, Any] = Field(default_factory=dict, repr=False)
    """Fields of each request, as the endpoint names them: `temperature`, `max_tokens`, `top_p`, ..."""
    _target: tuple[tuple[str, str], URL, dict[str, str], str | None] | None = PrivateAttr(default=None)

    @property
    def _llm_type(self) -> str:
        return "duologue-openai"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        own = {"model_name": self.model_name, "host": host_of(self.base_url), "seed": self.seed}
        return {name: value for name, value in own.items() if value is not None} | self.arguments

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """The model's reply; past LangChain's machinery, unless callbacks watch the call or a cache keeps replies."""
        cached = self.cache or (self.cache is None and get_llm_cache() is not None)
        if not cached and self.rate_limiter is None and self.output_version in (None, "v0"):
            callbacks = ensure_config(config).get("callbacks")
            watched = AsyncCallbackManager.configure(callbacks, self.callbacks, self.verbose).handlers
            if not watched and _READ_BEFORE.isdisjoint(kwargs):
                return await self._reply(_messages(input), stop, kwargs)
        return await super().ainvoke(input, config, stop=stop, **kwargs)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=await self._reply(messages, stop, kwargs))])

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        with ThreadPoolExecutor(1) as thread:  # there may be a running loop in this one
            call = self._agenerate(messages, stop, **kwargs)
            return thread.submit(copy_context().run, asyncio.run, call).result()

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, strict: bool | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with tools: functions, classes or JSON schemas; `tool_choice` is "any", a name, or OpenAI's own."""
        if tool_choice in ("any", True):
            tool_choice = "required"
        elif isinstance(tool_choice, str) and tool_choice not in ("auto", "none", "required"):
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        return self.bind(
            tools=[convert_to_openai_tool(tool, strict=strict) for tool in tools], tool_choice=tool_choice, **kwargs
        )

    async def _reply(self, messages: Sequence[BaseMessage], stop: list[str] | None, call: Mapping[str, Any]) -> AIMessage:  # fmt: skip
        sent = [one for message in messages for one in _sent(message)]
        given = {"seed": self.seed, "stop": stop, **call}
        body = {"model": self.model_name, "messages": sent, **self.arguments}
        body |= {name: value for name, value in given.items() if value is not None}
        url, headers, proxy = self._where()
        response = await post(url, orjson.dumps(body), headers, proxy=proxy, seconds=self.timeout)
        note_headers(response.headers)  # until the gate reads them in the message
        if not 200 <= response.status < 300:
            raise StatusError(response.status, response.headers, response.body)
        message = message_in(response.body)
        if limits := {name.lower(): text for name, text in response.headers.items() if name.lower().startswith(_OF_LIMITS)}:  # fmt: skip
            message.response_metadata["headers"] = limits | {"date": response.headers.get("date", "")}
        return message

    def _where(self) -> tuple[URL, dict[str, str], str | None]:
        """Address, headers and proxy of the requests."""
        about = self.base_url, self.api_key.get_secret_value()
        if self._target is None or self._target[0] != about:
            url = URL(f"{self.base_url.rstrip('/')}/chat/completions")
            authorization = f"Bearer {about[1]}"
            if url.user is not None:
                pair = f"{url.user}:{url.password or ''}".encode()
                url, authorization = url.with_user(None), f"Basic {b64encode(pair).decode()}"
            headers = {"Authorization": authorization, "Content-Type": "application/json"}
            self._target = about, url, headers, proxy_of(url)
        return self._target[1:]


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
    data = _data(body)
    choices = data.get("choices")
    if not choices or not isinstance(choices, list):
        detail = f"choices is {_kind(choices)}" if "choices" in data else f"its keys are {', '.join(map(repr, data))}"
        if choices or not {"choices", "id", "object", "model", "usage"} & set(data):
            _no_completion(detail)
        raise ReplyError(fault("no_choices", detail))
    choice = choices[0]
    if not isinstance(choice, dict):
        _no_completion(f"a choice is {_kind(choice)}")
    if reported := choice.get("error"):
        raise ReplyError(of_error_in_reply(reported))
    finish = choice["finish_reason"] if isinstance(choice.get("finish_reason"), str) else None
    message = _message(choice.get("message"), finish)
    metadata = message.response_metadata = {"finish_reason": finish, "model_name": None}
    names = {"model_name": data.get("model"), "id": data.get("id"), "service_tier": data.get("service_tier")}
    metadata |= {name: text for name, text in names.items() if isinstance(text, str)}
    if choice.get("logprobs"):
        metadata["logprobs"] = choice["logprobs"]
    if (usage := data.get("usage")) is not None:
        message.usage_metadata = _usage(usage)
        if message.usage_metadata is None:
            metadata[ODD_USAGE] = True
    return message


def _data(body: bytes) -> dict[str, Any]:
    """The JSON object of a reply."""
    try:
        data = json.loads(body)
    except json.JSONDecodeError as error:
        if (begin := body.lstrip()[:1]) and begin not in b'{["':
            _no_completion(f"it begins with {body[:80].decode('utf-8', 'replace')!r}")
        raise ReplyError(of_broken_json(error)) from None
    except (ValueError, RecursionError) as error:  # no UTF-8, a number of thousands of digits, or nested without end
        raise ReplyError(fault("not_json", f"{type(error).__name__}: {error}")) from None
    if not isinstance(data, dict):
        _no_completion(f"it is {_kind(data)}: {body[:80].decode('utf-8', 'replace')!r}")
    if reported := data.get("error"):
        raise ReplyError(of_error_in_reply(reported))
    return data


def _message(message: Any, finish: str | None) -> AIMessage:
    if not isinstance(message, dict):
        _no_completion(f"the message of a choice is {_kind(message)}")
    content, raw_calls, refusal = (message.get(key) for key in ("content", "tool_calls", "refusal"))
    if isinstance(content, list):
        content = [block if isinstance(block, dict) else str(block) for block in content]
    elif not (content is None or isinstance(content, str)):
        _no_completion(f"the content of its message is {_kind(content)}")
    if raw_calls and not (isinstance(raw_calls, list) and all(map(_is_call, raw_calls))):
        _no_completion("its tool calls are not a list of calls")
    if not (isinstance(refusal, str) and refusal.strip()):
        refusal = None
    if content is None and not (refusal or raw_calls or any(map(message.get, _INSTEAD)) or flaw_of_finish(finish)):
        raise ReplyError(fault("null_content", f"content is null, finish_reason {finish or 'is not told'}"))
    calls, invalid = [], []
    for call in raw_calls or ():
        try:
            calls.append(parse_tool_call(call, return_id=True))
        except Exception as error:  # arguments that are no JSON: the model's fault, not the endpoint's
            invalid.append(make_invalid_tool_call(call, str(error)))
    more = {"refusal": refusal, **{key: message.get(key) for key in ("audio", "function_call")}}
    more = {key: value for key, value in more.items() if value}
    return AIMessage(content or "", additional_kwargs=more, tool_calls=calls, invalid_tool_calls=invalid)


def _is_call(call: object) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and all(isinstance(function.get(key), str) for key in ("name", "arguments"))


def _usage(usage: Any) -> UsageMetadata | None:
    """The tokens of a usage; None if input or output is not a number of tokens."""
    usage = usage if isinstance(usage, dict) else {}
    sent, written = count_of(usage.get("prompt_tokens")), count_of(usage.get("completion_tokens"))
    if sent is None or written is None:
        return None
    of_input = {"audio": "audio_tokens", "cache_read": "cached_tokens", "cache_creation": "cache_write_tokens"}
    return UsageMetadata(
        input_tokens=sent,
        output_tokens=written,
        total_tokens=sent + written,
        input_token_details=_details(usage.get("prompt_tokens_details"), of_input),
        output_token_details=_details(
            usage.get("completion_tokens_details"), {"audio": "audio_tokens", "reasoning": "reasoning_tokens"}
        ),
    )


def _details(details: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(details, dict):
        return {}
    return {name: count for name, key in names.items() if (count := count_of(details.get(key))) is not None}


def _no_completion(detail: str) -> NoReturn:
    raise ReplyError(fault("not_a_completion", detail))


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds: Mapping[type, str] = {str: "a text", int: "a number", float: "a number", dict: "an object"}
    return "an empty list" if value == [] else kinds.get(type(value), "a list")
