"""Messages of a record in the form that OpenTelemetry's conventions for generative AI have: roles and parts.

Source: model/gen-ai/gen-ai-input-messages.json in https://github.com/open-telemetry/semantic-conventions-genai.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ..data.attempts import Attempt, Part, ToolCall
from ..data.records import Message


def message_in_parts(role: str, text: str, parts: Sequence[Part]) -> dict[str, Any]:
    """A message of a role with its text and its parts besides text."""
    words = [{"type": "text", "content": text}] if text else []
    return {"role": role, "parts": [*words, *map(_part, parts)]}


def _part(part: Part) -> dict[str, Any]:
    about = {"modality": part.type, **({"mime_type": part.mime_type} if part.mime_type else {})}
    if part.inline and part.url:
        return {"type": "blob", **about, "content": part.url.partition(",")[2]}
    if part.url:
        return {"type": "uri", **about, "uri": part.url}
    return {"type": "file", **about, "file_id": part.file_id or part.digest or ""}


def calls_of(place: str, draft: Attempt) -> Iterator[tuple[str, ToolCall]]:
    """The calls of a draft with their ids, which are unique in the conversation."""
    return ((f"{place}.{draft.number}.{number}", call) for number, call in enumerate(draft.tool_calls, start=1))


def result_of(call: ToolCall) -> Any:
    """What the tool returned, or why it returned nothing."""
    return call.result if call.error is None else call.error


def turns_of(place: str, message: Message) -> Iterator[dict[str, Any]]:
    """A message after the calls of tools that were made for it and their results, as the conventions have them."""
    if message.tool_calls:
        calls = list(calls_of(place, message.attempts[-1]))
        parts = [
            {"type": "tool_call", "id": own, "name": call.name, "arguments": call.arguments} for own, call in calls
        ]
        yield {"role": message.role, "parts": parts}
        for own, call in calls:
            response = {"type": "tool_call_response", "id": own, "response": result_of(call)}
            yield {"role": "tool", "parts": [response]}
    yield message_in_parts(message.role, message.text, message.parts)
