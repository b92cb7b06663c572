"""Repair of answers that the published script damaged, as far as the section shows the damage.

The script's overlap test loses the first word of every exact copy. If an answer begins at the second word of a
sentence, the repair adds the sentence's first word; other answers are not changed. People write such answers now and
then (measured in `docs/research/as_released.md`), so the repair is meant for a model's answers.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, TypeAlias

from ..grounding import token_index
from ..records import Conversation, Record, Span
from ..text.sentence_splitting import sentences
from .topics import Topic

RepairKind: TypeAlias = Literal["offset", "case", "first_word"]


class Change(Record):
    """One change of a span."""

    conversation: str
    message: int
    span: int
    kind: RepairKind
    before: Span
    after: Span


def repair(conversations: Iterable[Conversation]) -> tuple[list[Conversation], list[Change]]:
    """The conversations with repaired spans, and every change.

    A span without a sign of damage is not changed. An undamaged span that begins at the second word of a sentence is
    changed too: do not repair files of which `by_people` is true.
    """
    repaired: list[Conversation] = []
    changes: list[Change] = []
    for conversation in conversations:
        section = Topic.of(conversation).section
        messages = list(conversation.messages)
        for number, message in enumerate(messages):
            spans = list(message.spans)
            for position, span in enumerate(message.spans):
                where = {"conversation": conversation.id, "message": number, "span": position}
                for kind, after in _steps(span, section):
                    changes.append(
                        Change.model_validate({**where, "kind": kind, "before": spans[position], "after": after})
                    )
                    spans[position] = after
            if tuple(spans) != message.spans:
                text = "\n".join(span.text for span in spans)
                messages[number] = message.model_copy(update={"spans": tuple(spans), "text": text})
        repaired.append(conversation.model_copy(update={"messages": tuple(messages)}))
    return repaired, changes


def _steps(span: Span, section: str) -> Iterable[tuple[RepairKind, Span]]:
    """The kind and result of each change of a span, in order."""
    text_at_offset = section[span.start : span.end]
    if text_at_offset.casefold() != span.text.casefold():
        section_index = token_index(section)
        match = section_index.find(span.text)
        if match is None or section_index.find(span.text, match.end) != match:  # nowhere, or in several places
            return
        yield "offset", match
        span = match
    elif text_at_offset != span.text:
        span = Span(text=text_at_offset, start=span.start)
        yield "case", span
    start = before_first_word(section, span.start)
    if start is not None:
        yield "first_word", Span(text=section[start : span.end], start=start)


def before_first_word(section: str, start: int) -> int | None:
    """The start of the sentence whose second word begins at the offset; None if no second word begins there."""
    earlier_starts = [offset for offset in _sentence_starts(section) if offset < start]
    if not earlier_starts:
        return None
    before = section[earlier_starts[-1] : start]
    return earlier_starts[-1] if len(before.split()) == 1 and before[-1].isspace() else None


@lru_cache(maxsize=64)
def _sentence_starts(section: str) -> tuple[int, ...]:
    starts, search_from = [], 0
    for sentence in sentences(section):
        start = section.find(sentence, search_from)
        if start >= 0:
            starts.append(start)
            search_from = start + len(sentence)
    return tuple(starts)
