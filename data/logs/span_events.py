"""Messages in the events of OpenTelemetry spans, as the conventions for generative AI had them before 1.37.

An event is named for its role: `gen_ai.system.message`, `gen_ai.user.message`, `gen_ai.assistant.message`,
`gen_ai.tool.message`, and `gen_ai.choice` for a reply. Its body stands in the event's attributes, as JSON in the attribute
`gen_ai.event.content`, or under `body`. Still older are `gen_ai.content.prompt` and `gen_ai.content.completion`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ..files.json_values import as_value
from ..formats.turns import turns_of
from ..records import as_object

_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_WHOLE = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}

SpanTurns = list[dict[str, Any]]


def messages_of(events: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[SpanTurns, SpanTurns]:
    """The sent and the received messages in a span's events, given their names and bodies.

    Both are empty if no event holds a message.
    """
    sent: SpanTurns = []
    received: SpanTurns = []
    for name, body in events:
        if role := _ROLES.get(name):
            sent += _turn(role, body)
        elif name == "gen_ai.choice" and str(body.get("index", 0)) == "0":
            inner = as_value(body.get("message"))
            message = inner if isinstance(inner, Mapping) else {"content": inner} if inner else body
            reason = body.get("finish_reason")
            received += [turn | ({"finish_reason": reason} if reason else {}) for turn in _turn("assistant", message)]
        elif key := _WHOLE.get(name):
            turns = turns_of(as_value(body.get(key)))
            if name.endswith("prompt"):
                sent += turns
            else:
                received += turns
    return sent, received


def body_of(event: Mapping[str, Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The body of an event: its attributes, and what they or the event hold as an object."""
    inner, body = as_value(attributes.get("gen_ai.event.content")), as_value(event.get("body"))
    return {**attributes, **as_object(body), **as_object(inner)}


def _turn(role: str, body: Mapping[str, Any]) -> SpanTurns:
    message = {"role": role, "content": body.get("content")}
    if isinstance(calls := as_value(body.get("tool_calls")), list):
        message["tool_calls"] = calls
    if role == "tool":
        message["tool_call_id"] = body.get("id")
    return turns_of(message) if message["content"] is not None or "tool_calls" in message else []
