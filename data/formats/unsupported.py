"""What formats that hold only words leave out of conversations."""

from collections import Counter
from collections.abc import Iterable

from ..records import Conversation, Json
from .dialogues import asides

_SPEAKER = {"from"}
"""ShareGPT has several names for a side: another one is no further key."""


def beyond_words(conversations: Iterable[Conversation], kept: str = "", *, tools: bool = False) -> list[str]:
    """A line for each kind of thing beside the stored words that there is, with how many conversations have it.

    `kept`: the format's own key in `extra`, of which everything is written again. `tools`: whether the format holds
    the tools that were called for a message.
    """
    having: Counter[str] = Counter()
    for conversation in conversations:
        stored = [message for message in conversation.messages if message.stored]
        held = {
            "what it is about (the scenario)": len(conversation.scenario.keys() - {"kind", "digest"}) > 0,
            "labels": bool(conversation.labels) or any(message.labels for message in stored),
            "spans": any(message.spans for message in stored),
            "translations": any(key.startswith("content_") for message in stored for key in message.extra)
            or any(key.endswith("_zh") for key in conversation.extra),
            "further keys of the source": any(
                _further(extra, kept) for extra in (conversation.extra, *(message.extra for message in stored))
            ),
            "calls and results of tools": any(
                "system" not in aside and kept not in aside for aside in asides(conversation)
            )
            or (not tools and any(message.tool_calls for message in stored)),
            "reasoning of models": any(attempt.reasoning for attempt in conversation.attempts()),
            "what agents and sides kept": bool(conversation.memory)
            or any(attempt.kept for attempt in conversation.attempts()),
            "messages that are not stored": len(stored) < len(conversation.messages),
            "rejected drafts": any(attempt.verdict == "rejected" for attempt in conversation.attempts()),
        }
        having.update(what for what, there in held.items() if there)
    return [f"{what}, of {count} conversation{'s' if count > 1 else ''}" for what, count in having.items()]


def _further(extra: Json, kept: str) -> bool:
    """Whether a reader kept keys and values of the source that its own format does not know (`data.patches`)."""
    there = (own.get("values") for name, own in extra.items() if name != kept and isinstance(own, dict))
    return any(isinstance(values, dict) and values.keys() - _SPEAKER for values in there)
