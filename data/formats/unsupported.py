"""What the text-only formats leave out of conversations."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..records import Conversation, Json, Message, Timing, ToolCall, as_object
from .dialogues import ASIDES, BEFORE, asides, declared_labels
from .media_marks import parts_at_marks

MOST_NAMED = 8
"""Most keys of `extra` that are listed by name; if there are more, only their number is given."""

_SPEAKER = {"from"}
"""ShareGPT has several names for a side, so a different `from` is not a further key."""
_OF_MESSAGE = {"number", "text", "verdict", "tool_calls", "reasoning", "kept"}
"""Fields of an accepted draft without information beyond its message."""
_PLAIN = {"kind", "digest"}
"""Keys of the scenario of a plain conversation. Reading makes them again."""
_PATCH = {"values", "order", BEFORE}
"""Keys of a patch (`formats.dialogues`), in which a reader keeps the differences of its own format."""


FURTHER = "further keys of the source"
PARTS = "images, recordings, files and other parts of messages"
SCALARS = "that results of tools are numbers, true, false or null (they are written as texts)"

LINES = 1000
"""Most lines about things that were left out; for further ones only the number is given."""


class LeftOut(list[str]):
    """A line for each omission: the first thousand, then one line with the number of the others."""

    total = 0
    """Number of things that were left out, including those without a line."""

    def add(self, line: str) -> None:
        """Add a line for one thing that was left out."""
        self.total += 1
        if self.total > LINES:
            self[LINES:] = [f"and {self.total - LINES} more"]
        else:
            self.append(line)

    def begin_with(self, lines: Iterable[str]) -> None:
        """Insert lines about kinds of things before the lines about single things."""
        kinds = list(lines)
        self.total += len(kinds)
        self[:0] = kinds


def total(left_out: Sequence[str]) -> int:
    """How many things a writer left out, including those without a line."""
    return left_out.total if isinstance(left_out, LeftOut) else len(left_out)


class BeyondWords:
    """Counts the conversations that hold more than an id and stored texts, by kind of content.

    Every field of a record is covered, except the order of a source's keys.
    """

    def __init__(
        self,
        own_key: str = "",
        *,
        tools: bool = False,
        parts: bool = False,
    ) -> None:
        """A count for a format with these abilities.

        Args:
            own_key: The format's own key in `extra`, whose content is written.
            tools: Whether the format holds tool calls of assistants.
            parts: Whether it holds parts of messages that are not text.
        """
        self.own_key = own_key
        self.tools, self.parts = tools, parts
        self._having: Counter[str] = Counter()
        self._keys: dict[str, None] = {}
        self._source_keys: dict[str, None] = {}

    def note(self, conversation: Conversation) -> None:
        """Count the further content of a conversation."""
        stored = [message for message in conversation.messages if message.stored]
        further = [key for extra in _extras(conversation, stored) for key in _further(extra, self.own_key)]
        self._having[FURTHER] += bool(further)
        self._source_keys |= dict.fromkeys(further)
        lost = _lost(conversation, stored, self.own_key, tools=self.tools)
        self._having.update(content for content, is_lost in lost if is_lost)
        calls = _own_calls(stored, self.own_key) if self.tools else []
        self._having[SCALARS] += any(map(self._is_written_as_text, calls))
        values = as_object(as_object(conversation.extra.get(self.own_key)).get("values"))
        listed, _ = parts_at_marks(values, [message.text for message in stored])  # the source's own lists of them
        unlisted = [
            message.parts for message, own in zip(stored, listed, strict=True) if message.parts not in ((), own)
        ]
        beside_errors = any(call.parts and call.error is not None for call in calls)
        all_parts = (*unlisted, *(call.parts for call in calls))
        self._having[PARTS] += beside_errors or (not self.parts and any(all_parts))
        unnamed = [key for extra in _extras(conversation, stored) for key in _unread(extra, self.own_key)]
        self._having["extra"] += bool(unnamed)
        self._keys |= dict.fromkeys(unnamed)

    def _is_written_as_text(self, call: ToolCall) -> bool:
        """Whether a result is read as a text again and was none: only objects and lists are read as values."""
        nothing = call.result is None and not (self.parts and call.parts)
        return call.error is None and (nothing or isinstance(call.result, bool | int | float))

    def lines(self) -> list[str]:
        """A line for each kind of content, with the number of conversations that have it."""
        named = {"extra": self._keys, FURTHER: self._source_keys}
        return [
            f"{content}{f' ({_listed(named[content])})' if content in named else ''}, of {count} conversation{'s' if count > 1 else ''}"
            for content, count in self._having.items()
            if count
        ]


def _lost(
    conversation: Conversation, stored: list[Message], own_key: str, *, tools: bool
) -> Iterator[tuple[str, bool]]:
    """Each kind of content, and whether the conversation has it."""
    scenario, extras = conversation.scenario, _extras(conversation, stored)
    plain = not scenario.keys() - _PLAIN
    yield "what it is about (the scenario)", not plain
    yield (
        "its number among equal ones (ordinal, repeat)",
        bool(conversation.repeat or (conversation.ordinal and not plain)),
    )
    yield "labels", any(_labelled(*pair, own_key) for pair in _labels(conversation, stored))
    yield "spans", any(message.spans for message in stored)
    yield "translations", any(_translates(key) for extra in extras for key in extra)
    yield (
        "calls and results of tools",
        any("system" not in aside and own_key not in aside for aside in asides(conversation))
        or (not tools and any(message.tool_calls for message in stored)),
    )
    calls = [(message.role, call) for message in stored for call in message.tool_calls]
    yield "calls and results of a user's tools", tools and any(role == "user" for role, _ in calls)
    failed = tools and any(call.error is not None for call in _own_calls(stored, own_key))
    yield "that a tool failed (errors of tools are written as results)", failed
    yield "messages that are not stored", len(stored) < len(conversation.messages)
    drafts = list(conversation.attempts())
    yield "rejected drafts", any(draft.verdict == "rejected" for draft in drafts)
    yield "reasoning of models", any(draft.reasoning for draft in drafts)
    yield "what agents and sides kept", bool(conversation.memory) or any(draft.kept for draft in drafts)
    details = (draft.plain().keys() - _OF_MESSAGE for draft in drafts if draft.verdict != "rejected")
    yield "prompts, tokens and notes of the drafts that stand", any(details)
    among_asides = conversation.provenance is None and any(own_key in aside for aside in asides(conversation))
    yield "turns without a message", bool(conversation.unsaid) and not among_asides
    yield "tokens of what closed it", conversation.closing_usage is not None
    yield "why it ended (stop, failure)", conversation.stop is not None or conversation.failure is not None
    yield "how it was made (provenance)", conversation.provenance is not None
    yield "the way through the graph (edges)", bool(conversation.edges)
    yield "times (timing)", conversation.timing != Timing()


def _labels(conversation: Conversation, stored: list[Message]) -> Iterator[tuple[Json, Json]]:
    yield conversation.labels, conversation.extra
    yield from ((message.labels, message.extra) for message in stored)


def _labelled(labels: Json, extra: Json, own_key: str) -> bool:
    """Whether there are labels other than those that the own source declares, which are written again."""
    values = as_object(as_object(extra.get(own_key)).get("values"))
    return bool(labels) and labels != declared_labels(values)


def _own_calls(stored: list[Message], own_key: str) -> list[ToolCall]:
    """The assistant's calls that are not written as their source has them."""
    ours = (message for message in stored if message.role == "assistant" and not _as_read(message, own_key))
    return [call for message in ours for call in message.tool_calls]


def _as_read(message: Message, own_key: str) -> bool:
    """Whether the turns with the message's tool calls are written as its source has them."""
    return BEFORE in as_object(message.extra.get(own_key))


def _extras(conversation: Conversation, stored: list[Message]) -> list[Json]:
    return [conversation.extra, *(message.extra for message in stored)]


def _translates(key: str) -> bool:
    return key.startswith("content_") or key.endswith("_zh")


def _further(extra: Json, own_key: str) -> list[str]:
    """The keys of the source that its format does not define."""
    patches = (as_object(value).get("values") for name, value in extra.items() if name != own_key)
    return [key for values in patches for key in as_object(values) if key not in _SPEAKER]


def _unread(extra: Json, own_key: str) -> Iterator[str]:
    """Keys of an `extra` whose content no other line covers."""
    for key, value in extra.items():
        patch = isinstance(value, dict) and value.keys() <= _PATCH
        if key not in (own_key, ASIDES) and not patch and not _translates(key):
            yield key


def _listed(names: Mapping[str, Any]) -> str:
    if len(names) > MOST_NAMED:
        return f"{len(names)} keys"
    return ", ".join(" ".join(name.split())[:40] for name in names)
