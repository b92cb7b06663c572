"""Counts of conversations: stops, messages, drafts by verdict and reason, tool calls, parts, tokens."""

from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from . import domains
from .records import Conversation, Record, Role, Usage


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
    """Parts of the messages that are no text, by type."""
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


def count(conversations: Iterable[Conversation]) -> Counts:
    """Count stops, drafts by verdict and reason, and tokens."""
    stops: Counter[str] = Counter()
    sides: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
    reasons: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
    notes: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
    parts: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
    retried: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
    exchanges, conversation_count, usage = 0, 0, Usage.none()
    for conversation in conversations:
        conversation_count += 1
        exchanges += sum(
            any(message.stored for message in (*exchange.user, *exchange.assistant))
            for exchange in conversation.exchanges
        )
        stops[conversation.stop or "not told"] += 1
        usage += conversation.usage
        domain = domains.of(conversation)
        for message in conversation.messages:
            side = sides[message.role]
            side["messages"] += 1
            side["refused"] += message.role == "assistant" and domain.refuses(message)
            side["fallbacks"] += message.fallback
            parts[message.role].update(part.type for part in message.parts)
        for role in sides:
            for attempt in conversation.attempts(role):
                sides[role]["drafts"] += attempt.verdict != "unjudged"
                sides[role][attempt.verdict] += 1
                calls = [call for call in attempt.tool_calls if not call.waits]
                sides[role]["tool_calls"] += len(calls)
                sides[role]["failed_calls"] += sum(call.error is not None for call in calls)
                sides[role]["judging_tokens"] += attempt.judging.tokens if attempt.judging else 0
                if attempt.reason and attempt.verdict in ("rejected", "observed"):
                    reasons[role][attempt.reason] += 1
                notes[role].update(attempt.notes)
                retried[role].update(attempt.retried)
    return Counts(
        conversations=conversation_count,
        exchanges=exchanges,
        stops=dict(stops.most_common()),
        sides=tuple(
            SideCounts(
                role=role,
                messages=side["messages"],
                drafts=side["drafts"],
                rejected=side["rejected"],
                observed=side["observed"],
                refused=side["refused"],
                fallbacks=side["fallbacks"],
                reasons=dict(reasons[role].most_common()),
                notes=dict(notes[role].most_common()),
                retried=dict(retried[role].most_common()),
                tool_calls=side["tool_calls"],
                failed_calls=side["failed_calls"],
                parts=dict(parts[role].most_common()),
                judging_tokens=side["judging_tokens"],
            )
            for role, side in sides.items()
        ),
        tokens=usage.tokens,
        calls=usage.calls,
    )
