"""Messages in the attributes of spans that Vercel's AI SDK writes.

"Telemetry" (ai-sdk.dev/docs/ai-sdk-core/telemetry): `ai.prompt` and `ai.prompt.messages` are sent, `ai.response.text` and
`ai.response.toolCalls` come back, all of them JSON texts; `ai.telemetry.metadata.*` are the application's own.
"""

from collections.abc import Mapping
from typing import Any

from ..attempts import as_list, as_object
from ..files.json_values import as_value
from ..formats.message_parts import turns_of_parts
from ..formats.turns import turns_of
from .span_events import SpanTurns

THREADS = tuple(
    f"ai.telemetry.metadata.{name}" for name in ("sessionId", "conversationId", "threadId", "chatId", "session_id")
)
"""Attributes that name the conversation, where the application gave one."""
TOKENS = {
    "input_tokens": ("ai.usage.promptTokens", "ai.usage.inputTokens"),
    "output_tokens": ("ai.usage.completionTokens", "ai.usage.outputTokens"),
}


def ai_sdk_messages(attributes: Mapping[str, Any]) -> tuple[SpanTurns, SpanTurns]:
    """The sent and the received messages; both are empty without any."""
    prompt = as_object(as_value(attributes.get("ai.prompt")))
    sent = turns_of(as_value(attributes.get("ai.prompt.messages"))) or turns_of(prompt.get("messages"))
    if not sent and isinstance(text := prompt.get("prompt"), str):
        sent = [{"role": "user", "content": text}]
    if isinstance(system := prompt.get("system"), str) and system:
        sent = [{"role": "system", "content": system}, *sent]
    text, calls = attributes.get("ai.response.text"), as_value(attributes.get("ai.response.toolCalls"))
    parts: list[Any] = [text] if isinstance(text, str) and text else []
    parts += [{"type": "tool-call", **as_object(call)} for call in as_list(calls)]
    received = turns_of_parts("assistant", parts) if parts else []
    if received and isinstance(reason := attributes.get("ai.response.finishReason"), str):
        received[-1]["finish_reason"] = reason
    return sent, received
