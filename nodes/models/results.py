"""What becomes of the JSON of a chat completion: the same result as of `ChatOpenAI`, without its detour over models."""

from collections.abc import Mapping
from typing import Any, Protocol

from langchain_core.messages import LC_ID_PREFIX, AIMessage
from langchain_core.outputs import ChatResult
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion
from openai.types.completion_usage import CompletionTokensDetails, PromptTokensDetails

_FIELDS = dict.fromkeys(CompletionUsage.model_fields)
_DETAILS = {
    "completion_tokens_details": dict.fromkeys(CompletionTokensDetails.model_fields),
    "prompt_tokens_details": dict.fromkeys(PromptTokensDetails.model_fields),
}


class Creates(Protocol):
    """A model that makes a result of a response."""

    def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult: ...


def result_of(model: Creates, data: dict[str, Any]) -> ChatResult:
    """The model's result of a completion that was judged."""
    choices = data["choices"]
    if not all(map(_is_plain, choices)):
        return model._create_chat_result(ChatCompletion.construct(**data), {})
    filled = {
        **data,
        "choices": [{**choice, "logprobs": None} for choice in choices],
        "usage": _usage(data["usage"]),
        "system_fingerprint": data.get("system_fingerprint"),
    }
    result = model._create_chat_result(filled, {})
    result.generations[0].message.additional_kwargs["refusal"] = choices[0]["message"]["refusal"]
    return result


def _is_plain(choice: Mapping[str, Any]) -> bool:
    """Whether a choice has nothing in it that the package's models would read in their own way."""
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


def _usage(usage: dict[str, Any] | None) -> dict[str, Any] | None:
    """The usage with every field that the package knows."""
    if usage is None:
        return None
    details = {name: {**fields, **usage[name]} for name, fields in _DETAILS.items() if usage.get(name) is not None}
    return {**_FIELDS, **usage, **details}


def message_of(result: ChatResult, run: object) -> AIMessage:
    """The first message of a result with what `ainvoke` adds to it."""
    generation = result.generations[0]
    message = generation.message
    if not isinstance(message, AIMessage):
        raise TypeError(f"a model's reply is {type(message).__name__}")
    if message.id is None:
        message.id = f"{LC_ID_PREFIX}-{run}-0"
    told = {**(generation.generation_info or {}), **message.response_metadata}
    only = result.llm_output if len(result.generations) == 1 else None
    message.response_metadata = {**(only or {}), **told}
    return message
