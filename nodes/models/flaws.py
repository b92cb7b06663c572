"""Flaws of a reply: a refusal, filtered, cut off or empty content, or an impossible number of tokens."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from ..attachments import why_empty
from .faults import ReplyError, fault

REFUSAL = "refusal"
"""The model refuses in words, which are the draft's text."""
CONTENT_FILTER = "content_filter"
"""The endpoint's filter took the reply, or the rest of it."""
CUT_OFF = "cut_off"
"""The endpoint ended the reply at its length limit."""
EMPTY = "empty"
"""The reply has no text, no part and no tool call."""

_FINISHES = {
    REFUSAL: "refusal refused",
    CONTENT_FILTER: "content_filter content_filtered safety recitation blocklist prohibited_content spii image_safety "
    "guardrail_intervened error_toxic error_toxic_content jailbreak",
    CUT_OFF: "length max_tokens max_output_tokens model_length token_limit model_context_window_exceeded",
}
"""The finish reasons of each flaw, as the providers write them, in small letters."""
_FLAWS = {reason: flaw for flaw, reasons in _FINISHES.items() for reason in reasons.split()}
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason", "stopReason")
"""Keys of the finish reason in a message's metadata: OpenAI and Google, Anthropic, Ollama, Bedrock."""
_DETAILS = (
    ("cached_tokens", "input_token_details", "cache_read"),
    ("reasoning_tokens", "output_token_details", "reasoning"),
)


def finish_of(message: BaseMessage) -> str | None:
    """The endpoint's reason why the model stopped; None if it gives none."""
    metadata: Mapping[str, Any] = message.response_metadata
    incomplete, feedback = metadata.get("incomplete_details"), metadata.get("prompt_feedback")
    reasons = [metadata.get(key) for key in _FINISH_KEYS]
    if isinstance(incomplete, Mapping):  # of OpenAI's responses
        reasons.append(incomplete.get("reason"))
    if isinstance(feedback, Mapping) and feedback.get("block_reason"):  # of Google, for a blocked prompt
        reasons.append(CONTENT_FILTER)
    return next((reason for reason in reasons if isinstance(reason, str)), None)


def flaw_of_finish(reason: str | None) -> str | None:
    """The flaw of a finish reason; None for a reason without one."""
    return _FLAWS.get((reason or "").lower().rpartition(".")[2])


def refusal_in(message: BaseMessage) -> str:
    """The words of a refusal beside the content or in a block of it; empty without one."""
    blocks = [block for block in message.content if isinstance(block, dict) and block.get("type") == "refusal"]
    words = [place.get("refusal") for place in (message.additional_kwargs, *blocks)]
    return "\n\n".join(text for text in words if isinstance(text, str) and text.strip())


def flaw_of(message: BaseMessage, draft: Mapping[str, Any]) -> str | None:
    """The flaw of a reply and its draft; None if it has none.

    The most specific flaw comes first: a refusal, then the endpoint's finish reason, then an empty reply.
    """
    if refusal_in(message):
        return REFUSAL
    return flaw_of_finish(finish_of(message)) or (EMPTY if why_empty(draft) == EMPTY else None)


def flaw_in(draft: Mapping[str, Any]) -> str | None:
    """The flaw of a draft: its own, or that of its finish reason."""
    return draft.get("flaw") or flaw_of_finish(draft.get("finish_reason"))


def check_reply(message: BaseMessage) -> None:
    """ReplyError if a provider's message has no content, and nothing that explains it: the endpoint's fault.

    A message without any metadata is not from a provider but from a model of one's own: it is an empty reply.
    """
    if not isinstance(message, AIMessage) or message.content or not message.response_metadata:
        return
    more = [message.tool_calls, message.invalid_tool_calls, *message.additional_kwargs.values(), finish_of(message)]
    if not any(more):
        raise ReplyError(fault("null_content", "no content, no tool call and no finish reason"))


def count_of(value: object) -> int | None:
    """A number of tokens as an endpoint counts them; None for an impossible one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value <= 10**9 and value == int(value) else None


def usage_in(usage: Mapping[str, Any]) -> UsageMetadata | None:
    """The tokens of a usage of OpenAI's, Anthropic's or Bedrock's; None if input or output is not a number of tokens."""
    sent = count_of(usage.get("prompt_tokens", usage.get("input_tokens", usage.get("inputTokens"))))
    written = count_of(usage.get("completion_tokens", usage.get("output_tokens", usage.get("outputTokens"))))
    if sent is None or written is None:
        return None
    made = UsageMetadata(input_tokens=sent, output_tokens=written, total_tokens=sent + written)
    for key, field, name in _DETAILS:
        side = "prompt" if field.startswith("input") else "completion"
        details = usage.get(f"{side}_tokens_details") or usage.get(field.replace("token_", "tokens_"))
        if isinstance(details, Mapping) and (count := count_of(details.get(key))) is not None:
            made[field] = {name: count}  # type: ignore[literal-required]
    return made


def counted(usage: Mapping[str, Any] | None) -> dict[str, int] | None:
    """The possible numbers of a message's usage: `input_tokens`, `output_tokens`, and their known details.

    None if there is no usage, or input and output are not both numbers of tokens.
    """
    usage = usage or {}
    inputs, outputs = count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))
    if inputs is None or outputs is None:
        return None
    tokens = {"input_tokens": inputs, "output_tokens": outputs}
    for name, field, key in _DETAILS:
        if isinstance(details := usage.get(field), Mapping) and (count := count_of(details.get(key))) is not None:
            tokens[name] = count
    return tokens
