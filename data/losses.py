"""What formats that hold only words leave out of conversations."""

from collections import Counter
from collections.abc import Collection, Iterable

from .records import Conversation, Json

_OWN = ("file", "turn", "sharegpt")
"""Where readers keep what their format does not know: a difference, with the keys and values of the source."""


def beyond_words(conversations: Iterable[Conversation], kept: Collection[str] = ()) -> list[str]:
    """A line for each kind of thing beside the stored words that there is, with how many conversations have it.

    `kept`: names in `extra` that the format writes again.
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
            "messages of the system": "system" in conversation.extra and "system" not in kept,
            "messages that are not stored": len(stored) < len(conversation.messages),
            "rejected drafts": any(attempt.verdict == "rejected" for attempt in conversation.attempts()),
        }
        having.update(what for what, there in held.items() if there)
    return [f"{what}, of {count} conversation{'s' if count > 1 else ''}" for what, count in having.items()]


def _further(extra: Json, kept: Collection[str]) -> bool:
    """Whether there are keys that the source's own format does not know, which no other one can hold."""
    return any(
        isinstance(own := extra.get(name), dict) and bool(own.get("values")) for name in _OWN if name not in kept
    )
