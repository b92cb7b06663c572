"""Conversations in figures: an outline of each, by which lists sort and filter, and counts of many."""

from collections import Counter
from collections.abc import Iterable, Mapping

from pydantic import Field

from . import domains
from .domains import shortened
from .formats.messages import further
from .records import Attempt, Conversation, Message, Record, Role, Usage


class Outline(Record):
    """The figures of one conversation."""

    id: str
    title: str
    """What it is about, in a few words."""
    topic: str
    """The header of the section, or the task; empty if there is neither."""
    kind: str
    """Kind of its scenario."""
    stop: str
    """Why it ended, or `not told`."""
    exchanges: int
    messages: int
    rejected: int
    """Rejected drafts."""
    coverage: float | None
    """Share of the section that the answers' spans cover, 0 to 1; None without a section."""
    refused: int | None
    """Messages of the assistant that give no answer; None if the domain has no refusals."""
    characters: int
    """Length of all messages, in Python characters."""


def coverage(conversation: Conversation) -> float:
    """Share of the section's characters that an answer's span covers, 0 to 1; 0 without a section."""
    section = domains.of(conversation).source_text(conversation.scenario) or ""
    return len(covered(conversation.messages, len(section))) / len(section) if section else 0.0


def covered(messages: Iterable[Message], length: int) -> set[int]:
    """The places of a section of this length, in characters, that a span of the messages covers."""
    return {
        offset
        for message in messages
        for span in message.spans
        for offset in range(max(0, span.start), min(length, span.end))
    }


def title_of(conversation: Conversation) -> str:
    """The title from the domain, else from the source, else the user's first message, else the id."""
    opening = next((message.text for message in conversation.messages if message.role == "user"), "")
    of_source = further(conversation).get("title")
    candidates = (shortened(" ".join(text.split())) for text in (of_source, opening) if isinstance(text, str))
    title = domains.of(conversation).title(conversation.scenario) or next(filter(None, candidates), "")
    return title or f"Conversation {conversation.id}"


def outline(conversation: Conversation) -> Outline:
    """The outline of a conversation."""
    domain, scenario = domains.of(conversation), conversation.scenario
    replies = [message for message in conversation.messages if message.role == "assistant"]
    return Outline(
        id=conversation.id,
        title=title_of(conversation),
        topic=domain.subtitle(scenario),
        kind=str(scenario.get("kind", "")),
        stop=conversation.stop or "not told",
        exchanges=len(conversation.exchanges),
        messages=len(conversation.messages),
        rejected=sum(attempt.verdict == "rejected" for attempt in conversation.attempts()),
        coverage=coverage(conversation) if domain.source_text(scenario) is not None else None,
        refused=sum(map(domain.refuses, replies)) if domain.has_refusals else None,
        characters=sum(len(message.text) for message in conversation.messages),
    )


class SideCounts(Record):
    """The messages and drafts of one side."""

    role: Role
    messages: int
    drafts: int
    """Drafts that a validator read; messages of published data have none."""
    rejected: int
    """Drafts that were rejected."""
    observed: int
    """Drafts that would have been rejected but were kept, because a published side is re-enacted."""
    refused: int
    """Messages of the assistant that give no answer; 0 where the domain has no refusals."""
    fallbacks: int
    """Messages that replace an answer after all its drafts were rejected."""
    reasons: dict[str, int]
    """Rejected and observed drafts by reason."""
    notes: dict[str, int]
    """Drafts by the validator's notes, which reject nothing."""
    retried: dict[str, int] = Field(default_factory=dict)
    """Calls that were made again, by the endpoint's fault."""
    tool_calls: int = 0
    """Tool calls of all drafts, including rejected ones. One that waited for the user's answer counts once, with its result."""
    failed_calls: int = 0
    """Those of them without a result."""
    parts: dict[str, int] = Field(default_factory=dict)
    """Parts of the messages that are not text, by type."""
    judging_tokens: int = 0
    """Tokens of the models that judged its drafts; a part of the tokens of all calls."""


class Counts(Record):
    """Conversations in numbers."""

    conversations: int
    exchanges: int
    stops: dict[str, int]
    sides: tuple[SideCounts, ...]
    tokens: int
    calls: int

    def side(self, role: Role) -> SideCounts:
        """The counts of one side."""
        return next(side for side in self.sides if side.role == role)


_NUMBERS = tuple(name for name, one in SideCounts.model_fields.items() if one.annotation is int)
_TALLIES = ("reasons", "notes", "retried", "parts")


def count(conversations: Iterable[Conversation]) -> Counts:
    """Count stops, drafts by verdict and reason, and tokens."""
    stops: Counter[str] = Counter()
    numbers: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
    tallies: dict[Role, dict[str, Counter[str]]] = {role: {name: Counter() for name in _TALLIES} for role in numbers}
    exchanges, conversation_count, usage = 0, 0, Usage.none()
    for conversation in conversations:
        conversation_count += 1
        exchanges += sum(any(one.stored for one in (*turn.user, *turn.assistant)) for turn in conversation.exchanges)
        stops[conversation.stop or "not told"] += 1
        usage += conversation.usage
        domain = domains.of(conversation)
        for message in (message for message in conversation.messages if message.name is None):
            side = numbers[message.role]
            side["messages"] += 1
            side["refused"] += message.role == "assistant" and domain.refuses(message)
            side["fallbacks"] += message.fallback
            tallies[message.role]["parts"].update(part.type for part in message.parts)
        for role in numbers:
            for attempt in conversation.attempts(role):
                _add(attempt, numbers[role], tallies[role])
    sides = (
        SideCounts.model_validate(
            {"role": role, **{name: side[name] for name in _NUMBERS}, **_most_common(tallies[role])}
        )
        for role, side in numbers.items()
    )
    return Counts(
        conversations=conversation_count,
        exchanges=exchanges,
        stops=dict(stops.most_common()),
        sides=tuple(sides),
        tokens=usage.tokens,
        calls=usage.calls,
    )


def _add(attempt: Attempt, numbers: Counter[str], tallies: Mapping[str, Counter[str]]) -> None:
    calls = [call for call in attempt.tool_calls if not call.waits]
    numbers["drafts"] += attempt.verdict != "unjudged"
    numbers[attempt.verdict] += 1
    numbers["tool_calls"] += len(calls)
    numbers["failed_calls"] += sum(call.error is not None for call in calls)
    numbers["judging_tokens"] += attempt.judging.tokens if attempt.judging else 0
    if attempt.reason and attempt.verdict in ("rejected", "observed"):
        tallies["reasons"][attempt.reason] += 1
    tallies["notes"].update(attempt.notes)
    tallies["retried"].update(attempt.retried)


def _most_common(tallies: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {name: dict(tally.most_common()) for name, tally in tallies.items()}
