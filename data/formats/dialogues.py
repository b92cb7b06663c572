"""Common parts of the dialogue formats: ids, asides (turns of neither side), and patches.

A patch holds the differences between a source and what we would write: made in reading, applied in writing.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..identity import conversation_id, digest
from ..records import Conversation, Json, Message, Unsaid, as_list, as_object

LABELS = "labels"
"""Key of a line or a message whose object holds annotations by name."""

KNOWN_LABELS = ("hallucination", "intent", "rating", "satisfaction", "strategy")
"""Keys that are annotations outside `labels` too. No other key is: most are names, ids, times or settings."""

YES_OR_NO = ("label", "kto_tag")
"""Keys that are annotations where they are true or false: whether an answer is wanted, in data for KTO."""

ASIDES = "asides"
"""Key of a conversation's `extra` for turns that are not messages, such as instructions and results of tools."""


BESIDE = "beside"
"""Key of an aside that stands beside the turns of its source, for the format that has it there."""
BEFORE = "before"
"""Key of a message's patch for the turns with its tool calls, where the source has others than we would write."""


@dataclass(frozen=True)
class DialogueForm:
    """A format in which a conversation is an object with an id and a list of turns."""

    kind: str
    """`kind` of the scenarios of conversations in this format, and its key in every `extra`."""
    turns: str
    """The key of the list of turns."""
    turn: Callable[[Message], dict[str, Any]]
    """A message as a turn."""
    system: Callable[[str], dict[str, Any]]
    """The text of a system message as a turn."""
    tools: Callable[[Message, int], list[dict[str, Any]]] | None = None
    """The turns before a message with its tool calls, numbered from the given number; None if the format has no tool
    calls."""

    def message(
        self, message: Message, turn: Mapping[str, Any], before: Sequence[Mapping[str, Any]] | None = None
    ) -> Message:
        """The message, with the further content of its turn in `extra` and its annotations in `labels`.

        `before`: the turns with its tool calls, as the source has them; None if they are those that we would write.
        """
        own = difference(turn, self.turn(message)) | ({} if before is None else {BEFORE: list(before)})
        update = {"extra": {self.kind: own}, "labels": declared_labels(turn)}
        return message.model_copy(update=update) if own else message

    def with_turns_before(self, message: Message) -> Message:
        """The message whose calls the source holds elsewhere: no turn for them is written before it."""
        patch = {BEFORE: [], **as_object(message.extra.get(self.kind))}
        return message.model_copy(update={"extra": {**message.extra, self.kind: patch}})

    def aside(self, position: int, turn: Mapping[str, Any], system: str | None = None) -> dict[str, Any]:
        """A turn of neither side with its position in the list, from 0.

        `system`: its text, if it is an instruction.
        """
        return {"at": position, self.kind: dict(turn)} | ({} if system is None else {"system": system})

    def written(self, conversation: Conversation) -> dict[str, Any]:
        """The conversation as an object of this format.

        One that was read in this format is restored exactly. Asides of another format are left out, except system
        messages.
        """
        turns: list[Any] = []
        calls = 0
        for message in conversation.messages:
            if message.stored:
                if self.tools is not None and message.role == "assistant":
                    before = as_object(message.extra.get(self.kind)).get(BEFORE)
                    turns += before if isinstance(before, list) else self.tools(message, calls + 1)
                    calls += len(message.tool_calls)
                turns.append(patched(self.turn(message), as_object(message.extra.get(self.kind))))
        for aside in asides(conversation):
            if isinstance(own := aside.get(self.kind), dict):
                turns.insert(aside["at"], own)
            elif isinstance(text := aside.get("system"), str) and aside.get(BESIDE) != self.kind:
                turns.insert(aside["at"], self.system(text))
        derived = {"id": conversation.id, self.turns: turns}
        return patched(derived, as_object(conversation.extra.get(self.kind)))


@dataclass(frozen=True)
class DialogueReading:
    """Builds the conversations of one file, and gives equal ones different ids."""

    form: DialogueForm
    seen: Counter[str] = field(default_factory=Counter)
    """How often each object occurred, by digest."""

    def conversation(
        self,
        value: Mapping[str, Any],
        messages: Sequence[Message],
        aside: Sequence[Json],
        unsaid: Sequence[Unsaid] = (),
    ) -> Conversation:
        """The conversation of an object of the file; `unsaid` are turns whose content is among the asides."""
        form, key = self.form, digest(value)
        ordinal = self.seen[key]
        self.seen[key] += 1
        scenario: Json = {"kind": form.kind, "digest": key}
        own_id = value.get("id")
        name = own_id if isinstance(own_id, str) and own_id else conversation_id(form.kind, scenario, ordinal)
        patch = difference({**value, form.turns: None}, {"id": name, form.turns: None})
        extra: dict[str, Any] = {ASIDES: list(aside)} if aside else {}
        return Conversation(
            id=name,
            scenario=scenario,
            ordinal=ordinal,
            messages=tuple(messages),
            unsaid=tuple(unsaid),
            labels=declared_labels(value),
            extra=extra | ({form.kind: patch} if patch else {}),
        )


def declared_labels(source: Mapping[str, Any]) -> Json:
    """The annotations of a line or a message: what `labels` holds, and the known ones beside it; `labels` goes first."""
    beside = {name: source[name] for name in KNOWN_LABELS if source.get(name) is not None}
    beside |= {name: source[name] for name in YES_OR_NO if isinstance(source.get(name), bool)}
    return {**beside, **as_object(source.get(LABELS))}


def asides(conversation: Conversation) -> list[dict[str, Any]]:
    """The turns of the source that are not messages, in order."""
    turns = conversation.extra.get(ASIDES)
    return [turn for turn in as_list(turns) if isinstance(turn, dict) and isinstance(turn.get("at"), int)]


def further(conversation: Conversation) -> dict[str, Any]:
    """Further keys and values of the source beside the messages, in any format."""
    merged: dict[str, Any] = {}
    for patch in conversation.extra.values():
        merged |= as_object(as_object(patch).get("values"))
    return merged | conversation.extra


def difference(original: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that turns the derived object into the original; empty if they are equal, including key order.

    `values`: the original's values of keys that are missing or different in the derived object.
    `order`: the original's keys, if they or their order differ.
    """
    values = {key: value for key, value in original.items() if key not in derived or not _same(derived[key], value)}
    patch: dict[str, Any] = {}
    if values:
        patch["values"] = values
    if list(original) != list(derived):
        patch["order"] = list(original)
    return patch


def patched(derived: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The original object, from the derived object and its patch."""
    merged = dict(derived) | dict(patch.get("values", {}))
    return {key: merged[key] for key in patch.get("order", merged)}


def _same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON.

    1, 1.0 and true differ, and so do objects with another order of keys.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)
