"""Drafts on paper: what a speaker wrote, what it cost, which tools it called, and what was said of it."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Role: TypeAlias = Literal["user", "assistant"]
"""Who speaks. In SimQuAC the student is the user, the teacher the assistant."""

Json: TypeAlias = dict[str, JsonValue]


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a JSON value is an object: keys with values."""
    return isinstance(value, Mapping)


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
    cached_tokens: int = 0
    """Those of the input that the endpoint had read before."""
    reasoning_tokens: int = 0
    """Those of the output that were reasoning."""
    calls: int = 1
    """Calls that were made; a call whose endpoint told no tokens counts here all the same."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            calls=self.calls + other.calls,
        )

    @property
    def tokens(self) -> int:
        """Input and output; cached and reasoning tokens are parts of these."""
        return self.input_tokens + self.output_tokens

    @classmethod
    def none(cls) -> "Usage":
        """Of no call at all."""
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


class ToolCall(Record):
    """A tool that a speaker called, and what came back."""

    name: str
    arguments: Json = Field(default_factory=dict)
    result: JsonValue = None
    """What the tool gave; text that was JSON as its value."""
    error: str | None = None
    """Why there is no result: the tool's error, a malformed call, or that no result came. None: there is one."""


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
    finish_reason: str | None = None
    """Why the model stopped writing, in its endpoint's word: `stop`, `length`, ..."""
    model: str | None = None
    """Name of the model that was served, which may be more exact than the one that was asked for."""
    reasoning: str | None = None
    """What the endpoint gave as reasoning: kept, never sent on, never said."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tools that were called for it, in the order in which it happened."""
    kept: Json = Field(default_factory=dict)
    """Named channels of an agent's state as they were after the call (`AgentSpeaker(keep=...)`)."""

    @property
    def as_it_came(self) -> str:
        """The text before it was cleaned."""
        return self.text if self.raw is None else self.raw
