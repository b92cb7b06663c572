"""Outlines: one row of figures for each conversation, by which lists sort and filter."""

from collections.abc import Iterable

from .. import domains
from ..domain import shortened
from ..formats.dialogues import further
from ..records import Conversation, Message, Record


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
    tokens: int | None
    """Tokens of all calls, including rejected drafts; None if no call is recorded."""


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
        tokens=conversation.usage.tokens if conversation.usage.calls else None,
    )


FIGURES = ("exchanges", "messages", "rejected", "coverage", "refused", "characters", "tokens")
"""The numeric fields of an outline, in order."""


def means(rows: Iterable[Outline]) -> dict[str, float | None]:
    """Mean of each figure over the conversations that have it; None if none has."""
    outlines = list(rows)
    columns = {name: [value for row in outlines if (value := getattr(row, name)) is not None] for name in FIGURES}
    return {name: sum(values) / len(values) if values else None for name, values in columns.items()}
