"""Conversion of the replies of chat models and agents to drafts, with tool calls, usage and reasoning."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage, convert_to_messages
from pydantic import BaseModel

from ...data.attachments import bounded
from ...data.formats.tool_messages import NO_RESULT
from ...data.records import Role
from ...data.text.cleaning import Cleaned, clean
from ..contract import ContractError
from ..messages.attachments import parts_in, why_empty
from ..models.flaws import EMPTY, ODD_USAGE, REFUSAL, counted, finish_of, flaw_of, has_odd_usage, refusal_in
from ..state import Draft


def draft(text: str, usage: dict[str, int] | None = None) -> Draft:
    """A model's text as a draft: cleaned, with the raw text if cleaning changed it."""
    text = writable(text)
    result = _draft(text, clean(text))
    if usage is not None:
        result["usage"] = usage
    return result


def _draft(text: str, cleaned: Cleaned) -> Draft:
    result = Draft(text=cleaned.text)
    if cleaned.text != text:
        result["raw"] = text
    if cleaned.removed:
        result["cleaned"] = list(cleaned.removed)
    return result


def text_draft(text: str) -> Draft:
    """The draft of a text that is a whole reply, with its flaw if it is empty."""
    result = draft(text)
    if why_empty(result) == EMPTY:
        result["flaw"] = EMPTY
    return result


def drafts_of(messages: Sequence[BaseMessage]) -> list[Draft]:
    """The drafts of a reply of several messages: one for each message with text or parts.

    Tool calls and reasoning belong to the next draft, or to the last one if no text follows. Without any text, one empty
    draft has them. The first draft has the usage of all calls. A refusal's words are text. Each draft has the flaw of
    its message.
    """
    answers = [message for message in messages if not isinstance(message, ToolMessage)]
    calls = _calls_of(messages)
    drafts: list[Draft] = []
    sources: list[BaseMessage] = []
    pending_calls: list[dict[str, Any]] = []
    pending_reasoning: list[str] = []
    pending_parts: list[dict[str, Any]] = []
    for number, message in enumerate(answers):
        text = writable("\n\n".join(part for part in (str(message.text), refusal_in(message)) if part))
        cleaned = clean(text)
        own_calls, reasoning = calls[number], _reasoning(message)
        parts = [part for part in parts_in(message) if (part["type"], part.get("name")) != ("other", REFUSAL)]
        last_and_only = number == len(answers) - 1 and not drafts
        # A text that is only reasoning between tags, beside a tool call, is not a message.
        if cleaned.text or any(part["type"] != "other" for part in parts) or last_and_only:
            pending_reasoning += [reasoning] if reasoning else []
            drafts.append(_with_details(_draft(text, cleaned), message, pending_reasoning, pending_calls))
            sources.append(message)
            if parts := [*pending_parts, *parts]:
                drafts[-1]["parts"] = parts
            pending_calls, pending_reasoning, pending_parts = own_calls, [], []
        else:
            pending_reasoning += [writable(part) for part in (reasoning, text.strip()) if part]
            pending_calls += own_calls
            pending_parts += parts
    if drafts:
        if pending_parts:
            drafts[-1]["parts"] = [*drafts[-1].get("parts", []), *pending_parts]
        if pending_calls:
            drafts[-1]["tool_calls"] = [*drafts[-1].get("tool_calls", []), *pending_calls]
        if pending_reasoning:
            drafts[-1]["reasoning"] = "\n\n".join(filter(None, [drafts[-1].get("reasoning"), *pending_reasoning]))
        drafts[0]["usage"] = usage_of(answers)
        for one, message in zip(drafts, sources, strict=True):
            if flaw := flaw_of(message, one):
                one["flaw"] = flaw
        if any(has_odd_usage(message) for message in answers):
            drafts[0].setdefault("flaw", ODD_USAGE)
    return drafts


def _with_details(result: Draft, message: BaseMessage, reasoning: Sequence[str], calls: list[dict[str, Any]]) -> Draft:
    """The draft with finish reason, model, reasoning and tool calls."""
    metadata: Mapping[str, Any] = message.response_metadata
    if (reason := finish_of(message)) is not None:
        result["finish_reason"] = writable(reason)
    model = metadata.get("model_name") or metadata.get("model")
    if isinstance(model, str):
        result["model"] = writable(model)
    if reasoning:
        result["reasoning"] = "\n\n".join(reasoning)
    if calls:
        result["tool_calls"] = calls
    return result


def usage_of(messages: Sequence[BaseMessage]) -> dict[str, int]:
    """Total tokens of the models' messages, as their endpoints counted them, without impossible counts."""
    reports = [message.usage_metadata for message in messages if isinstance(message, AIMessage)]
    counts = [report for report in map(counted, reports) if report is not None]
    usage = {name: sum(report[name] for report in counts) for name in ("input_tokens", "output_tokens")}
    usage["calls"] = max(1, sum(bool(report) for report in reports))
    for name in ("cached_tokens", "reasoning_tokens"):
        if count := sum(report.get(name, 0) for report in counts):
            usage[name] = count
    return usage


def messages_of(role: Role, answer: Any) -> list[BaseMessage]:
    """The messages in an agent's answer, a state or one message; ContractError if it has none."""
    if isinstance(answer, BaseMessage):
        return [answer]
    if not isinstance(answer, dict) or not isinstance(answer.get("messages"), list):
        raise ContractError(f"{role}: expected the agent to answer with 'messages', got {type(answer).__name__}")
    try:
        return convert_to_messages(answer["messages"])
    except (ValueError, NotImplementedError) as error:
        raise ContractError(f"{role}: expected the agent to answer with messages; {error}") from None


def new_messages(answered: Sequence[BaseMessage], sent: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages that an agent added to the sent ones.

    An agent may return the whole conversation or only its own messages. Sent messages are recognised by their object or
    their id (LangGraph adds missing ids), else by an equal beginning. An agent may return only the end of a long
    conversation: there the last sent message is recognised.
    """
    ids = {message.id for message in sent if message.id}
    objects = {id(message) for message in sent}
    sent_numbers = [number for number, message in enumerate(answered) if id(message) in objects or message.id in ids]
    if sent_numbers:
        return list(answered[sent_numbers[-1] + 1 :])
    old, returned = (
        [message for message in messages if not isinstance(message, SystemMessage)] for messages in (sent, answered)
    )
    begins_with_old = [(message.type, message.content) for message in returned[: len(old)]] == [
        (message.type, message.content) for message in old
    ]
    if old and begins_with_old:
        return returned[len(old) :]
    # Only a message that an agent cannot have written itself marks the end of the old ones.
    if old and not isinstance(old[-1], AIMessage):
        last = (old[-1].type, old[-1].content)
        ends = [number for number, message in enumerate(answered) if (message.type, message.content) == last]
        return list(answered[ends[-1] + 1 :]) if ends else list(answered)
    return list(answered)


def kept_channels(role: Role, keep: Sequence[str], channels: Mapping[str, Any]) -> dict[str, Any]:
    """The existing channels to keep, as plain JSON; ContractError for one that is not JSON."""
    values = {}
    for name in keep:
        if name in channels:
            try:
                values[name] = plain_json(channels[name])
            except (TypeError, ValueError, RecursionError) as error:
                raise ContractError(
                    f"{role}: keep: the agent's {name!r} is not plain JSON; {error}: leave it out, or keep "
                    "texts, numbers, lists and objects in it"
                ) from None
    return values


def plain_json(value: Any) -> Any:
    """A copy of the value as plain JSON: LangChain messages, pydantic models and dataclasses are dumped.

    TypeError if the value cannot be JSON.
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is not a number of JSON")
        return value
    if isinstance(value, BaseModel):
        return plain_json(value.model_dump(mode="json"))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key of an object is not a text")
        return {writable(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(inner) for inner in value]
    raise TypeError(f"{type(value).__name__} is not JSON")


def plain_or_text(value: Any) -> Any:
    """The value as plain JSON; as a text where that is not possible."""
    try:
        return plain_json(value)
    except (TypeError, ValueError, RecursionError):
        return writable(str(value))


def _calls_of(messages: Sequence[BaseMessage]) -> list[list[dict[str, Any]]]:
    """The tool calls of each message that is not a tool's result.

    A call gets the first later result of its id that no earlier call has: some endpoints count ids per message.
    """
    results = [
        (number, message.tool_call_id, message)
        for number, message in enumerate(messages)
        if isinstance(message, ToolMessage)
    ]

    def take(after: int, call_id: str | None) -> ToolMessage | None:
        for index, (number, answered_id, result) in enumerate(results):
            if number > after and answered_id == (call_id or ""):
                del results[index]
                return result
        return None

    return [
        _calls(message, partial(take, number))
        for number, message in enumerate(messages)
        if not isinstance(message, ToolMessage)
    ]


def _calls(message: BaseMessage, take: Callable[[str | None], ToolMessage | None]) -> list[dict[str, Any]]:
    """The tool calls of a message with their results, as plain `data.ToolCall`s; `take` returns the result of an id."""
    if not isinstance(message, AIMessage):
        return []
    calls = []
    for call in message.tool_calls:
        entry: dict[str, Any] = {"name": writable(call["name"])}
        try:
            entry["arguments"] = plain_json(call["args"])
        except TypeError as error:
            entry["error"] = f"its arguments are not JSON ({error}): {writable(str(call['args']))}"
        calls.append(entry | _result(take(call["id"])))
    for broken in message.invalid_tool_calls:
        why = f"{broken['error']}: " if broken.get("error") else ""
        problem = f"malformed call: {why}{broken.get('args') or 'no arguments'}"
        answer = take(broken.get("id"))
        problem += f" (answered: {answer.text})" if answer is not None and str(answer.text) else ""
        calls.append({"name": writable(broken.get("name") or ""), "error": writable(problem)})
    return calls


def _result(answer: ToolMessage | None) -> dict[str, Any]:
    if answer is None:
        return {"error": NO_RESULT}
    content = answer.content
    if answer.status == "error":
        return {"error": writable(str(answer.text) or "the tool failed")}
    if not isinstance(content, str):
        if not (parts := parts_in(answer)):
            return {"result": plain_json(content)}
        text = writable(str(answer.text))
        return bounded({"parts": parts} | ({"result": text} if text else {}))
    # Other text stays as it is: the number of "0.10" or "1e5" is not what the tool wrote.
    if not content.lstrip().startswith(("{", "[")):
        return {"result": writable(content)}
    try:
        return {"result": plain_json(json.loads(content))}
    except (ValueError, TypeError, RecursionError):
        return {"result": writable(content)}


def _reasoning(message: BaseMessage) -> str:
    """The endpoint's reasoning text, in any of the known forms."""
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
    return writable("\n\n".join(part.strip() for part in parts if part.strip()))


def writable(text: str) -> str:
    """The text with half surrogate pairs replaced, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
