"""The rules of teacher-student conversations."""

import re
from collections.abc import Callable, Iterator, Mapping

from ..grounding import gives_no_answer, ground, token_count
from ..records import Conversation, Message, Span
from ..rules.linter import Reasons, Rule, quoted
from ..rules.questions import QuestionReason, question_reasons
from ..text.languages import says_something
from .repair import before_first_word

ANSWER_TOKENS = 40
"""Longest answer that teachers are asked for, in tokens ("Let the LLMs Talk", section 2.3)."""

_SUFFIX = re.compile(
    r"\((?:tell|give|show) me[^()]*\)|\bmax(?:imum)?\s+(?:number\s+)?(?:of\s+)?(?:two|2)\s+segments?\b", re.IGNORECASE
)
_INSTRUCTION = re.compile(
    r"\[\s*system\s*\]|</?note>|\bask your next question\b|\bas an? (?:ai|language) (?:language )?model\b"
    r"|\bcopy (?:the )?(?:answer|exact segment)\b|\bfrom the given text\b",
    re.IGNORECASE,
)


def _answers(conversation: Conversation) -> Iterator[tuple[int, Message]]:
    return ((number, message) for number, message in enumerate(conversation.messages) if message.role == "assistant")


def _section(conversation: Conversation) -> str:
    return str(conversation.scenario["section"])


def _spans(conversation: Conversation) -> Iterator[tuple[int, Span, str]]:
    """For each span: the number of its message, the span, and the section's text at its offsets."""
    section = _section(conversation)
    for number, message in _answers(conversation):
        for span in message.spans:
            yield number, span, section[span.start : span.end]


def span_not_slice(conversation: Conversation) -> Reasons:
    for number, span, at_offset in _spans(conversation):
        if span.text.casefold() != at_offset.casefold():
            yield number, f"at {span.start} stands {quoted(at_offset)}, not {quoted(span.text)}"


def span_case(conversation: Conversation) -> Reasons:
    for number, span, at_offset in _spans(conversation):
        if span.text != at_offset and span.text.casefold() == at_offset.casefold():
            yield number, f"at {span.start} stands {quoted(at_offset)}, the case of {quoted(span.text)} differs"


def span_second_word(conversation: Conversation) -> Reasons:
    section = _section(conversation)
    for number, span, _ in _spans(conversation):
        start = before_first_word(section, span.start)
        if start is not None:
            yield (
                number,
                f"{quoted(span.text)} begins behind {quoted(section[start : span.start].strip())}, the first word of its sentence",
            )


def answer_ungrounded(conversation: Conversation) -> Reasons:
    section, background = _section(conversation), str(conversation.scenario.get("background", ""))
    for number, message in _answers(conversation):
        if message.spans or gives_no_answer(message):
            continue
        grounding = ground(message.text, section, background)
        if not grounding.valid and grounding.reason != "empty":
            failed = grounding.failed[0] if grounding.failed else message.text
            yield number, f"{str(grounding.reason).replace('_', ' ')}: {quoted(failed)}"


def answer_empty(conversation: Conversation) -> Reasons:
    for number, message in _answers(conversation):
        empty = [span.text for span in message.spans if not says_something(span.text)]
        if empty:
            yield number, f"the span {quoted(empty[0])} has no letter or digit"
        elif not message.spans and not says_something(message.text) and not message.parts:
            yield number, f"the answer {quoted(message.text)} has no letter or digit"


def answer_long(conversation: Conversation) -> Reasons:
    for number, message in _answers(conversation):
        tokens = token_count(message.text)
        if tokens > ANSWER_TOKENS:
            yield number, f"{tokens} tokens (words and punctuation marks), {ANSWER_TOKENS} are asked for"


def question(reason: QuestionReason) -> Callable[[Conversation], Reasons]:
    """The rule that finds questions with one of the question validator's reasons."""

    def find(conversation: Conversation) -> Reasons:
        earlier: list[str] = []
        for number, message in enumerate(conversation.messages):
            if message.role == "user":
                if message.parts and not message.text.strip():
                    continue  # an image alone breaks no rule for words
                if reason in question_reasons(message.text, earlier=earlier):
                    yield number, f"{reason.replace('_', ' ')}: {quoted(message.text)}"
                earlier.append(message.text)

    return find


def leaked_instruction(conversation: Conversation) -> Reasons:
    yield from _matches(conversation, _INSTRUCTION)


def leaked_suffix(conversation: Conversation) -> Reasons:
    yield from _matches(conversation, _SUFFIX, "user")


def _matches(conversation: Conversation, pattern: re.Pattern[str], role: str | None = None) -> Reasons:
    for number, message in enumerate(conversation.messages):
        leak = pattern.search(message.text)
        # Words that are also in the section were copied from it, not leaked.
        if leak and role in (None, message.role) and leak.group() not in _section(conversation):
            yield number, f"{quoted(leak.group())} in {quoted(message.text)}"


RULES: Mapping[str, Rule] = {
    "span-not-slice": Rule("error", "a span that is not the section's text at its offset", span_not_slice),
    "span-case": Rule("error", "a span that differs from the section's text only in case", span_case),
    "span-second-word": Rule("warning", "a span that begins at the second word of a sentence", span_second_word),
    "answer-ungrounded": Rule(
        "error", "an answer that is neither a refusal nor made of the section", answer_ungrounded
    ),
    "answer-empty": Rule("error", "an answer, or a span of one, without a letter or digit", answer_empty),
    "answer-long": Rule("warning", "an answer over the 40 tokens that teachers are asked for", answer_long),
    "question-empty": Rule("error", "a question without a letter or digit", question("empty")),
    "question-long": Rule("error", "a question over 25 words", question("too_long")),
    "question-lines": Rule("error", "a question of several lines", question("newline")),
    "question-list": Rule("error", "an enumeration in place of a question", question("enumeration")),
    "question-several": Rule("warning", "several questions in one", question("several_questions")),
    "question-again": Rule("warning", "a question that was asked before in the conversation", question("asked_again")),
    "leaked-instruction": Rule("error", "words of an instruction in a message", leaked_instruction),
    "leaked-suffix": Rule("error", "a hint for the other side left in a question", leaked_suffix),
}
"""Each rule by its id."""
