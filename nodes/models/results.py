"""The result of a chat completion's JSON: equal to that of `ChatOpenAI`, without its detour over models."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import LC_ID_PREFIX, AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from openai.types import CompletionUsage
from openai.types.completion_usage import CompletionTokensDetails, PromptTokensDetails

_USAGE = dict.fromkeys(CompletionUsage.model_fields)
_DETAILS = {
    "completion_tokens_details": dict.fromkeys(CompletionTokensDetails.model_fields),
    "prompt_tokens_details": dict.fromkeys(PromptTokensDetails.model_fields),
}
_PRICED_APART = frozenset({"priority", "flex"})
"""Service tiers whose tokens the package counts apart."""


def result_of(data: Mapping[str, Any]) -> ChatResult | None:
    """The result of a checked completion; None if only the package can read it."""
    if len(data["choices"]) != 1 or data.get("service_tier") in _PRICED_APART:
        return None
    (choice,) = data["choices"]
    if not _is_plain(choice):
        return None
    usage, message = _usage(data["usage"]), _message(choice["message"])
    if usage is not None:
        message.usage_metadata = _tokens(usage)
    output = {"token_usage": usage, "model_provider": "openai", "model_name": data.get("model")}
    output |= {name: data.get(name) for name in ("system_fingerprint", "id")}
    if tier := data.get("service_tier"):
        output["service_tier"] = tier
    about = {"finish_reason": choice["finish_reason"], "logprobs": None}
    return ChatResult(generations=[ChatGeneration(message=message, generation_info=about)], llm_output=output)


def _is_plain(choice: Mapping[str, Any]) -> bool:
    """Whether a choice has only fields that the package's models leave unchanged."""
    message = choice["message"]
    if choice.get("logprobs") is not None or message.get("audio") or message.get("function_call"):
        return False
    content = message["content"]
    return (content is None or isinstance(content, str)) and all(map(_is_function, message["tool_calls"] or ()))


def _is_function(call: Mapping[str, Any]) -> bool:
    function = call.get("function")
    return (
        call.get("type") == "function"
        and isinstance(call.get("id"), str)
        and isinstance(function, dict)
        and isinstance(function.get("arguments"), str)
    )


def _message(message: Mapping[str, Any]) -> AIMessage:
    calls, invalid = [], []
    for call in message["tool_calls"] or ():
        try:
            calls.append(parse_tool_call(call, return_id=True))
        except Exception as error:  # as the package does
            invalid.append(make_invalid_tool_call(call, str(error)))
    return AIMessage(
        content=message["content"] or "",
        additional_kwargs={"refusal": message["refusal"]},
        name=message.get("name"),
        id=message.get("id"),
        tool_calls=calls,
        invalid_tool_calls=invalid,
    )


def _usage(usage: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The usage with every field that the package knows."""
    if usage is None:
        return None
    details = {name: {**fields, **usage[name]} for name, fields in _DETAILS.items() if usage.get(name) is not None}
    return {**_USAGE, **usage, **details}


def _tokens(usage: Mapping[str, Any]) -> UsageMetadata:
    """The usage in LangChain's words."""
    read, written = usage["prompt_tokens_details"] or {}, usage["completion_tokens_details"] or {}
    of_input = {
        "audio": read.get("audio_tokens"),
        "cache_read": read.get("cached_tokens"),
        "cache_creation": read.get("cache_write_tokens"),
    }
    of_output = {"audio": written.get("audio_tokens"), "reasoning": written.get("reasoning_tokens")}
    return UsageMetadata(
        input_tokens=usage["prompt_tokens"],
        output_tokens=usage["completion_tokens"],
        total_tokens=usage["total_tokens"],
        input_token_details=_reported(of_input),
        output_token_details=_reported(of_output),
    )


def _reported(counts: Mapping[str, Any]) -> Any:
    return {name: count for name, count in counts.items() if count is not None}


def message_of(result: ChatResult, run: object) -> AIMessage:
    """The first message of a result, with the additions of `ainvoke`."""
    generation = result.generations[0]
    message = generation.message
    if not isinstance(message, AIMessage):
        raise TypeError(f"a model's reply is {type(message).__name__}")
    if message.id is None:
        message.id = f"{LC_ID_PREFIX}-{run}-0"
    metadata = {**(generation.generation_info or {}), **message.response_metadata}
    only = result.llm_output if len(result.generations) == 1 else None
    message.response_metadata = {**(only or {}), **metadata}
    return message
