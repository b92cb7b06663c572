r"""Where in the section an answer stands: exact spans, or the reason why not.

"Let the LLMs Talk" (WSDM 2024), section 2.5, asks that a teacher's answer be copied from the section.
The search itself is `TokenIndex.find`: by tokens, in linear time. A word is what Python's `\w+` is; each character of
a script without spaces is one.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .records import Message, Span
from .text.sentences import sentences
from .text.tokens import Work, token_index

NO_ANSWER = "I cannot find the answer."
"""What a teacher says who does not find the answer: a constant of the published method."""

MARKER = "CANNOTANSWER"
"""What stands behind every context of the data set, and for an answer that it lacks (QuAC)."""

Reason: TypeAlias = Literal["empty", "not_in_section", "in_background", "partly"]

_APOSTROPHE = "['’]"
_REFUSAL = re.compile(
    rf"(?:(?:i{_APOSTROPHE}m|i am)?\s*(?:very\s+)?(?:sorry|apologi[sz]e)|apologies|unfortunately)?[,.!;:]?\s*(?:but\s+)?"
    rf"i\s+(?:cannot|can\s*not|can{_APOSTROPHE}t|could\s*not|couldn{_APOSTROPHE}t|(?:am|was)\s+(?:not\s+able|unable)\s+to)"
    r"\s+find\s+(?:the|an|any)\s+answers?"
    r"(?:\s+to\s+(?:the|this|that|your)\s+question)?"
    r"(?:\s+(?:in|from)\s+(?:the|this)\s+(?:given\s+|provided\s+)?(?:text|section|passage|document))?",
    re.IGNORECASE,
)

MOST_FAILED = 100
"""Parts that are named as not found; an answer with more is not read further."""


@dataclass(frozen=True)
class Grounding:
    """What is known of an answer: its spans, a refusal, or the reason why it is not valid."""

    spans: tuple[Span, ...] = ()
    """One span a part, in the answer's order, each the section's own slice."""
    refused: bool = False
    reason: Reason | None = None
    """None if valid: grounded in the section, or a refusal."""
    failed: tuple[str, ...] = ()
    """The parts of the answer that were not found in the section."""

    @property
    def valid(self) -> bool:
        """Whether the whole answer was found in the section."""
        return self.reason is None


def is_refusal(text: str) -> bool:
    """Whether the whole text says that there is no answer, in any case: not "I", not "the answer"."""
    core = text.strip().strip("\"'“”‘’.!… \n\t")
    return core.upper() == MARKER or (len(core) < 200 and _REFUSAL.fullmatch(core) is not None)


def gives_no_answer(message: Message) -> bool:
    """Whether an assistant's message is a refusal: the declared words without a span, or nothing at all."""
    return not message.spans and (not message.text or message.text.startswith(NO_ANSWER) or is_refusal(message.text))


def ground(answer: str, section: str, background: str = "") -> Grounding:
    """The spans of the section that an answer is made of.

    The answer is tried as a refusal, as one piece of the section, line by line, and a line that fails
    sentence by sentence. Each part that is found is one span; sentences of one line that touch in the
    section are one. A part that is not found makes the answer invalid. White space and case are
    ignored, and at a part's edges punctuation (brackets excepted); an answer may leave out a balanced
    (...) or [...] of the section. Of several places one with the same case is preferred, then the first
    behind the previous span, then the first.
    """
    if is_refusal(answer):
        return Grounding(refused=True)
    if not _says_something(answer):
        return Grounding(reason="empty", failed=(answer,) if answer.strip() else ())
    source, work = token_index(section), Work.over(section, answer)
    whole = source.find(answer, 0, work)
    if whole is not None:
        return Grounding(spans=(whole,))
    spans: list[Span] = []
    failed: list[str] = []
    behind = 0
    for line in filter(_says_something, answer.split("\n")):
        span = source.find(line, behind, work)
        if span is not None:
            spans.append(span)
            behind = span.end
            continue
        of_line: list[Span] = []
        for part in filter(_says_something, sentences(line)):
            span = source.find(part, behind, work)
            if span is None:
                failed.append(part)
                if len(failed) == MOST_FAILED:
                    return Grounding(reason="partly" if spans or of_line else "not_in_section", failed=tuple(failed))
                continue
            if of_line and source.touch(of_line[-1].end, span.start):
                of_line[-1] = source.slice(of_line[-1].start, span.end)
            else:
                of_line.append(span)
            behind = span.end
        spans.extend(of_line)
    if not failed:
        return Grounding(spans=tuple(spans))
    return Grounding(reason=_reason(bool(spans), failed, answer, background), failed=tuple(failed))


def _reason(some_found: bool, failed: list[str], answer: str, background: str) -> Reason:
    if some_found:
        return "partly"
    elsewhere, work = token_index(background), Work.over(background, answer)
    if all(elsewhere.find(part, 0, work) is not None for part in failed):
        return "in_background"
    return "not_in_section"


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)
