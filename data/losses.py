"""What formats that hold only words leave out of conversations."""

from collections import Counter
from collections.abc import Iterable

from .records import Conversation


def beyond_words(conversations: Iterable[Conversation]) -> list[str]:
    """A line for each kind of thing beside the stored words that there is, with how many conversations have it."""
    having: Counter[str] = Counter()
    for conversation in conversations:
        stored = [message for message in conversation.messages if message.stored]
        held = {
            "what it is about (the scenario)": len(conversation.scenario.keys() - {"kind", "digest"}) > 0,
            "labels": bool(conversation.labels) or any(message.labels for message in stored),
            "spans": any(message.spans for message in stored),
            "translations": any(key.startswith("content_") for message in stored for key in message.extra),
            "messages that are not stored": len(stored) < len(conversation.messages),
            "rejected drafts": any(attempt.verdict == "rejected" for attempt in conversation.attempts()),
        }
        having.update(what for what, there in held.items() if there)
    return [f"{what}, of {count} conversation{'s' if count > 1 else ''}" for what, count in having.items()]
