"""A conversation as a sample of Inspect: messages in Inspect's form, and beside them the whole record.

`EvalSample` and `ChatMessage` (inspect.aisi.org.uk/reference/inspect_ai.log.html). The record stands in the sample's
`store`, under `duologue`. From there a sample is read without a loss if its messages are still those of the record.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from ...errors import DataError
from ..files.json_files import dumps
from ..files.json_values import as_value
from ..formats.dialogues import asides
from ..formats.turn_reading import text_of
from ..formats.turns import SPEAKERS, role_of
from ..identity import conversation_id, digest
from ..records import Attempt, Conversation, Message, Part, Usage, as_list, as_object, is_object

KEY = "duologue"
"""Key of the sample's store for the record: an object, or its JSON if it contains half of a surrogate pair."""

_SOUNDS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
_FILMS = {"video/mp4": "mp4", "video/mpeg": "mpeg", "video/quicktime": "mov"}
_REASONS = {"length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}


def sample_name(conversation: Conversation) -> str:
    """The sample's id: that of the scenario's first conversation, so that repeats are epochs of one sample."""
    provenance = conversation.provenance
    if provenance is None or not conversation.repeat:
        return conversation.id
    first = (provenance.cast, conversation.scenario, conversation.ordinal)
    is_simulated = conversation.id == conversation_id(*first, conversation.repeat, provenance.begun)
    return conversation_id(*first, 0, provenance.begun) if is_simulated else conversation.id


def sample_of(conversation: Conversation, name: str, epoch: int) -> dict[str, Any]:
    """The conversation as a sample with this id and epoch, which counts from 1."""
    messages = list(_messages(conversation))
    for number, message in enumerate(messages):
        message["id"] = digest("inspect", conversation.id, number)[:22]
    scenario, failure, usage = conversation.scenario, conversation.failure, usage_by_model(conversation)
    roles = {role: model_usage(spent) for role in ("user", "assistant") if (spent := _spent(conversation, role)).calls}
    sample: dict[str, Any] = {
        "id": name,
        "epoch": epoch,
        "input": str(scenario.get("goal") or next((message.text for message in conversation.messages), "")),
        "target": dumps(scenario["success"]) if scenario.get("success") else "",
        "messages": messages,
        "output": _output(conversation, messages),
        "scores": scores_of(conversation),
        "metadata": {"scenario": scenario, "stop": conversation.stop},
        "store": {KEY: stored_record(conversation)},
        "events": [],
        "model_usage": {model: model_usage(spent) for model, spent in usage.items()},
        "role_usage": roles,
        "attachments": {},
    }
    if conversation.timing.started is not None:
        sample["started_at"] = conversation.timing.started
    if conversation.timing.seconds is not None:
        sample["total_time"] = conversation.timing.seconds
    if failure is not None:
        places = "\n".join(failure.frames)
        line = f"{failure.node}: {failure.error}"
        sample["error"] = {"message": line, "traceback": places, "traceback_ansi": places}
    return sample


def stored_record(conversation: Conversation) -> Any:
    """The record for a sample's store."""
    record = conversation.plain()
    text = dumps(record)
    return text if text.isascii() and r"\ud" in text else record


def as_record(stored: Any) -> Conversation | None:
    """The record that `stored_record` gave; None for nothing. DataError if it cannot be read."""
    if stored is None:
        return None
    try:
        return Conversation.from_plain(as_object(as_value(stored) if isinstance(stored, str) else stored))
    except ValidationError:
        raise DataError("the record in its store is not one of this version") from None


def record_in(sample: Mapping[str, Any]) -> Conversation | None:
    """The record in a sample's store, if the words of the sample's messages are still those of the record.

    None for a sample without one. DataError for one that is of other words, or cannot be read.
    """
    conversation = as_record(as_object(sample.get("store")).get(KEY))
    if conversation is None:
        return None
    own = [(message.role, whole(message.text)) for message in conversation.messages if message.stored]
    if _spoken(own) != _spoken(_words(sample)):
        raise DataError("its messages are not those of the record in its store")
    return conversation


def _words(sample: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for message in as_list(sample.get("messages")):
        if (role := role_of(as_object(message).get("role"))) is not None and role in SPEAKERS:
            parts = as_object(message).get("content")
            texts = (
                [part for part in parts if as_object(part).get("type") == "text"] if isinstance(parts, list) else parts
            )
            yield SPEAKERS[role], text_of(texts) or ""


def _spoken(words: Any) -> list[tuple[str, str]]:
    return [(role, text) for role, text in words if text]


def whole(text: str) -> str:
    """The text with U+FFFD in place of each half of a surrogate pair, which Inspect cannot read."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def scores_of(conversation: Conversation) -> dict[str, Any]:
    """The scores and labels of a conversation that have a value, by name, each with its reason."""
    scores = {name: {"value": value} for name, value in conversation.labels.items() if _is_value(value)}
    for name, score in as_object(conversation.labels.get("scores")).items():
        if is_object(score) and _is_value(score.get("value")):
            scores[name] = {"value": score["value"], "explanation": str(score.get("reason") or "")}
    return scores


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, str | bool | int | float) for item in value)
    return isinstance(value, str | bool | int | float)


def _messages(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """The instructions at their places, and each message after its calls of tools."""
    turns: list[dict[str, Any]] = []
    calls = 0
    for message in conversation.messages:
        if message.stored:
            turns += _of_message(message, calls)
            calls += len(message.tool_calls)
    for aside in asides(conversation):
        if isinstance(text := aside.get("system"), str):
            turns.insert(aside["at"], {"role": "system", "content": text})
    yield from turns


def _of_message(message: Message, calls: int) -> Iterator[dict[str, Any]]:
    draft = message.attempts[-1] if message.attempts else None
    own = message.tool_calls if message.role == "assistant" else ()
    named = [(f"call_{number}", call) for number, call in enumerate(own, calls + 1)]
    if named:
        listed = [{"id": name, "function": call.name, "arguments": call.arguments} for name, call in named]
        yield {"role": "assistant", "content": "", "source": "generate", "tool_calls": listed}
    for name, call in named:
        text = call.result if isinstance(call.result, str) else "" if call.result is None else dumps(call.result)
        failed = {} if call.error is None else {"error": {"type": "unknown", "message": call.error}}
        turn = {"role": "tool", "content": _content(text, call.parts, None), "tool_call_id": name}
        yield turn | {"function": call.name} | failed
    rejected = [{"text": attempt.text, "reason": attempt.reason} for attempt in message.rejected]
    metadata = ({"rejected_drafts": rejected} if rejected else {}) | (
        {"labels": message.labels} if message.labels else {}
    )
    turn = {"role": message.role, "content": _content(message.text, message.parts, draft)}
    turn |= {"source": "generate"} if message.role == "assistant" else {}
    turn |= {"model": draft.model} if message.role == "assistant" and draft is not None and draft.model else {}
    yield turn | ({"metadata": metadata} if metadata else {})


def _content(text: str, parts: tuple[Part, ...], draft: Attempt | None) -> Any:
    reasoning = draft.reasoning if draft is not None and draft.verdict != "rejected" else None
    if not parts and not reasoning:
        return text
    before = [{"type": "reasoning", "reasoning": reasoning}] if reasoning else []
    return [*before, *([{"type": "text", "text": text}] if text else []), *map(_part, parts)]


def _part(part: Part) -> dict[str, Any]:
    """A part as Inspect has it; as data if Inspect cannot hold it."""
    if part.url is not None:
        if part.type == "image":
            return {"type": "image", "image": part.url}
        if part.type == "file":
            names = {"filename": part.name, "mime_type": part.mime_type}
            return {"type": "document", "document": part.url} | {key: name for key, name in names.items() if name}
        if form := {"audio": _SOUNDS, "video": _FILMS}.get(part.type, {}).get(part.mime_type or ""):
            return {"type": part.type, part.type: part.url, "format": form}
    return {"type": "data", "data": {"part": part.plain()}}


def _output(conversation: Conversation, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The last message of the assistant as the output of its model."""
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    replies = [message for message in conversation.messages if message.stored and message.role == "assistant"]
    if last is None or not replies:
        return {}
    draft = replies[-1].attempts[-1] if replies[-1].attempts else None
    reason = _REASONS.get((draft.finish_reason if draft is not None else None) or "", "stop")
    choice = {"message": {**last, "role": "assistant"}, "stop_reason": reason}
    return {"model": last.get("model", ""), "choices": [choice], "completion": replies[-1].text}


def usage_by_model(conversation: Conversation) -> dict[str, Usage]:
    """The tokens of the drafts of each model that is named."""
    usage: dict[str, Usage] = {}
    for draft in conversation.attempts(new_only=True):
        if draft.model and draft.usage is not None:
            usage[draft.model] = usage.get(draft.model, Usage.none()) + draft.usage
    return usage


def _spent(conversation: Conversation, role: Any) -> Usage:
    return sum((draft.usage or Usage.none() for draft in conversation.attempts(role, new_only=True)), Usage.none())


def model_usage(usage: Usage) -> dict[str, int]:
    """The tokens as `ModelUsage` of Inspect."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.tokens,
        "input_tokens_cache_read": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }
