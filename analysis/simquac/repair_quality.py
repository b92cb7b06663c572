"""How many damaged answers a repair brings back, and how many sound ones it spoils."""

from collections.abc import Iterable

from ...data.records import Conversation, Message, Record, Span
from ...data.simquac import released
from ...data.simquac.damaged_answers import repair


class RepairQuality(Record):
    """A repair, measured on answers with their sound form."""

    spans: int
    """Sound spans, each the section's own slice."""
    damaged: int
    """Those that the published rule alters."""
    restored: int
    """Damaged ones of which the repair brings back every word. Punctuation at the ends, which the script takes off
    too, does not count."""
    left: int
    """Damaged ones that it leaves as they are."""
    changed_otherwise: int
    """Damaged ones that it changes into something else than the sound form."""
    spoiled: int
    """Sound ones, never damaged, that it changes."""


def measure_repair(conversations: Iterable[Conversation]) -> RepairQuality:
    """Damage every sound span by the published rule, repair it, and compare; and repair the sound ones too."""
    spans = damaged = restored = left = otherwise = spoiled = 0
    for conversation in conversations:
        section = str(conversation.scenario["section"])
        sound = [s for m in conversation.messages for s in m.spans if section[s.start : s.end] == s.text]
        spans += len(sound)
        for span, again in zip(sound, _repaired(conversation, sound), strict=True):
            spoiled += span != again
        hurt = [(span, bad) for span in sound if (bad := _damaged(span, section)) is not None]
        damaged += len(hurt)
        for (span, bad), again in zip(hurt, _repaired(conversation, [bad for _, bad in hurt]), strict=True):
            if _bare(again) == _bare(span):
                restored += 1
            elif again == bad:
                left += 1
            else:
                otherwise += 1
    return RepairQuality(
        spans=spans, damaged=damaged, restored=restored, left=left, changed_otherwise=otherwise, spoiled=spoiled
    )


def _bare(span: Span) -> str:
    return span.text.strip().strip(released.PUNCTUATION)


def _damaged(span: Span, section: str) -> Span | None:
    """The rest that the published rule leaves of a span, at its own place."""
    text = _bare(span)
    rest = released.overlap(text, section)
    if rest is None or rest.text == span.text:
        return None
    start = span.start + span.text.find(rest.text)
    return Span(text=section[start : start + len(rest.text)], start=start)


def _repaired(conversation: Conversation, spans: list[Span]) -> list[Span]:
    messages = tuple(Message(role="assistant", text=span.text, spans=(span,)) for span in spans)
    ((mended,), _) = repair([conversation.model_copy(update={"messages": messages})])
    return [message.spans[0] for message in mended.messages]
