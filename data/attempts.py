"""Records of drafts: what a speaker wrote, its token usage, the tools it called and the validator's verdict."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Role: TypeAlias = Literal["user", "assistant"]
"""Who speaks. In SimQuAC the student is the user, the teacher the assistant."""

Json: TypeAlias = dict[str, JsonValue]


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a JSON value is an object: keys with values."""
    return isinstance(value, Mapping)


def as_object(value: object) -> Mapping[str, Any]:
    """The JSON value if it is an object; else one without keys."""
    return value if is_object(value) else {}


def as_list(value: object) -> list[Any]:
    """The JSON value if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


class Record(BaseModel):
    """A frozen record that rejects unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def plain(self) -> dict[str, Any]:
        """Plain JSON values; fields that have their default value are left out."""
        return self.model_dump(mode="python", exclude_defaults=True)


class Span(Record):
    """A piece of the section that an answer is made of."""

    text: str
    """The slice of the section. In published data its upper and lower case sometimes differs from the section's."""
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
    cached_tokens: int = 0
    """Input tokens that the endpoint had in its cache; a part of `input_tokens`."""
    reasoning_tokens: int = 0
    """Output tokens that were reasoning; a part of `output_tokens`."""
    calls: int = 1
    """Number of calls, including calls whose endpoint reported no tokens."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})

    @property
    def tokens(self) -> int:
        """Input and output; cached and reasoning tokens are parts of these."""
        return self.input_tokens + self.output_tokens

    @classmethod
    def none(cls) -> "Usage":
        """The usage of no calls."""
        return cls(calls=0)


class PromptRecord(Record):
    """The instruction that a prompt selector chose for a speaker.

    It is sent, but never stored as a message.
    """

    name: str
    """Name of the prompt page, such as `user/guide_other`."""
    digest: str = ""
    """Digest of the page's source."""
    text: str = ""
    """The page as it was sent, with its gaps filled."""
    quote: str = ""
    """Words that the instruction refers to; they are sent after it as data."""


PartType: TypeAlias = Literal["image", "audio", "video", "file", "other"]
"""What a part of a message is. `other`: content of a kind that is not known here; its data is not kept."""


class Part(Record):
    """Content of a message that is not text: an image, a recording, a file.

    It is stored by reference or inline.
    """

    type: PartType
    url: str | None = None
    """An address, a path relative to the file that it was read from, or a data URL, which holds the content itself."""
    file_id: str | None = None
    """The name under which a provider holds the file."""
    mime_type: str | None = None
    name: str | None = None
    """Name of the file; for content of another kind the name of the kind."""
    text: str | None = None
    """The words in it: a recording's transcript, a file's text."""
    digest: str | None = None
    """SHA-256 of the content in hexadecimal digits, where the content itself was left out."""
    size: int | None = None
    """Bytes of the content, where the content itself was left out."""

    @property
    def inline(self) -> bool:
        """Whether the record holds the content itself, as a data URL."""
        return self.url is not None and self.url[:5].lower() == "data:"

    @property
    def left_out(self) -> bool:
        """Whether only the content's digest and size are recorded."""
        return self.digest is not None and self.url is None and self.file_id is None


INTERRUPT = "interrupt"
"""Name of the call that records an approval: the tool that was approved stands beside it."""
WAITING = "it waits for the answer to the agent's question"
"""Error of a call whose tool, or what comes before it, has asked the user."""


class ToolCall(Record):
    """A tool that a speaker called, and its result."""

    name: str
    arguments: Json = Field(default_factory=dict)
    result: JsonValue = None
    """What the tool returned. Text that is a JSON object or list is stored as its value."""
    error: str | None = None
    """Why there is no result: the tool's error, a malformed call, or that no result came. None if there is a result."""
    parts: tuple[Part, ...] = ()
    """What the tool returned besides text and JSON, such as images."""

    @property
    def waits(self) -> bool:
        """Whether it waits for the user's answer; it stands again, with its result, in the reply to that."""
        return self.error == WAITING


class Step(Record):
    """A step of an agent's turn: a node of its graph, or a message of an agent without one."""

    node: str = ""
    """Name of the node, or of who wrote the message."""
    path: tuple[str, ...] = ()
    """The sub-agents in which it is, the outermost first."""
    text: str = ""
    """What it said, where that is not the draft's text."""
    calls: tuple[int, ...] = ()
    """The tool calls that it asked for, by their numbers among the draft's."""
    results: tuple[int, ...] = ()
    """The tool calls whose results it gave."""
    model: str | None = None
    usage: Usage | None = None
    """Tokens of its model; the draft's usage is the sum of all steps."""
    seconds: float | None = None
    error: str | None = None
    """Why it failed."""


VerdictWord: TypeAlias = Literal["accepted", "rejected", "observed", "unjudged"]
"""`observed`: a draft that was sent although the validator rejected it. `unjudged`: no validator judged it."""
WORDLESS = frozenset({"empty", "only_tool_calls"})
"""Why a reply without words is not sent."""


class Attempt(Record):
    """One draft of a message.

    Rejected drafts are stored together with the accepted one.
    """

    number: int = 1
    """Number of the call within the turn, from 1. If one call sent several messages, their drafts share it."""
    text: str
    """The cleaned text, which the validator read."""
    raw: str | None = None
    """The model's text before cleaning; None if cleaning changed nothing."""
    cleaned: tuple[str, ...] = ()
    """What cleaning removed: `reasoning`, `label`, `quotes`."""
    verdict: VerdictWord
    reason: str | None = None
    """Why it was (or would have been) rejected: one of the validator's reasons."""
    notes: tuple[str, ...] = ()
    """Observations of the validator that are counted but do not reject the draft."""
    judging: Usage | None = None
    """Tokens of the calls of models that judged it; None if no model did."""
    explanation: str | None = None
    """The explanation that these models gave."""
    measured: Json = Field(default_factory=dict)
    """What the validator measured of it, by name."""
    prompt: PromptRecord | None = None
    usage: Usage | None = None
    """Tokens of the call. If one call sent several messages, only the first has it."""
    finish_reason: str | None = None
    """Why the model stopped writing, as the endpoint reports it: `stop`, `length`, ..."""
    flaw: str | None = None
    """What is wrong with the reply as it came, such as `refusal`, `cut_off`, `content_filter`, `empty`; None if
    nothing."""
    retried: dict[str, int] = Field(default_factory=dict)
    """How often the call was made again before this reply came, by the fault of the endpoint, such as
    `rate_limited`."""
    shared: bool = False
    """Whether another version of the conversation, which was sent the same, got this reply and paid for it."""
    model: str | None = None
    """Name of the model that answered; it may be more exact than the name that was requested."""
    reasoning: str | None = None
    """The endpoint's reasoning text. It is kept, but is not part of the message and is never sent on."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tools that were called for this draft, in order."""
    steps: tuple[Step, ...] = ()
    """The steps of an agent's turn in order; none where a single one said it all."""
    parts: tuple[Part, ...] = ()
    """Images, recordings and files of a draft that was not sent. Those of a message are only in the message."""
    kept: Json = Field(default_factory=dict)
    """The channels of an agent's state after the call that are plain JSON."""

    @property
    def spent(self) -> Usage:
        """The usage of its call and of judging it."""
        return (self.usage or Usage.none()) + (self.judging or Usage.none())

    def without_timing(self) -> "Attempt":
        """The same without the seconds of its steps."""
        if not self.steps:
            return self
        return self.model_copy(update={"steps": tuple(one.model_copy(update={"seconds": None}) for one in self.steps)})

    @property
    def rule_based(self) -> bool:
        """Whether the rule-based speaker `offline` wrote it, whose tokens cost nothing."""
        return self.model == "offline"

    @property
    def as_it_came(self) -> str:
        """The text before cleaning."""
        return self.text if self.raw is None else self.raw

    def __repr__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        return f"Attempt({self.number}, {self.verdict}{why}: {begin(self.text)!r})"


def begin(text: str, most: int = 60) -> str:
    """The begin of a text on one line, for a `repr`: a notebook shows it unasked."""
    words = " ".join(text[: 4 * most].split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
