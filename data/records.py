"""Frozen records of conversations, the same for simulated, published and human ones."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from pydantic import Field

from ..errors import DataError
from .attempts import Attempt, Json, Part, PromptRecord, Record, Role, Span, ToolCall, Usage, VerdictWord
from .attempts import begin as _begin
from .provenance import Edge, Failure, Fork, NodeInfo, NodeTiming, Provenance, Timing
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
    "Fork",
    "Json",
    "Message",
    "NodeInfo",
    "NodeTiming",
    "Part",
    "PromptRecord",
    "Provenance",
    "Record",
    "Role",
    "Span",
    "StopReason",
    "Timing",
    "ToolCall",
    "Unsaid",
    "Usage",
    "VerdictWord",
]

SCHEMA = 2
"""Version of the record's JSON form; another one is an error."""


class Message(Record):
    """A message of one side."""

    role: Role
    text: str
    spans: tuple[Span, ...] = ()
    """The pieces of the section that the text consists of, in order. Empty for a refusal or ungrounded text."""
    attempts: tuple[Attempt, ...] = ()
    """Every draft, the accepted one last. Empty for published messages."""
    name: str | None = None
    """Of a third one, such as a moderator, its name; its role is `user`, as it is neither side's own message."""
    stored: bool = True
    """False for a message that is recorded but is not part of the published history, such as a user's goodbye."""
    parts: tuple[Part, ...] = ()
    """Images, recordings, files and other content beside the text."""
    labels: Json = Field(default_factory=dict)
    """Annotations of the message."""
    extra: Json = Field(default_factory=dict)
    """Further content of the source: unknown keys, and values that our writer would write differently."""

    @property
    def prompt(self) -> PromptRecord | None:
        """The prompt of the accepted draft; None if no draft was accepted."""
        return None if self._standing is None else self._standing.prompt

    @property
    def usage(self) -> Usage:
        """The total usage of all drafts, judging them included."""
        return sum((attempt.spent for attempt in self.attempts), Usage.none())

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the accepted draft.

        Rejected drafts have their own.
        """
        return () if self._standing is None else self._standing.tool_calls

    @property
    def kept(self) -> Json:
        """The kept channels of the accepted draft's agent; empty without any."""
        return {} if self._standing is None else self._standing.kept

    @property
    def _standing(self) -> Attempt | None:
        """The accepted or observed draft; None if there is none, or if the text is the cast's fallback."""
        last = self.attempts[-1] if self.attempts else None
        return None if last is None or last.verdict == "rejected" else last

    @property
    def rejected(self) -> tuple[Attempt, ...]:
        """The rejected drafts."""
        return tuple(attempt for attempt in self.attempts if attempt.verdict == "rejected")

    @property
    def fallback(self) -> bool:
        """Whether all drafts were rejected and the text is the cast's fallback."""
        return bool(self.attempts) and all(attempt.verdict == "rejected" for attempt in self.attempts)

    @property
    def sent_although_rejected(self) -> bool:
        """Whether the validator rejected the draft that was sent: after the last attempt, or because it only
        observes."""
        return self._standing is not None and self._standing.verdict == "observed"

    def __repr__(self) -> str:
        drafts = f", {len(self.attempts)} drafts" if len(self.attempts) > 1 else ""
        return f"Message({self.role}: {_begin(self.text)!r}{drafts})"


class Unsaid(Record):
    """Drafts of a turn without a message: all attempts rejected, the model failed, or the run was cut short."""

    role: Role
    after: int
    """Number of messages before this turn."""
    attempts: tuple[Attempt, ...]


class Exchange(Record):
    """The user's messages of one turn and the assistant's reply; either may be empty.

    It is derived, never stored.
    """

    user: tuple[Message, ...]
    assistant: tuple[Message, ...]

    def __repr__(self) -> str:
        texts = (f"{message.role}: {_begin(message.text)!r}" for message in (*self.user, *self.assistant))
        return f"Exchange({_begin(', '.join(texts), 160)})"


class Conversation(Record):
    """A sequence of messages about a scenario, with the record of how it was made.

    Example::

        >>> import duologue
        >>> from duologue.data import Message
        >>> messages = (Message(role="user", text="Hello?"), Message(role="assistant", text="Yes."))
        >>> conversation = duologue.Conversation(id="1", scenario={"kind": "call"}, messages=messages)
        >>> [message.text for message in conversation.messages]
        ['Hello?', 'Yes.']
    """

    schema_version: int = SCHEMA
    id: str
    scenario: Json
    """What it is about. Its `kind`, such as `simquac`, determines the other keys."""
    ordinal: int = 0
    """Number among equal scenarios of the same source, from 0."""
    repeat: int = 0
    """Number of the simulation of the same scenario, from 0."""
    messages: tuple[Message, ...] = ()
    unsaid: tuple[Unsaid, ...] = ()
    stop: RecordedStop | None = None
    """Why it ended; None if it goes on or the source has no reason. A cast's own reason is written `cast:reason`."""
    failure: Failure | None = None
    provenance: Provenance | None = None
    """None for published conversations."""
    edges: tuple[Edge, ...] = ()
    """Every edge of the graph in drawing order, with count 0 if it was not taken: the graph can be drawn from the
    record. Empty for published conversations."""
    timing: Timing = Field(default_factory=Timing)
    memory: dict[Role, Json] = Field(default_factory=dict[Role, Json])
    """The private memory of each side, if the cast records it."""
    labels: Json = Field(default_factory=dict)
    closing_usage: Usage | None = None
    """Tokens of calls after the last message, by the closing node: judges of scores, questions to the speakers. No
    budget of the conversation can count them. None if there were none."""
    extra: Json = Field(default_factory=dict)

    @property
    def fault(self) -> Fault | None:
        """Whose fault the stop is; None without a stop or with an unknown cause."""
        if self.stop is None or self.stop in FAULTS:
            return FAULTS.get(self.stop or "")
        return self.provenance.stop_reasons.get(self.stop) if self.provenance is not None else None

    @property
    def ending_failure(self) -> Failure | None:
        """The failure that ended it; None if it had ended before, and only its world could not be torn down."""
        after = self.failure is not None and self.failure.node == "world" and self.stop not in (None, "model_failed")
        return None if after else self.failure

    @property
    def ended_by_itself(self) -> bool:
        """Whether it ended, and not because of an outside cause such as a failed model or a budget."""
        return ended_by_itself(self.stop, self.fault)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to simulate.

        A resumed run repeats conversations that are not finished.
        """
        return is_finished(self.stop, self.fault)

    @property
    def cut_by_run(self) -> bool:
        """Whether a bound of its whole run ended it, and no limit of its own."""
        most = self.provenance.limits.get("max_tokens") if self.provenance is not None else None
        return self.stop == "budget" and (not isinstance(most, int) or self.usage.tokens < most)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """A new turn begins where a user's message follows one of the assistant; third ones' messages are in none."""
        groups: list[tuple[list[Message], list[Message]]] = []
        for message in (message for message in self.messages if message.name is None):
            if not groups or (message.role == "user" and groups[-1][1]):
                groups.append(([], []))
            groups[-1][0 if message.role == "user" else 1].append(message)
        return tuple(Exchange(user=tuple(user), assistant=tuple(assistant)) for user, assistant in groups)

    @property
    def usage(self) -> Usage:
        """The total usage of all calls: judges, rejected drafts, turns without a message and what closes it included.

        Of a fork without the messages that it kept: they were paid for in the conversation that it forks.
        """
        of_messages = (message.usage for message in self.new_messages)
        of_unsaid = (attempt.spent for turn in self.unsaid for attempt in turn.attempts)
        return sum(of_unsaid, sum(of_messages, self.closing_usage or Usage.none()))

    @property
    def forks(self) -> Fork | None:
        """The conversation that it forks, and where; None if it begins by itself."""
        return self.provenance.forks if self.provenance is not None else None

    @property
    def new_messages(self) -> tuple[Message, ...]:
        """The messages that were said in it: of a fork those after the messages that it kept."""
        return self.messages if self.forks is None else self.messages[self.forks.prefix_length :]

    def attempts(self, role: Role | None = None, *, new_only: bool = False) -> Iterator[Attempt]:
        """Every draft: first the drafts of the messages, then those of turns without a message.

        `new_only`: without the messages that a fork kept.
        """
        for message in self.new_messages if new_only else self.messages:
            if role in (None, message.role):
                yield from message.attempts
        for turn in self.unsaid:
            if role in (None, turn.role):
                yield from turn.attempts

    def without_timing(self) -> Self:
        """The conversation without clock times, those of agents' steps among them.

        With equal seeds these are equal.
        """

        def timeless(turns: Iterable[Any]) -> tuple[Any, ...]:
            return tuple(
                turn.model_copy(update={"attempts": tuple(attempt.without_timing() for attempt in turn.attempts)})
                for turn in turns
            )

        said = {"messages": timeless(self.messages), "unsaid": timeless(self.unsaid)}
        return self.model_copy(update={"timing": Timing(), **said})

    def __str__(self) -> str:
        """The dialogue as text, one line for each message."""
        return "\n".join(f"{message.name or message.role}: {message.text}" for message in self.messages)

    def __repr__(self) -> str:
        drafts = sum(1 for attempt in self.attempts() if attempt.verdict == "rejected")
        counts = [(len(self.messages), "message"), (drafts, "rejected draft")]
        counted = [
            f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts if number or noun == "message"
        ]
        return f"Conversation({', '.join([self.id, *counted, *([self.stop] if self.stop else [])])})"

    def plain(self) -> dict[str, Any]:
        """Plain JSON values with every key of the schema, so that all lines have the same keys."""
        return self.model_dump(mode="python")

    @classmethod
    def from_plain(cls, value: Mapping[str, Any]) -> "Conversation":
        """The record from its JSON form; DataError for another schema."""
        version = value.get("schema_version", SCHEMA)
        if not isinstance(version, int) or isinstance(version, bool) or version != SCHEMA:
            raise DataError(f"schema_version is {version!r}, this version of duologue reads {SCHEMA}")
        return cls.model_validate(value)
