"""What formats that hold only words leave out of conversations."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ..records import Conversation, Json
from .dialogues import asides

_SPEAKER = {"from"}
"""ShareGPT has several names for a side: another one is no further key."""


LINES = 1000
"""Lines that are kept about single things that a format cannot hold; of more there is the number."""


class LeftOut(list[str]):
    """What a format cannot hold, a line each: the first thousand, then one line with the number of the others."""

    total = 0
    """Things that were left out, those without a line of their own included."""

    def add(self, line: str) -> None:
        """Another thing that is left out."""
        self.total += 1
        if self.total > LINES:
            self[LINES:] = [f"and {self.total - LINES} more"]
        else:
            self.append(line)

    def begin_with(self, lines: Iterable[str]) -> None:
        """Put lines about whole kinds of things before those about single ones."""
        kinds = list(lines)
        self.total += len(kinds)
        self[:0] = kinds


def total(left_out: Sequence[str]) -> int:
    """How many things a writer left out, of those without a line of their own too."""
    return left_out.total if isinstance(left_out, LeftOut) else len(left_out)


class BeyondWords:
    """Notes of conversations what they hold beside the stored words, one conversation after the other."""

    def __init__(self, kept: str = "") -> None:
        """`kept`: the format's own key in `extra`, of which everything is written again."""
        self.kept = kept
        self._having: Counter[str] = Counter()

    def note(self, conversation: Conversation) -> None:
        """Count what a conversation holds beside the words."""
        stored = [message for message in conversation.messages if message.stored]
        held = {
            "what it is about (the scenario)": len(conversation.scenario.keys() - {"kind", "digest"}) > 0,
            "labels": bool(conversation.labels) or any(message.labels for message in stored),
            "spans": any(message.spans for message in stored),
            "translations": any(key.startswith("content_") for message in stored for key in message.extra)
            or any(key.endswith("_zh") for key in conversation.extra),
            "further keys of the source": any(
                _further(extra, self.kept) for extra in (conversation.extra, *(message.extra for message in stored))
            ),
            "calls and results of tools": any(
                "system" not in aside and self.kept not in aside for aside in asides(conversation)
            ),
            "messages that are not stored": len(stored) < len(conversation.messages),
            "rejected drafts": any(attempt.verdict == "rejected" for attempt in conversation.attempts()),
        }
        self._having.update(what for what, there in held.items() if there)

    def lines(self) -> list[str]:
        """A line for each kind of thing that there is, with how many conversations have it."""
        return [f"{what}, of {count} conversation{'s' if count > 1 else ''}" for what, count in self._having.items()]


def beyond_words(conversations: Iterable[Conversation], kept: str = "") -> list[str]:
    """A line for each kind of thing beside the stored words that there is, with how many conversations have it."""
    noted = BeyondWords(kept)
    for conversation in conversations:
        noted.note(conversation)
    return noted.lines()


def _further(extra: Json, kept: str) -> bool:
    """Whether a reader kept keys and values of the source that its own format does not know (`data.patches`)."""
    there = (own.get("values") for name, own in extra.items() if name != kept and isinstance(own, dict))
    return any(isinstance(values, dict) and values.keys() - _SPEAKER for values in there)
