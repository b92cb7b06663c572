"""What a format of messages leaves out of conversations, counted by kind."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..records import Conversation, Json, Timing, ToolCall, as_list, as_object

_PLAIN = {"kind", "digest"}
"""Keys of the scenario of a plain conversation, which reading makes again."""
_OF_MESSAGE = {"number", "text", "verdict", "tool_calls"}
"""Fields of a draft that the message shows."""
_PATCH = {"values", "order", "before"}
"""Keys of a patch (`messages.difference`), in which a reader keeps the differences of its own format."""
_OF_READERS = ("path", "variant", "asides")
"""Keys that a reader adds, and no source has."""


def losses(
    conversations: Iterable[Conversation], lost: Counter[str], *, own_key: str, parts: bool
) -> Iterator[Conversation]:
    """The conversations; `lost` counts those that have each kind of content that the format cannot hold.

    `own_key`: the format's key in `extra`, whose content is written. `parts`: whether it holds parts that are not text.
    """
    for conversation in conversations:
        lost.update(dict.fromkeys(_kinds(conversation, own_key, parts), 1))
        yield conversation


def _kinds(conversation: Conversation, own_key: str, parts: bool) -> list[str]:
    stored = [message for message in conversation.messages if message.stored]
    fresh = [message for message in stored if "before" not in as_object(message.extra.get(own_key))]
    calls = [call for message in fresh if message.role == "assistant" for call in message.tool_calls]
    drafts = list(conversation.attempts())
    standing = [draft for draft in drafts if draft.verdict != "rejected"]
    own = as_object(as_object(conversation.extra.get(own_key)).get("values"))
    asides = [as_object(aside) for aside in as_list(conversation.extra.get("asides"))]
    extras: list[Json] = [conversation.extra, *(message.extra for message in stored)]
    beside = [value for extra in extras for name, value in extra.items() if name not in (own_key, *_OF_READERS)]
    written = {**own, **as_object(own.get("labels"))}
    labelled = any(written.get(name) != label for name, label in conversation.labels.items())
    unsaid = conversation.unsaid and not (conversation.provenance is None and any(own_key in one for one in asides))
    there = {
        "what it is about (the scenario)": conversation.scenario.keys() - _PLAIN,
        "turns without a stored message": len(stored) < len(conversation.messages) or unsaid,
        "labels": labelled or any(message.labels and own_key not in message.extra for message in stored),
        "spans": any(message.spans for message in stored),
        "calls and results of tools": any("system" not in one and own_key not in one for one in asides),
        "calls and results of a user's tools": any(one.role == "user" and one.tool_calls for one in stored),
        "that a tool failed (errors of tools are written as results)": any(call.error is not None for call in calls),
        "that results of tools are numbers, true, false or null": any(_is_bare(call, parts) for call in calls),
        "images, files and other parts of messages": any(call.parts and call.error is not None for call in calls)
        or (not parts and (any(message.parts for message in stored) or any(call.parts for call in calls))),
        "rejected drafts": len(standing) < len(drafts),
        "prompts, reasoning, tokens and notes of drafts": conversation.memory
        or any(one.kept or one.plain().keys() - _OF_MESSAGE for one in standing),
        "why it ended (stop, failure)": conversation.stop is not None or conversation.failure is not None,
        "how it was made (provenance, times)": conversation.provenance is not None
        or conversation.edges
        or conversation.timing != Timing(),
        "further keys of the source": any(not _is_read(value) for value in beside),
    }
    return [name for name, is_lost in there.items() if is_lost]


def _is_bare(call: ToolCall, parts: bool) -> bool:
    """Whether a result is read as a text again and was none: only objects and lists are read as values."""
    nothing = call.result is None and not (parts and call.parts)
    return call.error is None and (nothing or isinstance(call.result, bool | int | float))


def _is_read(value: Any) -> bool:
    """Whether a value is another format's patch without further keys."""
    return isinstance(value, dict) and value.keys() <= _PATCH and not value.get("values")
