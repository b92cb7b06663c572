"""What chat models and agents answer, as drafts: the words, and what the endpoint said of them."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from pydantic import BaseModel

from ..data.text.cleaning import clean
from .state import Draft


def draft(text: str, usage: dict[str, int] | None = None) -> Draft:
    """A model's text as a draft: cleaned, what came kept where it differs."""
    text = _writable(text)
    cleaned = clean(text)
    made = Draft(text=cleaned.text)
    if cleaned.text != text:
        made["raw"] = text
    if cleaned.removed:
        made["cleaned"] = list(cleaned.removed)
    if usage is not None:
        made["usage"] = usage
    return made


def drafts_of(messages: Sequence[BaseMessage]) -> list[Draft]:
    """The drafts of what was answered in one go: one for each message with words.

    Tools that were called belong to the next draft, since its words came after them, or to the last one where no
    words follow; so does reasoning. If there are no words at all, one empty draft holds what there is. What the
    calls cost stands with the first draft.
    """
    answers = [message for message in messages if not isinstance(message, ToolMessage)]
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    drafts: list[Draft] = []
    calls: list[dict[str, Any]] = []
    thoughts: list[str] = []
    for number, message in enumerate(answers):
        text = str(message.text)
        own_calls, thought = _calls(message, results), _reasoning(message)
        last_and_only = number == len(answers) - 1 and not drafts
        # Thoughts between tags beside a call of a tool are no message to anybody.
        if clean(_writable(text)).text or last_and_only:
            made = draft(text)
            thoughts += [thought] if thought else []
            drafts.append(_told(made, message, thoughts, calls))
            calls, thoughts = own_calls, []
        else:
            thoughts += [_writable(part) for part in (thought, text.strip()) if part]
            calls += own_calls
    if drafts:
        if calls:
            drafts[-1]["tool_calls"] = [*drafts[-1].get("tool_calls", []), *calls]
        if thoughts:
            drafts[-1]["reasoning"] = "\n\n".join(filter(None, [drafts[-1].get("reasoning"), *thoughts]))
        drafts[0]["usage"] = usage_of(answers)
    return drafts


def _told(made: Draft, message: BaseMessage, thoughts: Sequence[str], calls: list[dict[str, Any]]) -> Draft:
    """The draft with what its message's endpoint said of it."""
    about: Mapping[str, Any] = message.response_metadata
    for name in ("finish_reason", "stop_reason", "done_reason"):  # as OpenAI, Anthropic and Ollama call it
        if isinstance(reason := about.get(name), str):
            made["finish_reason"] = reason
            break
    model = about.get("model_name") or about.get("model")
    if isinstance(model, str):
        made["model"] = model
    if thoughts:
        made["reasoning"] = "\n\n".join(thoughts)
    if calls:
        made["tool_calls"] = calls
    return made


def usage_of(messages: Sequence[BaseMessage]) -> dict[str, int]:
    """Tokens of the models' messages, as their endpoints counted them."""
    counted = [m.usage_metadata for m in messages if isinstance(m, AIMessage) and m.usage_metadata]
    usage = {
        "input_tokens": sum(told["input_tokens"] for told in counted),
        "output_tokens": sum(told["output_tokens"] for told in counted),
        "calls": max(1, len(counted)),
    }
    cached = sum((told.get("input_token_details") or {}).get("cache_read") or 0 for told in counted)
    reasoned = sum((told.get("output_token_details") or {}).get("reasoning") or 0 for told in counted)
    return usage | ({"cached_tokens": cached} if cached else {}) | ({"reasoning_tokens": reasoned} if reasoned else {})


def new_messages(answered: Sequence[BaseMessage], sent: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What an agent added to the messages that it was sent.

    An agent may answer with the whole talk or with its own messages alone. What was sent is known by its object or
    its id, which LangGraph gives to what has none; else an answer that begins with the words that were sent has them.
    """
    ids = {message.id for message in sent if message.id}
    objects = {id(message) for message in sent}
    known = [n for n, message in enumerate(answered) if id(message) in objects or message.id in ids]
    if known:
        return list(answered[known[-1] + 1 :])
    old, there = ([m for m in messages if not isinstance(m, SystemMessage)] for messages in (sent, answered))
    whole = bool(old) and [(m.type, m.content) for m in there[: len(old)]] == [(m.type, m.content) for m in old]
    return there[len(old) :] if whole else list(answered)


def plain_json(value: Any) -> Any:
    """The value as plain JSON: LangChain messages, pydantic models and dataclasses are dumped.

    TypeError for what is no JSON. Nothing of the value itself is in the result.
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return _writable(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is no number of JSON")
        return value
    if isinstance(value, BaseModel):
        return plain_json(value.model_dump(mode="json"))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key of an object is no text")
        return {_writable(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(inner) for inner in value]
    raise TypeError(f"{type(value).__name__} is no JSON")


def _calls(message: BaseMessage, results: Mapping[str, ToolMessage]) -> list[dict[str, Any]]:
    """The tools that a message calls, each with what came back, as plain `data.ToolCall`s."""
    if not isinstance(message, AIMessage):
        return []
    made = []
    for call in message.tool_calls:
        told: dict[str, Any] = {"name": _writable(call["name"])}
        try:
            told["arguments"] = plain_json(call["args"])
        except TypeError as error:
            told["error"] = f"its arguments are no JSON ({error}): {_writable(str(call['args']))}"
        made.append(told | _result(results.get(call["id"] or "")))
    for broken in message.invalid_tool_calls:
        why = f"{broken['error']}: " if broken.get("error") else ""
        problem = f"malformed call: {why}{broken.get('args') or 'no arguments'}"
        made.append({"name": _writable(broken.get("name") or ""), "error": _writable(problem)})
    return made


def _result(answer: ToolMessage | None) -> dict[str, Any]:
    if answer is None:
        return {"error": "no result came"}
    content = answer.content
    if answer.status == "error":
        return {"error": _writable(str(answer.text) or "the tool failed")}
    if not isinstance(content, str):
        return {"result": plain_json(content)}
    try:
        return {"result": plain_json(json.loads(content))}
    except (ValueError, TypeError, RecursionError):
        return {"result": _writable(content)}


def _reasoning(message: BaseMessage) -> str:
    """What the endpoint gave as reasoning beside the words, in whichever of the known forms."""
    aside = message.additional_kwargs.get("reasoning_content")
    parts = [aside] if isinstance(aside, str) else []
    for block in message.content if isinstance(message.content, list) else ():
        if isinstance(block, dict) and block.get("type") in ("reasoning", "thinking"):
            summary = block.get("summary")
            texts = [block.get("reasoning"), block.get("thinking"), block.get("text")]
            texts += (
                [part.get("text") for part in summary if isinstance(part, dict)] if isinstance(summary, list) else []
            )
            parts += [text for text in texts if isinstance(text, str)]
    return _writable("\n\n".join(part.strip() for part in parts if part.strip()))


def _writable(text: str) -> str:
    """The text as UTF-8 can hold it: half a surrogate pair fits in no file."""
    return text.encode("utf-8", "replace").decode("utf-8")
