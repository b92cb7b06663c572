"""A conversation in a row of figures: what a list of conversations sorts and filters by."""

from collections.abc import Iterable

from .grounding import gives_no_answer
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
    """Messages of the assistant that give no answer; None without a section."""
    characters: int
    """Length of all messages, in Python characters."""
    tokens: int | None
    """What all calls cost, drafts included; None for what no model of ours said."""


def coverage(conversation: Conversation) -> float:
    """Share of the section's characters that stand in a span of an answer, 0 to 1."""
    section = str(conversation.scenario.get("section", ""))
    covered = {
        place
        for message in conversation.messages
        for span in message.spans
        for place in range(max(0, span.start), min(len(section), span.end))
    }
    return len(covered) / len(section) if section else 0.0


def title_of(conversation: Conversation) -> str:
    """What a conversation is about, in a few words: the title, the task's first words, or its id."""
    about = conversation.scenario
    told = about.get("title") or about.get("task_context") or about.get("task")
    if not isinstance(told, str) or not told.strip():
        return f"Conversation {conversation.id}"
    line = " ".join(told.split())
    return line if about.get("title") or len(line) <= TITLE else line[: TITLE - 1].rsplit(" ", 1)[0] + "…"


TITLE = 80
"""Most characters of a title that is made of a longer text."""


def outline(conversation: Conversation) -> Outline:
    """The conversation's row."""
    about = conversation.scenario
    said = conversation.messages
    topic = about.get("header") or about.get("task")
    section = isinstance(about.get("section"), str)
    return Outline(
        id=conversation.id,
        title=title_of(conversation),
        topic=topic if isinstance(topic, str) else "",
        kind=str(about.get("kind", "")),
        stop=conversation.stop or "not told",
        exchanges=len(conversation.exchanges),
        messages=len(said),
        rejected=sum(attempt.verdict == "rejected" for attempt in conversation.attempts()),
        coverage=coverage(conversation) if section else None,
        refused=sum(message.role == "assistant" and gives_no_answer(message) for message in said) if section else None,
        characters=sum(len(message.text) for message in said),
        tokens=conversation.usage.tokens if conversation.usage.calls else None,
    )


FIGURES = ("exchanges", "messages", "rejected", "coverage", "refused", "characters", "tokens")
"""The outline's figures, in its order."""


def means(rows: Iterable[Outline]) -> dict[str, float | None]:
    """Mean of each figure over the conversations that have it; None where none has."""
    found = list(rows)
    known = {name: [value for row in found if (value := getattr(row, name)) is not None] for name in FIGURES}
    return {name: sum(values) / len(values) if values else None for name, values in known.items()}
