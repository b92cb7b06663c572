"""What a conversation is on paper: frozen records, the same for simulated, published and human ones."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ..errors import DataError

SCHEMA = 1
"""Version of the record's JSON form. A newer one is refused by name, older ones are upgraded."""

Role: TypeAlias = Literal["user", "assistant"]
"""Who speaks. In SimQuAC the student is the user, the teacher the assistant."""

StopReason: TypeAlias = Literal[
    "max_turns", "user_ended", "user_gave_up", "user_rejected", "model_failed", "budget", "cancelled"
]
"""Why a conversation ended: one closed set for the whole project."""

Fault: TypeAlias = Literal["none", "user", "infrastructure"]

FAULTS: Mapping[StopReason, Fault] = {
    "max_turns": "none",
    "user_ended": "none",
    "user_gave_up": "none",
    "user_rejected": "user",
    "model_failed": "infrastructure",
    "budget": "none",
    "cancelled": "none",
}
"""Whose fault each stop is: a conversation that nobody is to blame for can be studied as it is."""

ENDED_BY_ITSELF: frozenset[StopReason] = frozenset({"max_turns", "user_ended", "user_gave_up", "user_rejected"})
"""Stops that nothing from outside caused."""

FINISHED: frozenset[StopReason] = frozenset({*ENDED_BY_ITSELF, "budget"})
"""Stops after which there is nothing left to simulate; after any other a resumed run tries again."""

Way: TypeAlias = Literal["", "accepted", "regenerate", "continue", "stop"]
"""What leads along an edge of the graph; empty where there is only one way."""

Json: TypeAlias = dict[str, JsonValue]


class Record(BaseModel):
    """Frozen, and refuses keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def plain(self) -> dict[str, Any]:
        """Plain JSON values, without what is empty or default."""
        return self.model_dump(mode="python", exclude_defaults=True)


class Span(Record):
    """A piece of the section that an answer is made of."""

    text: str
    """The section's own slice; in published data now and then another case than the section's."""
    start: int
    """Offset of the first character in the section, in Python characters."""

    @property
    def end(self) -> int:
        """Offset behind the last character."""
        return self.start + len(self.text)


class Usage(Record):
    """Tokens of one or more calls, as the endpoint counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 1
    """Calls that were made; a call whose endpoint told no tokens counts here all the same."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            calls=self.calls + other.calls,
        )

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @classmethod
    def none(cls) -> "Usage":
        return cls(calls=0)


class Prompt(Record):
    """The line that a selector gave to a speaker: sent, and never stored as a message."""

    name: str
    """Name of the prompt page, such as `user/guide_other`."""
    digest: str = ""
    """Digest of the page's source."""
    text: str = ""
    """The page as it was sent, its gaps filled."""
    quote: str = ""
    """Words that the line is about, sent behind it as data."""


Judgement: TypeAlias = Literal["accepted", "rejected", "observed", "unjudged"]
"""`observed`: would have been rejected, but stands (a re-enacted message). `unjudged`: not yet read."""


class Attempt(Record):
    """One draft of a message. Rejected ones are kept with the one that was accepted."""

    number: int = 1
    """Which call of the turn, from 1; drafts of one call that sent several messages share it."""
    text: str
    """As cleaned: what the validator read."""
    raw: str | None = None
    """As it came from the model, where that differs."""
    cleaned: tuple[str, ...] = ()
    """What cleaning took away: `reasoning`, `label`, `quotes`."""
    verdict: Judgement
    reason: str | None = None
    """Why it was (or would have been) rejected, from the validator's closed set."""
    notes: tuple[str, ...] = ()
    """What was counted and not rejected."""
    prompt: Prompt | None = None
    usage: Usage | None = None
    """Tokens of the call; in a call that sent several messages it stands with the first."""

    @property
    def as_it_came(self) -> str:
        return self.text if self.raw is None else self.raw


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


class Failure(Record):
    """What stopped a conversation from outside."""

    node: str
    """The node in which it happened, such as `assistant`."""
    error: str
    """The error's class and message, without secrets."""


class Edge(Record):
    """A way from one node of the graph to the next, and how often the conversation went it."""

    source: str
    """The node that it leaves: a place of the graph, or `__start__`."""
    target: str
    """The node that it leads to: a place of the graph, or `__end__`."""
    label: Way = ""
    count: int = 0


class Provenance(Record):
    """Where a simulated conversation comes from: enough to make it again."""

    cast: str
    nodes: Json = Field(default_factory=dict)
    """Per place of the graph what stands there: its name, its settings, its model with arguments."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Digest of every page of the prompt library, by name."""
    limits: Json = Field(default_factory=dict)
    """The limits of the run, the seed among them."""
    data: str = ""
    """Digest of the scenario."""
    begun: str = ""
    """Digest of the messages that the conversation began with, where there were some."""
    version: str = ""
    """Version of the package that simulated."""


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
    stop: StopReason | None = None
    """Why it ended; None while it goes on, and where a source does not tell."""
    failure: Failure | None = None
    provenance: Provenance | None = None
    """None for conversations that were read from elsewhere."""
    edges: tuple[Edge, ...] = ()
    """Every edge of the graph that ran, in the order of its drawing, those that were not taken with 0: with
    it the graph can be drawn from the record alone. Empty for conversations that were read from elsewhere."""
    timing: Json = Field(default_factory=dict)
    """Every time there is, in seconds or UTC. Nothing else in a record depends on the clock."""
    labels: Json = Field(default_factory=dict)
    extra: Json = Field(default_factory=dict)

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
        return self.model_copy(update={"timing": {}})

    def __str__(self) -> str:
        """The dialogue as text, a message a paragraph."""
        return "\n".join(f"{message.role}: {message.text}" for message in self.messages)

    def plain(self) -> dict[str, Any]:
        """Plain JSON values with every key of the schema, so that all lines of a file have the same."""
        return self.model_dump(mode="python")

    @classmethod
    def from_plain(cls, value: Mapping[str, Any]) -> "Conversation":
        """The record of its JSON form; ValueError for a newer schema than this version's."""
        version = value.get("schema_version", SCHEMA)
        if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= SCHEMA:
            raise DataError(f"schema_version is {version!r}, this version reads 1 to {SCHEMA}: update duologue")
        return cls.model_validate(value)
