"""Undoing what the published script did to its answers, where that can be known.

The script's overlap test loses the first word of every exact copy. Where an answer begins at the second word
of a sentence, the word that was lost is the first of that sentence; elsewhere the answer is left as it is.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from ..records import Conversation, Message, Record, Span
from ..text.tokens import Work, token_index
from .checks import before_first_word
from .topics import Topic

Kind: TypeAlias = Literal["offset", "case", "first_word"]


class Change(Record):
    """One thing that was mended in a span."""

    conversation: str
    message: int
    span: int
    kind: Kind
    before: Span
    after: Span


def repair(conversations: Iterable[Conversation]) -> tuple[list[Conversation], list[Change]]:
    """The conversations with mended spans, and every change. What is not certain is left alone."""
    mended, changes = [], []
    for conversation in conversations:
        section = Topic.of(conversation).section
        messages = []
        for number, message in enumerate(conversation.messages):
            spans = []
            for position, span in enumerate(message.spans):
                for kind, better in _steps(span, section):
                    changes.append(
                        Change(
                            conversation=conversation.id,
                            message=number,
                            span=position,
                            kind=kind,
                            before=span,
                            after=better,
                        )
                    )
                    span = better
                spans.append(span)
            messages.append(_with(message, tuple(spans)))
        mended.append(conversation.model_copy(update={"messages": tuple(messages)}))
    return mended, changes


def _steps(span: Span, section: str) -> Iterable[tuple[Kind, Span]]:
    """What is to be mended in a span, one step after the other."""
    at_offset = section[span.start : span.end]
    if at_offset.casefold() != span.text.casefold():
        source, work = token_index(section), Work.over(section, span.text)
        only = source.find(span.text, 0, work)
        if only is None or source.find(span.text, only.end, work) != only:  # nowhere, or who knows where
            return
        yield "offset", only
        span = only
    elif at_offset != span.text:
        span = Span(text=at_offset, start=span.start)
        yield "case", span
    start = before_first_word(section, span.start)
    if start is not None:
        yield "first_word", Span(text=section[start : span.end], start=start)


def _with(message: Message, spans: tuple[Span, ...]) -> Message:
    if spans == message.spans:
        return message
    return message.model_copy(update={"spans": spans, "text": "\n".join(span.text for span in spans)})
