"""A conversation in a row of figures: what a list of conversations sorts and filters by."""

from collections.abc import Iterable

from . import domains
from .records import Conversation, Record


class Outline(Record):
    """One conversation, in one line."""

    id: str
    title: str
    """What it is about, in a few words."""
    topic: str
    """The header of the section or the task, where there is one."""
    kind: str
    """Kind of its scenario."""
    stop: str
    """Why it ended, or `not told`."""
    exchanges: int
    messages: int
    rejected: int
    """Drafts that did not pass."""
    coverage: float | None
    """Share of the section in the answers' spans, 0 to 1; None without a section."""
    refused: int | None
    """Messages of the assistant that give no answer; None where its domain has no refusals."""
    characters: int
    """Length of all messages, in Python characters."""
    tokens: int | None
    """What all calls cost, drafts included; None for what no model of ours said."""


def coverage(conversation: Conversation) -> float:
    """Share of the section's characters that stand in a span of an answer, 0 to 1; 0 without a section."""
    section = domains.of(conversation).source_text(conversation.scenario) or ""
    covered = {
        offset
        for message in conversation.messages
        for span in message.spans
        for offset in range(max(0, span.start), min(len(section), span.end))
    }
    return len(covered) / len(section) if section else 0.0


def title_of(conversation: Conversation) -> str:
    """What a conversation is about, in a few words: its domain's title, or its id."""
    return domains.of(conversation).title(conversation.scenario) or f"Conversation {conversation.id}"


def outline(conversation: Conversation) -> Outline:
    """The conversation's row."""
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
"""The outline's figures, in its order."""


def means(rows: Iterable[Outline]) -> dict[str, float | None]:
    """Mean of each figure over the conversations that have it; None where none has."""
    outlines = list(rows)
    known = {name: [value for row in outlines if (value := getattr(row, name)) is not None] for name in FIGURES}
    return {name: sum(values) / len(values) if values else None for name, values in known.items()}
