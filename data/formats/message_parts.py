"""Messages in parts, as turns of OpenAI's form; each result of a tool is a turn of its own.

It reads the parts of OpenTelemetry's semantic conventions (gen-ai-input-messages.json), of Vercel's AI SDK (model
messages and UI messages), and of Gemini's `Content`. It also reads Anthropic's content blocks where calls and results
stand in one message.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..files.json_files import dumps
from ..records import as_list, as_object, is_object

_REASONING = ("reasoning", "thinking", "redacted_thinking")
_CALLS = ("tool_call", "tool-call", "tool_use", "tool-invocation", "dynamic-tool")
_RESULTS = ("tool_call_response", "tool-result", "tool_result")
_MARKS = ("step-start", "step-finish")
"""Parts that hold nothing."""
_MIME = ("mime_type", "mimeType", "mediaType", "media_type")


def in_parts(content: Any) -> bool:
    """Whether a content lists parts of Vercel's AI SDK, with their calls and results."""
    parts = [part for part in content if is_object(part)] if isinstance(content, list) else []
    return any(part.get("type") in ("tool-call", "tool-result", "tool-invocation") for part in parts)


def turns_of_parts(role: str, parts: Sequence[Any], more: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """The turns of one message; never none.

    `more`: further keys, of the turn that is current. Reasoning stands under its `reasoning_content`.
    """
    turns = list(_turns(role, parts)) or [{"role": role, "content": ""}]
    own = [turn for turn in turns if turn["role"] == role]
    if own:
        own[-1].update(more or {})
    return turns


def with_ids(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The turns of a conversation, each call and its result with an id, as OpenAI's form asks for.

    A result without one is that of the first call without a result, of its name if it has one.
    """
    waiting: list[tuple[str, str]] = []
    number = 0
    for turn in (turn for turn in turns if isinstance(turn, dict)):
        for call in (call for call in as_list(turn.get("tool_calls")) if isinstance(call, dict)):
            number += 1
            call.setdefault("id", f"call_{number}")
            waiting.append((call["id"], str(as_object(call.get("function")).get("name"))))
        if turn.get("role") == "user":  # what was called before has no result any more
            waiting.clear()
        if turn.get("role") == "tool":
            own, name = turn.get("tool_call_id"), turn.get("name")
            place = next((pair for pair in waiting if pair[0] == own or (not own and name in (None, pair[1]))), None)
            if place is not None:
                waiting.remove(place)
                turn["tool_call_id"] = place[0]
    return turns


@dataclass
class _OpenTurn:
    """What a message says and calls, up to the next result."""

    contents: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    reasoning: list[str] = field(default_factory=list[str])
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def turn(self, role: str) -> Iterator[dict[str, Any]]:
        """The turn, if there is anything in it."""
        if not (self.contents or self.reasoning or self.calls):
            return
        words = all(block["type"] == "text" for block in self.contents)
        content: Any = "".join(block["text"] for block in self.contents) if words else self.contents
        turn: dict[str, Any] = {"role": role, "content": content if self.contents or not self.calls else None}
        turn |= {"tool_calls": self.calls} if self.calls else {}
        yield turn | ({"reasoning_content": "\n".join(self.reasoning)} if self.reasoning else {})


def _turns(role: str, parts: Sequence[Any]) -> Iterator[dict[str, Any]]:
    current = _OpenTurn()
    for part in parts:
        block = {"type": "text", "text": part} if isinstance(part, str) else part
        if not is_object(block) or (kind := _kind(block)) in _MARKS:
            continue
        if block.get("thought") is True or kind in _REASONING:
            current.reasoning.append(_first_text(block, "text", "content", "reasoning", "thinking"))
            continue
        call, result = _call(block, kind), _result(block, kind)
        if call is not None:
            current.calls.append(call)
        elif result is None:
            current.contents.append(_content(block, kind))
        if result is not None:
            yield from current.turn(role)
            current = _OpenTurn()
            yield result
    yield from current.turn(role)


def _kind(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    return kind if isinstance(kind, str) else "text" if isinstance(block.get("text"), str) else ""


def _call(block: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """The call of a part in OpenAI's form."""
    inner = block
    if kind == "tool-invocation":
        inner = as_object(block.get("toolInvocation", block))
    elif is_object(function := block.get("functionCall", block.get("function_call"))):
        inner = function
    elif kind in _RESULTS or (kind not in _CALLS and not (kind.startswith("tool-") and "toolCallId" in block)):
        return None
    name = inner.get("name") or inner.get("toolName") or kind.removeprefix("tool-")
    arguments = next((inner[key] for key in ("arguments", "args", "input") if key in inner), None)
    text = arguments if isinstance(arguments, str) else dumps({} if arguments is None else arguments)
    number = inner.get("id") or inner.get("toolCallId")
    return {
        **({"id": str(number)} if number else {}),
        "type": "function",
        "function": {"name": str(name), "arguments": text},
    }


def _result(block: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """The result that a part holds, alone or beside its call."""
    if is_object(function := block.get("functionResponse", block.get("function_response"))):
        return _tool_turn(function.get("id"), function.get("name"), function.get("response"))
    inner = as_object(block.get("toolInvocation", block)) if kind == "tool-invocation" else block
    beside = kind not in _RESULTS
    if beside and not (kind.startswith("tool-") or kind == "dynamic-tool"):
        return None
    if beside and not any(inner.get(key) is not None for key in ("result", "output", "errorText")):
        return None
    number = next((inner[key] for key in ("id", "tool_use_id", "toolCallId") if inner.get(key)), None)
    keys = ("response", "result", "output", "content", "errorText")
    value = next((inner[key] for key in keys if inner.get(key) is not None), None)
    failed = inner.get("isError") is True or inner.get("is_error") is True or inner.get("errorText") is not None
    if is_object(value) and "value" in value and isinstance(value.get("type"), str):  # Vercel's typed output
        failed, value = failed or value["type"].startswith("error"), value["value"]
    return _tool_turn(number, inner.get("toolName") or inner.get("name"), value, failed=failed)


def _tool_turn(number: Any, name: Any, value: Any, *, failed: bool = False) -> dict[str, Any]:
    texts = [part.get("text") if is_object(part) else None for part in value] if isinstance(value, list) else [None]
    words = "".join(texts) if texts and all(isinstance(text, str) for text in texts) else None  # type: ignore[arg-type]
    content = words if words is not None else value if isinstance(value, str) else dumps(value)
    turn: dict[str, Any] = {"role": "tool", "tool_call_id": str(number)} if number else {"role": "tool"}
    turn |= {"name": str(name)} if name else {}
    return turn | {"content": content} | ({"status": "error"} if failed else {})


def _content(block: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """A text, or a block that `attachments.part_of` reads."""
    if kind in ("text", "input_text", "output_text"):
        return {"type": "text", "text": _first_text(block, "text", "content")}
    mime = next((block[key] for key in _MIME if isinstance(block.get(key), str)), None)
    if kind == "uri":
        return {"type": block.get("modality") or "media", "url": block.get("uri"), "mime_type": mime}
    if kind == "blob":
        return {"type": block.get("modality") or "media", "base64": block.get("content"), "mime_type": mime}
    if is_object(data := block.get("inlineData", block.get("inline_data"))):
        return {"type": "media", "data": data.get("data"), "mime_type": data.get("mimeType", data.get("mime_type"))}
    if is_object(data := block.get("fileData", block.get("file_data"))):
        return {
            "type": "media",
            "file_uri": data.get("fileUri", data.get("file_uri")),
            "mime_type": data.get("mimeType", data.get("mime_type")),
        }
    for key, inner in (("executableCode", "code"), ("codeExecutionResult", "output")):
        if is_object(value := block.get(key)):
            return {"type": key, key: _first_text(value, inner)}  # not under `text`: it is not words of the message
    return {**block, "type": kind or "other"} | ({"mime_type": mime} if mime else {})


def _first_text(block: Mapping[str, Any], *keys: str) -> str:
    return next((block[key] for key in keys if isinstance(block.get(key), str)), "")
