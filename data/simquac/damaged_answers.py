"""Repair of answers that the published script damaged, as far as the section shows the damage.

The script's overlap test loses the first word of every exact copy. If an answer begins at the second word of a
sentence, the repair adds the sentence's first word; other answers are not changed. An undamaged answer that begins at
a second word is changed too. People write such answers now and then (measured in `docs/research/as_released.md`), so the repair
is meant for a model's answers.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from ..records import Conversation, Message, Record, Span
from ..text.token_search import SearchWork, token_index
from .dataset_checks import before_first_word
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
    repaired, changes = [], []
    for conversation in conversations:
        section = Topic.of(conversation).section
        messages = []
        for number, message in enumerate(conversation.messages):
            spans = []
            for position, span in enumerate(message.spans):
                for kind, repaired_span in _steps(span, section):
                    changes.append(
                        Change(
                            conversation=conversation.id,
                            message=number,
                            span=position,
                            kind=kind,
                            before=span,
                            after=repaired_span,
                        )
                    )
                    span = repaired_span
                spans.append(span)
            messages.append(_with(message, tuple(spans)))
        repaired.append(conversation.model_copy(update={"messages": tuple(messages)}))
    return repaired, changes


def _steps(span: Span, section: str) -> Iterable[tuple[RepairKind, Span]]:
    """The kind and result of each change of a span, in order."""
    text_at_offset = section[span.start : span.end]
    if text_at_offset.casefold() != span.text.casefold():
        section_index, work = token_index(section), SearchWork.over(section, span.text)
        match = section_index.find(span.text, 0, work)
        if match is None or section_index.find(span.text, match.end, work) != match:  # nowhere, or in several places
            return
        yield "offset", match
        span = match
    elif text_at_offset != span.text:
        span = Span(text=text_at_offset, start=span.start)
        yield "case", span
    start = before_first_word(section, span.start)
    if start is not None:
        yield "first_word", Span(text=section[start : span.end], start=start)


def _with(message: Message, spans: tuple[Span, ...]) -> Message:
    if spans == message.spans:
        return message
    return message.model_copy(update={"spans": spans, "text": "\n".join(span.text for span in spans)})
