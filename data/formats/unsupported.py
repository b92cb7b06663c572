"""What formats that hold only words leave out of conversations."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..records import Conversation, Json, Message, Timing
from .dialogues import ASIDES, asides

MOST_NAMED = 8
"""Keys of `extra` that are named; of more than these only the number is told."""

_SPEAKER = {"from"}
"""ShareGPT has several names for a side: another one is no further key."""
_SAID = {"number", "text", "verdict", "tool_calls", "reasoning", "kept"}
"""Of a draft that stands what says nothing beyond its message."""
_PLAIN = {"kind", "digest"}
"""Keys of a scenario of which nothing is known but its conversation: they are made again in reading."""
_PATCH = {"values", "order"}
"""Keys of what a reader keeps of its own format (`data.patches`)."""


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
    """Notes of conversations what they hold beside id and stored words, one conversation after the other.

    Every field of a record has its line, but for the order of a source's keys.
    """

    def __init__(self, kept: str = "", *, tools: bool = False) -> None:
        """`kept`: the format's own key in `extra`, of which everything is written again. `tools`: whether the format
        holds the tools that were called for a message."""
        self.kept = kept
        self.tools = tools
        self._having: Counter[str] = Counter()
        self._keys: dict[str, None] = {}

    def note(self, conversation: Conversation) -> None:
        """Count what a conversation holds beside the words."""
        stored = [message for message in conversation.messages if message.stored]
        self._having.update(what for what, lost in _lost(conversation, stored, self.kept, tools=self.tools) if lost)
        unnamed = [key for extra in _extras(conversation, stored) for key in _unread(extra, self.kept)]
        self._having["extra"] += bool(unnamed)
        self._keys |= dict.fromkeys(unnamed)

    def lines(self) -> list[str]:
        """A line for each kind of thing that there is, with how many conversations have it."""
        named = {what: f"extra ({_listed(self._keys)})" if what == "extra" else what for what in self._having}
        return [
            f"{named[what]}, of {count} conversation{'s' if count > 1 else ''}"
            for what, count in self._having.items()
            if count
        ]


def beyond_words(conversations: Iterable[Conversation], kept: str = "", *, tools: bool = False) -> list[str]:
    """A line for each kind of thing beside the stored words that there is, with how many conversations have it."""
    noted = BeyondWords(kept, tools=tools)
    for conversation in conversations:
        noted.note(conversation)
    return noted.lines()


def _lost(conversation: Conversation, stored: list[Message], kept: str, *, tools: bool) -> Iterator[tuple[str, bool]]:
    """Each kind of thing, and whether the conversation has it."""
    scenario, extras = conversation.scenario, _extras(conversation, stored)
    plain = not scenario.keys() - _PLAIN
    yield "what it is about (the scenario)", not plain
    yield (
        "its number among equal ones (ordinal, repeat)",
        bool(conversation.repeat or (conversation.ordinal and not plain)),
    )
    yield "labels", bool(conversation.labels) or any(message.labels for message in stored)
    yield "spans", any(message.spans for message in stored)
    yield "translations", any(_translates(key) for extra in extras for key in extra)
    yield "further keys of the source", any(_further(extra, kept) for extra in extras)
    yield (
        "calls and results of tools",
        any("system" not in aside and kept not in aside for aside in asides(conversation))
        or (not tools and any(message.tool_calls for message in stored)),
    )
    yield "messages that are not stored", len(stored) < len(conversation.messages)
    drafts = list(conversation.attempts())
    yield "rejected drafts", any(draft.verdict == "rejected" for draft in drafts)
    yield "reasoning of models", any(draft.reasoning for draft in drafts)
    yield "what agents and sides kept", bool(conversation.memory) or any(draft.kept for draft in drafts)
    details = (draft.plain().keys() - _SAID for draft in drafts if draft.verdict != "rejected")
    yield "prompts, tokens and notes of the drafts that stand", any(details)
    yield "turns in which nothing was said", bool(conversation.unsaid)
    yield "why it ended (stop, failure)", conversation.stop is not None or conversation.failure is not None
    yield "how it was made (provenance)", conversation.provenance is not None
    yield "the way through the graph (edges)", bool(conversation.edges)
    yield "times (timing)", conversation.timing != Timing()


def _extras(conversation: Conversation, stored: list[Message]) -> list[Json]:
    return [conversation.extra, *(message.extra for message in stored)]


def _translates(key: str) -> bool:
    return key.startswith("content_") or key.endswith("_zh")


def _further(extra: Json, kept: str) -> bool:
    """Whether a reader kept keys and values of the source that its own format does not know."""
    patches = (value.get("values") for name, value in extra.items() if name != kept and isinstance(value, dict))
    return any(isinstance(values, dict) and values.keys() - _SPEAKER for values in patches)


def _unread(extra: Json, kept: str) -> Iterator[str]:
    """Keys of an `extra` that hold something of which no other line tells."""
    for key, value in extra.items():
        patch = isinstance(value, dict) and value.keys() <= _PATCH
        if key not in (kept, ASIDES) and not patch and not _translates(key):
            yield key


def _listed(names: Mapping[str, Any]) -> str:
    if len(names) > MOST_NAMED:
        return f"{len(names)} keys"
    return ", ".join(" ".join(name.split())[:40] for name in names)
