"""The rules of teacher-student conversations."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from ..grounding import gives_no_answer, ground
from ..records import Conversation, Message, Span
from ..text.sentences import sentences
from ..text.tokens import token_count
from .found import Found, shown
from .questions import QuestionReason, question_reasons

ANSWER_TOKENS = 40
"""Length of an answer that teachers are asked for ("Let the LLMs Talk", section 2.3)."""

_SUFFIX = re.compile(
    r"\((?:tell|give|show) me[^()]*\)|\bmax(?:imum)?\s+(?:number\s+)?(?:of\s+)?(?:two|2)\s+segments?\b", re.IGNORECASE
)
_INSTRUCTION = re.compile(
    r"\[\s*system\s*\]|</?note>|\bask your next question\b|\bas an? (?:ai|language) (?:language )?model\b"
    r"|\bcopy (?:the )?(?:answer|exact segment)\b|\bfrom the given text\b",
    re.IGNORECASE,
)


def _answers(conversation: Conversation) -> Iterator[tuple[int, Message]]:
    return ((n, m) for n, m in enumerate(conversation.messages) if m.role == "assistant")


def _section(conversation: Conversation) -> str:
    return str(conversation.scenario["section"])


def _spans(conversation: Conversation) -> Iterator[tuple[int, Span, str]]:
    """Number of the message, span, and the section's text at its place."""
    section = _section(conversation)
    for number, message in _answers(conversation):
        for span in message.spans:
            yield number, span, section[span.start : span.end]


def span_not_slice(conversation: Conversation) -> Found:
    for number, span, there in _spans(conversation):
        if span.text.casefold() != there.casefold():
            yield number, f"at {span.start} stands {shown(there)}, not {shown(span.text)}"


def span_case(conversation: Conversation) -> Found:
    for number, span, there in _spans(conversation):
        if span.text != there and span.text.casefold() == there.casefold():
            yield number, f"at {span.start} stands {shown(there)}, the case of {shown(span.text)} differs"


def span_second_word(conversation: Conversation) -> Found:
    section = _section(conversation)
    for number, span, _ in _spans(conversation):
        start = before_first_word(section, span.start)
        if start is not None:
            yield (
                number,
                f"{shown(span.text)} begins behind {shown(section[start : span.start].strip())}, the first word of its sentence",
            )


def before_first_word(section: str, start: int) -> int | None:
    """Where the sentence begins whose second word stands at the offset; None if no second word does."""
    begins = [offset for offset in sentence_starts(section) if offset < start]
    if not begins:
        return None
    before = section[begins[-1] : start]
    return begins[-1] if len(before.split()) == 1 and before[-1].isspace() else None


@lru_cache(maxsize=64)
def sentence_starts(section: str) -> tuple[int, ...]:
    """Offset of the first character of each sentence."""
    starts, behind = [], 0
    for sentence in sentences(section):
        at = section.find(sentence, behind)
        if at >= 0:
            starts.append(at)
            behind = at + len(sentence)
    return tuple(starts)


def answer_ungrounded(conversation: Conversation) -> Found:
    section, background = _section(conversation), str(conversation.scenario.get("background", ""))
    for number, message in _answers(conversation):
        if message.spans or gives_no_answer(message):
            continue
        found = ground(message.text, section, background)
        if not found.valid and found.reason != "empty":
            yield (
                number,
                f"{str(found.reason).replace('_', ' ')}: {shown(found.failed[0] if found.failed else message.text)}",
            )


def answer_empty(conversation: Conversation) -> Found:
    for number, message in _answers(conversation):
        empty = [span.text for span in message.spans if not _says_something(span.text)]
        if empty:
            yield number, f"the span {shown(empty[0])} has no letter or digit"
        elif not message.spans and not _says_something(message.text):
            yield number, f"the answer {shown(message.text)} has no letter or digit"


def answer_long(conversation: Conversation) -> Found:
    for number, message in _answers(conversation):
        tokens = token_count(message.text)
        if tokens > ANSWER_TOKENS:
            yield number, f"{tokens} tokens (words and punctuation marks), {ANSWER_TOKENS} are asked for"


def question(reason: QuestionReason) -> Callable[[Conversation], Found]:
    """The rule that finds questions with one of the question validator's reasons."""

    def find(conversation: Conversation) -> Found:
        earlier: list[str] = []
        for number, message in enumerate(conversation.messages):
            if message.role == "user":
                if reason in question_reasons(message.text, earlier=earlier):
                    yield number, f"{reason.replace('_', ' ')}: {shown(message.text)}"
                earlier.append(message.text)

    return find


def leaked_instruction(conversation: Conversation) -> Found:
    yield from _matches(conversation, _INSTRUCTION)


def leaked_suffix(conversation: Conversation) -> Found:
    yield from _matches(conversation, _SUFFIX, "user")


def _matches(conversation: Conversation, pattern: re.Pattern[str], role: str | None = None) -> Found:
    for number, message in enumerate(conversation.messages):
        found = pattern.search(message.text)
        # An instruction that stands in the section was copied, not leaked.
        if found and role in (None, message.role) and found.group() not in _section(conversation):
            yield number, f"{shown(found.group())} in {shown(message.text)}"


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)
