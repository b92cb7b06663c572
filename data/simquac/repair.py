"""Undoing what the published script did to its answers, where the section shows it.

The script's overlap test loses the first word of every exact copy. Where an answer begins at the second word
of a sentence, the word that was lost is taken to be the first of that sentence; elsewhere the answer is left as
it is. A sound answer that begins there is taken for a damaged one: people's do so now and then (measured in
`docs/as_released.md`), so the repair is for a model's answers.
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
    """The conversations with mended spans, and every change. A span without a sign of damage is left alone.

    A sound span that begins at the second word of a sentence is changed too: see `by_people` for files to spare.
    """
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
    text_there = section[span.start : span.end]
    if text_there.casefold() != span.text.casefold():
        source, work = token_index(section), Work.over(section, span.text)
        match = source.find(span.text, 0, work)
        if match is None or source.find(span.text, match.end, work) != match:  # nowhere, or in several places
            return
        yield "offset", match
        span = match
    elif text_there != span.text:
        span = Span(text=text_there, start=span.start)
        yield "case", span
    start = before_first_word(section, span.start)
    if start is not None:
        yield "first_word", Span(text=section[start : span.end], start=start)


def _with(message: Message, spans: tuple[Span, ...]) -> Message:
    if spans == message.spans:
        return message
    return message.model_copy(update={"spans": spans, "text": "\n".join(span.text for span in spans)})
