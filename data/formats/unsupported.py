"""What a format leaves out of conversations."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..records import Conversation, Json, Message, Timing, ToolCall, as_object
from .dialogues import ASIDES, BEFORE, asides, declared_labels

MOST_NAMED = 8
"""Most keys that are listed by name; if there are more, only their number is given."""
LINES = 1000
"""Most lines about things that were left out; for further ones only the number is given."""

_OF_MESSAGE = {"number", "text", "verdict", "tool_calls", "reasoning", "kept"}
"""Fields of an accepted draft without information beyond its message, or of a kind of its own."""
_PLAIN = {"kind", "digest"}
"""Keys of the scenario of a plain conversation. Reading makes them again."""
_PATCH = {"values", "order", BEFORE}
"""Keys of a patch (`formats.dialogues`), in which a reader keeps the differences of its own format."""
_OF_READERS = ("path", "variant")
"""Keys that a reader adds, and no source has."""
_LISTS = {"images", "image", "videos", "video", "audios", "audio"}
_KEYS = "further keys of the source"


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
    """Counts the conversations that hold more than an id and stored texts, by kind of content."""

    def __init__(self, own_key: str = "", *, tools: bool = False, parts: bool = False) -> None:
        """A count for a format.

        Args:
            own_key: The format's own key in `extra`, whose content is written.
            tools: Whether the format holds tool calls of assistants.
            parts: Whether it holds parts of messages that are not text.
        """
        self._own_key, self._tools, self._parts = own_key, tools, parts
        self._having: Counter[str] = Counter()
        self._keys: dict[str, None] = {}

    def noted(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """The conversations, each counted before it is given."""
        for conversation in conversations:
            self._having.update(dict.fromkeys(self._lost(conversation), 1))
            yield conversation

    def lines(self) -> list[str]:
        """A line for each kind of content, with the number of conversations that have it."""
        keys = [" ".join(name.split())[:40] for name in self._keys]
        named = f" ({', '.join(keys) if len(keys) <= MOST_NAMED else f'{len(keys)} keys'})"
        return [
            f"{kind}{named if kind == _KEYS else ''}, of {count} conversation{'s' if count > 1 else ''}"
            for kind, count in self._having.items()
        ]

    def _lost(self, conversation: Conversation) -> Iterator[str]:
        """Each kind of content that the conversation has and the format cannot hold."""
        stored = [message for message in conversation.messages if message.stored]
        holders: list[tuple[Json, Json]] = [(conversation.labels, conversation.extra)]
        holders += [(message.labels, message.extra) for message in stored]
        drafts = list(conversation.attempts())
        standing = [draft for draft in drafts if draft.verdict != "rejected"]
        others = [aside for aside in asides(conversation) if "system" not in aside and self._own_key not in aside]
        if conversation.scenario.keys() - _PLAIN:
            yield "what it is about (the scenario)"
        if len(stored) < len(conversation.messages):
            yield "messages that are not stored"
        if any(self._labelled(*holder) for holder in holders):
            yield "labels"
        if others:
            yield "calls and results of tools"
        yield from self._lost_of_messages(stored, listed=bool(_LISTS & self._values(conversation.extra).keys()))
        if len(standing) < len(drafts):
            yield "rejected drafts"
        if conversation.memory or any(draft.reasoning or draft.kept for draft in drafts):
            yield "reasoning of models, and what agents kept"
        if any(draft.plain().keys() - _OF_MESSAGE for draft in standing):
            yield "prompts, tokens and notes of the drafts that stand"
        written = conversation.provenance is None and any(self._own_key in aside for aside in asides(conversation))
        if conversation.unsaid and not written:
            yield "turns without a message"
        if conversation.stop is not None or conversation.failure is not None:
            yield "why it ended (stop, failure)"
        if conversation.provenance is not None or conversation.edges or conversation.timing != Timing():
            yield "how it was made (provenance, times)"
        if keys := [key for _, extra in holders for key in self._unread(extra)]:
            self._keys |= dict.fromkeys(keys)
            yield _KEYS

    def _values(self, extra: Json) -> Mapping[str, Any]:
        return as_object(as_object(extra.get(self._own_key)).get("values"))

    def _lost_of_messages(self, stored: Sequence[Message], *, listed: bool) -> Iterator[str]:
        """`listed`: the source lists the parts of its messages apart, and the list is written again."""
        own = [message for message in stored if BEFORE not in as_object(message.extra.get(self._own_key))]
        calls = [call for message in own if message.role == "assistant" for call in message.tool_calls]
        if any(message.spans for message in stored):
            yield "spans"
        if not self._tools and any(message.tool_calls for message in stored):
            yield "calls and results of tools"
        if self._tools and any(message.role == "user" and message.tool_calls for message in stored):
            yield "calls and results of a user's tools"
        if self._tools and any(call.error is not None for call in calls):
            yield "that a tool failed (errors of tools are written as results)"
        if self._tools and any(map(self._is_written_as_text, calls)):
            yield "that results of tools are numbers, true, false or null (they are written as texts)"
        beside_errors = any(call.parts and call.error is not None for call in calls)
        of_messages = any(message.parts for message in stored) and not listed
        if beside_errors or (not self._parts and (of_messages or any(call.parts for call in calls))):
            yield "images, recordings, files and other parts of messages"

    def _is_written_as_text(self, call: ToolCall) -> bool:
        """Whether a result is read as a text again and was none: only objects and lists are read as values."""
        nothing = call.result is None and not (self._parts and call.parts)
        return call.error is None and (nothing or isinstance(call.result, bool | int | float))

    def _labelled(self, labels: Json, extra: Json) -> bool:
        """Whether there are labels other than those that the own source declares, which are written again."""
        return bool(labels) and labels != declared_labels(self._values(extra))

    def _unread(self, extra: Json) -> Iterator[str]:
        """Keys of the source, or of an `extra`, that are not written."""
        for name, value in extra.items():
            if name in (self._own_key, ASIDES, *_OF_READERS):
                continue
            if isinstance(value, dict) and value.keys() <= _PATCH:
                yield from (key for key in as_object(value.get("values")) if key != "from")
            else:
                yield name
