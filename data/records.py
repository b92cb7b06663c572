"""What a conversation is on paper: frozen records, the same for simulated, published and human ones."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

from pydantic import Field

from ..errors import DataError
from .attempts import Attempt, Json, Judgement, Prompt, Record, Role, Span, ToolCall, Usage
from .provenance import Edge, Failure, NodeInfo, NodeTiming, Provenance, Timing, Way, upgraded
from .stop_reasons import FAULTS, Fault, RecordedStop, StopReason, ended_by_itself, is_finished

__all__ = [
    "FAULTS",
    "SCHEMA",
    "Attempt",
    "Conversation",
    "Edge",
    "Exchange",
    "Failure",
    "Fault",
    "Json",
    "Judgement",
    "Message",
    "NodeInfo",
    "NodeTiming",
    "Prompt",
    "Provenance",
    "Record",
    "Role",
    "Span",
    "StopReason",
    "Timing",
    "ToolCall",
    "Unsaid",
    "Usage",
    "Way",
]

SCHEMA = 2
"""Version of the record's JSON form. A newer one is refused by name, older ones are upgraded."""


class Message(Record):
    """What one side said."""

    role: Role
    text: str
    spans: tuple[Span, ...] = ()
    """The pieces of the section that the text is made of, in its order. Empty: none, or a refusal."""
    attempts: tuple[Attempt, ...] = ()
    """Every draft, the accepted one last. None for what was read from elsewhere."""
    stored: bool = True
    """False: said, kept here, and not part of the published history (a user's goodbye)."""
    labels: Json = Field(default_factory=dict)
    """What annotators say of it."""
    extra: Json = Field(default_factory=dict)
    """What the source had besides: unknown keys, and values that we would have written otherwise."""

    @property
    def prompt(self) -> Prompt | None:
        """The prompt behind the text that stands; None where no draft was accepted."""
        last = self.attempts[-1] if self.attempts else None
        return last.prompt if last is not None and last.verdict != "rejected" else None

    @property
    def usage(self) -> Usage:
        """What all drafts cost together."""
        return sum((a.usage for a in self.attempts if a.usage is not None), Usage.none())

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tools that were called for the draft that stands; those of rejected drafts are with these."""
        last = self.attempts[-1] if self.attempts else None
        return last.tool_calls if last is not None and last.verdict != "rejected" else ()

    @property
    def rejected(self) -> tuple[Attempt, ...]:
        """The drafts that did not pass."""
        return tuple(a for a in self.attempts if a.verdict == "rejected")

    @property
    def fallback(self) -> bool:
        """Whether the text stands in for drafts of which none was accepted."""
        return bool(self.attempts) and all(a.verdict == "rejected" for a in self.attempts)


class Unsaid(Record):
    """Drafts of a turn in which nothing was said: attempts spent, a model that failed, a run cut short."""

    role: Role
    after: int
    """How many messages were said before."""
    attempts: tuple[Attempt, ...]


class Exchange(Record):
    """What the user said in one go and what came back; either may be empty. Derived, never stored."""

    user: tuple[Message, ...]
    assistant: tuple[Message, ...]


class Conversation(Record):
    """A sequence of messages about a scenario, and everything known about how it came to be."""

    schema_version: int = SCHEMA
    id: str
    scenario: Json
    """What it is about, with a `kind` (such as `simquac`) that says which other keys there are."""
    ordinal: int = 0
    """Which of equal scenarios of the same source, from 0."""
    repeat: int = 0
    """Which simulation of the same scenario, from 0."""
    messages: tuple[Message, ...] = ()
    unsaid: tuple[Unsaid, ...] = ()
    stop: RecordedStop | None = None
    """Why it ended; None while it goes on, and where a source does not tell. A cast's own reason is `cast:reason`."""
    failure: Failure | None = None
    provenance: Provenance | None = None
    """None for conversations that were read from elsewhere."""
    edges: tuple[Edge, ...] = ()
    """Every edge of the graph that ran, in the order of its drawing, those that were not taken with 0: with
    it the graph can be drawn from the record alone. Empty for conversations that were read from elsewhere."""
    timing: Timing = Field(default_factory=Timing)
    memory: dict[Role, Json] = Field(default_factory=dict[Role, Json])
    """What each side kept for itself, where the cast says that it is recorded."""
    labels: Json = Field(default_factory=dict)
    extra: Json = Field(default_factory=dict)

    @property
    def fault(self) -> Fault | None:
        """Whose fault the stop is; None while it goes on, and where nothing tells."""
        if self.stop is None or self.stop in FAULTS:
            return FAULTS.get(self.stop or "")
        return self.provenance.stop_reasons.get(self.stop) if self.provenance is not None else None

    @property
    def ended_by_itself(self) -> bool:
        """Whether it ended, and nothing from outside ended it."""
        return ended_by_itself(self.stop, self.fault)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to simulate; what is not finished a resumed run tries again."""
        return is_finished(self.stop, self.fault)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """A new exchange begins where the user speaks after the assistant has."""
        groups: list[tuple[list[Message], list[Message]]] = []
        for message in self.messages:
            if not groups or (message.role == "user" and groups[-1][1]):
                groups.append(([], []))
            groups[-1][0 if message.role == "user" else 1].append(message)
        return tuple(Exchange(user=tuple(u), assistant=tuple(a)) for u, a in groups)

    @property
    def usage(self) -> Usage:
        """What all calls cost together, drafts that were never said included."""
        said = (message.usage for message in self.messages)
        unsaid = (attempt.usage for turn in self.unsaid for attempt in turn.attempts if attempt.usage)
        return sum(unsaid, sum(said, Usage.none()))

    def attempts(self, role: Role | None = None) -> Iterator[Attempt]:
        """Every draft there was: those of the messages, then those of turns in which nothing was said."""
        for message in self.messages:
            if role in (None, message.role):
                yield from message.attempts
        for turn in self.unsaid:
            if role in (None, turn.role):
                yield from turn.attempts

    def without_timing(self) -> Self:
        """The same conversation without its clock times: equal seeds give equal ones."""
        return self.model_copy(update={"timing": Timing()})

    def __str__(self) -> str:
        """The dialogue as text, a message a paragraph."""
        return "\n".join(f"{message.role}: {message.text}" for message in self.messages)

    def plain(self) -> dict[str, Any]:
        """Plain JSON values with every key of the schema, so that all lines of a file have the same."""
        return self.model_dump(mode="python")

    @classmethod
    def from_plain(cls, value: Mapping[str, Any]) -> "Conversation":
        """The record of its JSON form, of this schema or an older one; DataError for a newer one."""
        version = value.get("schema_version", SCHEMA)
        if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= SCHEMA:
            raise DataError(f"schema_version is {version!r}, this version reads 1 to {SCHEMA}: update duologue")
        return cls.model_validate(upgraded(value) if version == 1 else value)
