"""What files of mere dialogue share: ids, further keys, and what stands in them that neither side says."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..identity import conversation_id, digest
from ..records import Conversation, Json, Message
from .patches import difference, patched

ASIDES = "asides"
"""Key of a conversation's `extra`: what stands between its messages and is none, such as instructions and tools."""


@dataclass(frozen=True)
class Form:
    """A format of which a conversation is an object with an id and a list of turns."""

    kind: str
    """`kind` of a scenario of which nothing is known but its conversation, and the format's key in every `extra`."""
    turns: str
    """The key of the list of turns."""
    turn: Callable[[Message], dict[str, Any]]
    """A message as a turn."""
    system: Callable[[str], dict[str, Any]]
    """What a system message says as a turn."""
    tools: Callable[[Message, int], list[dict[str, Any]]] | None = None
    """The turns before a message in which tools were called for it, the first call with this number; None: the format
    has none."""

    def message(self, message: Message, turn: Mapping[str, Any]) -> Message:
        """The message with what its turn has besides."""
        own = difference(turn, self.turn(message))
        return message.model_copy(update={"extra": {self.kind: own}}) if own else message

    def aside(self, place: int, turn: Mapping[str, Any], system: str | None = None) -> dict[str, Any]:
        """A turn of neither side at its place, from 0, in the list; `system`: what it says, if it instructs."""
        return {"at": place, self.kind: dict(turn)} | ({} if system is None else {"system": system})

    def written(self, conversation: Conversation) -> dict[str, Any]:
        """The conversation as an object; one that was read in this format is the same again.

        Asides of another format are left out, but for what a system message says.
        """
        turns: list[Any] = []
        calls = 0
        for message in conversation.messages:
            if message.stored:
                if self.tools is not None:
                    turns += self.tools(message, calls + 1)
                    calls += len(message.tool_calls)
                turns.append(self._turn(message))
        for aside in asides(conversation):
            if isinstance(own := aside.get(self.kind), dict):
                turns.insert(aside["at"], own)
            elif isinstance(said := aside.get("system"), str):
                turns.insert(aside["at"], self.system(said))
        derived = {"id": conversation.id, self.turns: turns}
        return patched(derived, own) if isinstance(own := conversation.extra.get(self.kind), dict) else derived

    def _turn(self, message: Message) -> dict[str, Any]:
        turn, own = self.turn(message), message.extra.get(self.kind)
        return patched(turn, own) if isinstance(own, dict) else turn


@dataclass(frozen=True)
class Reading:
    """Makes the conversations of one file, equal ones with ids of their own."""

    form: Form
    seen: Counter[str] = field(default_factory=Counter)

    def conversation(
        self, value: Mapping[str, Any], messages: Sequence[Message], aside: Sequence[Json]
    ) -> Conversation:
        """The conversation of an object of the file."""
        form, key = self.form, digest(value)
        ordinal = self.seen[key]
        self.seen[key] += 1
        scenario: Json = {"kind": form.kind, "digest": key}
        told = value.get("id")
        name = told if isinstance(told, str) and told else conversation_id(form.kind, scenario, ordinal)
        patch = difference({**value, form.turns: None}, {"id": name, form.turns: None})
        extra: dict[str, Any] = {ASIDES: list(aside)} if aside else {}
        return Conversation(
            id=name,
            scenario=scenario,
            ordinal=ordinal,
            messages=tuple(messages),
            extra=extra | ({form.kind: patch} if patch else {}),
        )


def asides(conversation: Conversation) -> list[dict[str, Any]]:
    """What the source has between the messages, in its order."""
    given = conversation.extra.get(ASIDES)
    there = given if isinstance(given, list) else []
    return [one for one in there if isinstance(one, dict) and isinstance(one.get("at"), int)]


def further(conversation: Conversation) -> dict[str, Any]:
    """What the source tells beside the messages, whichever format it has."""
    merged: dict[str, Any] = {}
    for own in conversation.extra.values():
        if isinstance(own, dict) and isinstance(values := own.get("values"), dict):
            merged |= values
    return merged | conversation.extra
