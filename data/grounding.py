r"""Grounding: the exact spans of the section that an answer was copied from, or the reason why there are none.

"Let the LLMs Talk" (WSDM 2024), section 2.5, requires that a teacher's answer is copied from the section.
The search is `TokenIndex.find`: by tokens, in linear time. A word is a match of Python's `\w+`; in scripts without
spaces each character is a word.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .records import Message, Span
from .text.languages import says_something
from .text.sentence_splitting import sentences
from .text.token_search import SearchWork, token_index

NO_ANSWER = "I cannot find the answer."
"""The teacher's refusal: a constant of the published method."""

MARKER = "CANNOTANSWER"
"""QuAC's text for a missing answer; it also ends every context of the data set."""

GroundingReason: TypeAlias = Literal["empty", "not_in_section", "in_background", "partly"]

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
"""Most failed parts that are listed; the search stops at this number."""


@dataclass(frozen=True)
class Grounding:
    """The result for an answer: its spans, a refusal, or the reason why it is not valid."""

    spans: tuple[Span, ...] = ()
    """One span for each part, in the answer's order; each is a slice of the section."""
    refused: bool = False
    reason: GroundingReason | None = None
    """Why it is not valid; None if it is grounded in the section or a refusal."""
    failed: tuple[str, ...] = ()
    """The parts of the answer that were not found in the section."""

    @property
    def valid(self) -> bool:
        """Whether the whole answer was found in the section, or is a refusal."""
        return self.reason is None


def is_refusal(text: str) -> bool:
    """Whether the whole text states that there is no answer; case is ignored.

    Part of such a sentence is not a refusal.
    """
    core = text.strip().strip("\"'“”‘’.!… \n\t")
    return core.upper() == MARKER or (len(core) < 200 and _REFUSAL.fullmatch(core) is not None)


def gives_no_answer(message: Message) -> bool:
    """Whether an assistant's message is a refusal: words of a refusal without a span, or nothing at all.

    An empty text with tool calls or with an image is not a refusal.
    """
    if message.spans:
        return False
    silent = not message.text and not message.tool_calls and not message.parts
    return silent or message.text.startswith(NO_ANSWER) or is_refusal(message.text)


def ground(answer: str, section: str, background: str = "") -> Grounding:
    """The spans of the section that an answer is made of.

    The answer is tried as a refusal, then as one piece of the section, then line by line. A line that is not found is
    tried sentence by sentence. Each part that is found gives one span; adjacent spans of one line are joined. A part
    that is not found makes the answer invalid.

    White space and case are ignored, also punctuation at the edges of a part (but not brackets). An answer may leave
    out a balanced (...) or [...] of the section. If a part occurs several times, the order of preference is: the same
    case, the first after the previous span, the first in the section.
    """
    if is_refusal(answer):
        return Grounding(refused=True)
    if not says_something(answer):
        return Grounding(reason="empty", failed=(answer,) if answer.strip() else ())
    section_index, work = token_index(section), SearchWork.over(section, answer)
    span_of_answer = section_index.find(answer, 0, work)
    if span_of_answer is not None:
        return Grounding(spans=(span_of_answer,))
    spans: list[Span] = []
    failed: list[str] = []
    search_from = 0
    for line in filter(says_something, answer.split("\n")):
        span = section_index.find(line, search_from, work)
        if span is not None:
            spans.append(span)
            search_from = span.end
            continue
        line_spans: list[Span] = []
        for part in filter(says_something, sentences(line)):
            span = section_index.find(part, search_from, work)
            if span is None:
                failed.append(part)
                if len(failed) == MOST_FAILED:
                    return Grounding(reason="partly" if spans or line_spans else "not_in_section", failed=tuple(failed))
                continue
            if line_spans and section_index.touch(line_spans[-1].end, span.start):
                line_spans[-1] = section_index.slice(line_spans[-1].start, span.end)
            else:
                line_spans.append(span)
            search_from = span.end
        spans.extend(line_spans)
    if not failed:
        return Grounding(spans=tuple(spans))
    return Grounding(reason=_reason(bool(spans), failed, answer, background), failed=tuple(failed))


def _reason(partly: bool, failed: list[str], answer: str, background: str) -> GroundingReason:
    if partly:
        return "partly"
    background_index, work = token_index(background), SearchWork.over(background, answer)
    if all(background_index.find(part, 0, work) is not None for part in failed):
        return "in_background"
    return "not_in_section"
