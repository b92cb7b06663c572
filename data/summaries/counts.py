"""Counts of conversations: stops, messages, drafts by verdict and reason, tool calls, parts, tokens; and copies."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pydantic import Field

from .. import domains
from ..identity import digest
from ..records import Conversation, Record, Role, Usage


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
    sides: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
    tallies: dict[Role, dict[str, Counter[str]]] = {role: {name: Counter() for name in _TALLIES} for role in sides}
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
        for message in (message for message in conversation.messages if message.name is None):
            side = sides[message.role]
            side["messages"] += 1
            side["refused"] += message.role == "assistant" and domain.refuses(message)
            side["fallbacks"] += message.fallback
            tallies[message.role]["parts"].update(part.type for part in message.parts)
        for role, side in sides.items():
            tally = tallies[role]
            for attempt in conversation.attempts(role):
                side["drafts"] += attempt.verdict != "unjudged"
                side[attempt.verdict] += 1
                calls = [call for call in attempt.tool_calls if not call.waits]
                side["tool_calls"] += len(calls)
                side["failed_calls"] += sum(call.error is not None for call in calls)
                side["judging_tokens"] += attempt.judging.tokens if attempt.judging else 0
                if attempt.reason and attempt.verdict in ("rejected", "observed"):
                    tally["reasons"][attempt.reason] += 1
                tally["notes"].update(attempt.notes)
                tally["retried"].update(attempt.retried)
    return Counts(
        conversations=conversation_count,
        exchanges=exchanges,
        stops=dict(stops.most_common()),
        sides=tuple(
            SideCounts.model_validate(
                {"role": role}
                | {name: side[name] for name in _NUMBERS}
                | {name: dict(tally.most_common()) for name, tally in tallies[role].items()}
            )
            for role, side in sides.items()
        ),
        tokens=usage.tokens,
        calls=usage.calls,
    )


@dataclass
class CopyCount:
    """Counts copies among conversations that pass by: those whose messages equal those of an earlier one.

    Of each conversation only a digest is held. Ids, labels and further keys may differ; so may drafts.
    """

    count: int = 0
    _seen: set[bytes] = field(default_factory=set[bytes])

    def passing(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """The same conversations, each looked at as it passes."""
        for conversation in conversations:
            self.add(conversation)
            yield conversation

    def add(self, conversation: Conversation) -> None:
        """Look at one conversation; one without a message is not a copy."""
        messages = [
            (
                message.role,
                message.text,
                [part.plain() for part in message.parts],
                [call.plain() for call in message.tool_calls],
            )
            for message in conversation.messages
            if message.stored
        ]
        if messages:
            own = bytes.fromhex(digest(messages))[:16]
            self.count += own in self._seen
            self._seen.add(own)

    def notes(self, conversations: int) -> list[str]:
        """A line with the number of copies among so many conversations; none without a copy."""
        are = "1 is a copy" if self.count == 1 else f"{self.count} are copies"
        return [f"of {conversations} conversations {are}: the same messages as an earlier one"] if self.count else []
