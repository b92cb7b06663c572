"""The domain of teacher-student conversations about a section of a document, and their rules for `check`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from ..domains import Dataset, Domain, Material, labelled
from ..formats.source import Format
from ..grounding import gives_no_answer, ground, token_count
from ..records import Conversation, Message, Span
from ..rules.guards import is_repeat
from ..rules.linter import Reasons, Rule, quoted
from ..text.languages import says_something
from . import dataset, rows, topics
from .dataset import before_first_word
from .topics import FIELDS, KIND

ANSWER_TOKENS = 40
"""Longest answer that teachers are asked for, in tokens ("Let the LLMs Talk", section 2.3)."""

QUESTION_WORDS = 25
"""Most words of a question, split at white space (section 2.4)."""

QuestionReason: TypeAlias = Literal["empty", "enumeration", "newline", "too_long", "several_questions", "asked_again"]

_ITEM = re.compile(r"\(?\d{1,2}[.):](?!\d)\s*\S|\d{1,2}、|[①-⑳]|\(?[A-Za-z]\)\s|[-*•–]\s+\S")
_MARKERS = (("1", "2"), ("a", "b"), ("A", "B"), ("i", "ii"), ("I", "II"))
_INLINE_ITEMS = re.compile(
    "|".join(
        rf"(?:^|[?.!:;。？！：；])\s*\(?{first}[.):、]\s*\S[^\n]*?(?:[\s?.!;,。？！；，])\(?{second}[.):、]\s*\S"
        for first, second in _MARKERS
    )
    + "|①.*②",
    re.DOTALL,
)


def _section(conversation: Conversation) -> str:
    return str(conversation.scenario.get("section", ""))


def _answers(conversation: Conversation) -> Iterator[tuple[int, Message]]:
    return ((number, message) for number, message in enumerate(conversation.messages) if message.role == "assistant")


def _of_spans(reason: Callable[[Span, str, str], str]) -> Callable[[Conversation], Reasons]:
    """The rule that gives a reason for a span, from the text at its offset and the section; empty for none."""

    def find(conversation: Conversation) -> Reasons:
        section = _section(conversation)
        for number, message in _answers(conversation):
            for span in message.spans:
                if found := reason(span, section[span.start : span.end], section):
                    yield number, found

    return find


def _not_slice(span: Span, there: str, section: str) -> str:
    differs = span.text.casefold() != there.casefold()
    return f"at {span.start} stands {quoted(there)}, not {quoted(span.text)}" if differs else ""


def _case(span: Span, there: str, section: str) -> str:
    differs = span.text != there and span.text.casefold() == there.casefold()
    return f"at {span.start} stands {quoted(there)}, the case of {quoted(span.text)} differs" if differs else ""


def _second_word(span: Span, there: str, section: str) -> str:
    start = before_first_word(section, span.start)
    if start is None:
        return ""
    first = section[start : span.start].strip()
    return f"{quoted(span.text)} begins behind {quoted(first)}, the first word of its sentence"


def _ungrounded(conversation: Conversation) -> Reasons:
    section, background = _section(conversation), str(conversation.scenario.get("background", ""))
    for number, message in _answers(conversation):
        if message.spans or gives_no_answer(message):
            continue
        grounding = ground(message.text, section, background)
        if not grounding.valid and grounding.reason != "empty":
            failed = grounding.failed[0] if grounding.failed else message.text
            yield number, f"{str(grounding.reason).replace('_', ' ')}: {quoted(failed)}"


def _empty(conversation: Conversation) -> Reasons:
    for number, message in _answers(conversation):
        empty = [span.text for span in message.spans if not says_something(span.text)]
        if empty:
            yield number, f"the span {quoted(empty[0])} has no letter or digit"
        elif not message.spans and not says_something(message.text) and not message.parts:
            yield number, f"the answer {quoted(message.text)} has no letter or digit"


def _long(conversation: Conversation) -> Reasons:
    for number, message in _answers(conversation):
        if (tokens := token_count(message.text)) > ANSWER_TOKENS:
            yield number, f"{tokens} tokens (words and punctuation marks), {ANSWER_TOKENS} are asked for"


def question_reasons(
    question: str, *, words: int = QUESTION_WORDS, earlier: Iterable[str] = ()
) -> tuple[QuestionReason, ...]:
    """All reasons to reject a question, the worst first; empty without any."""
    if not says_something(question):
        return ("empty",)
    reasons: list[QuestionReason] = []
    if is_enumeration(question):
        reasons.append("enumeration")
    if "\n" in question or "\r" in question:
        reasons.append("newline")
    if len(question.split()) > words:
        reasons.append("too_long")
    if sum(question.count(mark) for mark in "?？") > 1:
        reasons.append("several_questions")
    if is_repeat(question, earlier):
        reasons.append("asked_again")
    return tuple(reasons)


def is_enumeration(text: str) -> bool:
    """Whether the text is, or holds, a list of numbered, lettered or bulleted items."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # The search for items within one line is quadratic, so it is limited to a length that a question could have.
    return any(_ITEM.match(line) for line in lines) or _INLINE_ITEMS.search(text[:2_000]) is not None


def _question(reason: QuestionReason) -> Callable[[Conversation], Reasons]:

    def find(conversation: Conversation) -> Reasons:
        earlier: list[str] = []
        for number, message in enumerate(conversation.messages):
            # An image alone breaks no rule for words.
            if message.role == "user" and (message.text.strip() or not message.parts):
                if reason in question_reasons(message.text, earlier=earlier):
                    yield number, f"{reason.replace('_', ' ')}: {quoted(message.text)}"
                earlier.append(message.text)

    return find


RULES: Mapping[str, Rule] = {
    "span-not-slice": Rule("error", "a span that is not the section's text at its offset", _of_spans(_not_slice)),
    "span-case": Rule("error", "a span that differs from the section's text only in case", _of_spans(_case)),
    "span-second-word": Rule("warning", "a span that begins at the second word of a sentence", _of_spans(_second_word)),
    "answer-ungrounded": Rule("error", "an answer that is neither a refusal nor made of the section", _ungrounded),
    "answer-empty": Rule("error", "an answer, or a span of one, without a letter or digit", _empty),
    "answer-long": Rule("warning", "an answer over the 40 tokens that teachers are asked for", _long),
    "question-empty": Rule("error", "a question without a letter or digit", _question("empty")),
    "question-long": Rule("error", "a question over 25 words", _question("too_long")),
    "question-lines": Rule("error", "a question of several lines", _question("newline")),
    "question-list": Rule("error", "an enumeration in place of a question", _question("enumeration")),
    "question-several": Rule("warning", "several questions in one", _question("several_questions")),
    "question-again": Rule("warning", "a question that was asked before in the conversation", _question("asked_again")),
}
"""Each rule by its id."""


class SimQuAC(Domain):
    """A student asks about a section that only the teacher sees ("Let the LLMs Talk", WSDM 2024)."""

    kind = KIND
    formats = (
        Format("teacher", "teacher topics", topics.is_topic_file, topics.read_topic_file),
        Format("simquac", "SimQuAC or QuAC JSON", dataset.is_dataset, dataset.read),
        *rows.FORMATS,
        Format("topics", "JSON lines of topics", topics.are_topics, topics.no_conversations),
    )
    dataset = Dataset(
        "simquac.json",
        "the conversations in SimQuAC's format (SQuAD-style JSON)",
        dataset.write,
        attribution="Where the topics are QuAC's or SimQuAC's: their sections come from Wikipedia by way of QuAC (CC BY-SA 4.0).",
    )
    rules = RULES

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        section, background = scenario.get("section"), scenario.get("background")
        pieces = []
        if isinstance(section, str):
            pieces.append(Material("Section", section, source=True))
        if isinstance(background, str) and background:
            pieces.append(Material("Background", background, folded=True))
        return (*pieces, *labelled(scenario, [key for key in scenario if key not in ("kind", "digest", *FIELDS)]))

    def refuses(self, message: Message) -> bool:
        return gives_no_answer(message)


DOMAIN = SimQuAC()
