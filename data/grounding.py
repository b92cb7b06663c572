r"""Grounding: the exact spans of the section that an answer was copied from, or the reason why there are none.

"Let the LLMs Talk" (WSDM 2024), section 2.5, requires that a teacher's answer is copied from the section.
The search is by tokens: words, single characters of scripts without spaces, punctuation. White space is not a token, so a
match begins and ends at a word boundary, and white space is ignored.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from .records import Message, Span
from .text.languages import says_something
from .text.sentence_splitting import sentences

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

    White space and case are ignored, also punctuation at the edges of a part (but not brackets). If a part occurs
    several times, the order of preference is: the same case, the first after the previous span, the first in the section.
    """
    if is_refusal(answer):
        return Grounding(refused=True)
    if not says_something(answer):
        return Grounding(reason="empty", failed=(answer,) if answer.strip() else ())
    section_index = token_index(section)
    span_of_answer = section_index.find(answer)
    if span_of_answer is not None:
        return Grounding(spans=(span_of_answer,))
    spans: list[Span] = []
    failed: list[str] = []
    search_from = 0
    for line in filter(says_something, answer.split("\n")):
        span = section_index.find(line, search_from)
        if span is not None:
            spans.append(span)
            search_from = span.end
            continue
        line_spans: list[Span] = []
        for part in filter(says_something, sentences(line)):
            span = section_index.find(part, search_from)
            if span is None:
                failed.append(part)
                continue
            if line_spans and section_index.touch(line_spans[-1].end, span.start):
                line_spans[-1] = section_index.slice(line_spans[-1].start, span.end)
            else:
                line_spans.append(span)
            search_from = span.end
        spans.extend(line_spans)
    if not failed:
        return Grounding(spans=tuple(spans))
    return Grounding(reason=_reason(bool(spans), failed, background), failed=tuple(failed))


def _reason(partly: bool, failed: list[str], background: str) -> GroundingReason:
    if partly:
        return "partly"
    if all(token_index(background).find(part) is not None for part in failed):
        return "in_background"
    return "not_in_section"


EDGES = frozenset(".,;:?!…。，、；：？！\"'“”‘’„‚«»‹›「」『』`´-–—―‐‑‒−")
"""Punctuation that may differ at the edges of a piece. Brackets may not."""

# Scripts without spaces between words: each character is a token.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Words, single characters of scripts without spaces, and punctuation marks, in order."""
    return _TOKEN.findall(text)


def token_count(text: str) -> int:
    """Number of words, single characters of scripts without spaces, and punctuation marks."""
    return sum(1 for _ in _TOKEN.finditer(text))


@lru_cache(maxsize=32)
def token_index(text: str) -> "TokenIndex":
    """The index of a text; the last few are cached."""
    return TokenIndex(text)


class TokenIndex:
    """A searchable text: two rows of token codes, one with and one without case."""

    def __init__(self, text: str) -> None:
        self.text = text
        matches = list(_TOKEN.finditer(text))
        tokens = [match.group() for match in matches]
        self.starts = [match.start() for match in matches]
        self.ends = [match.end() for match in matches]
        folded = {token: token.casefold() for token in dict.fromkeys(tokens)}
        self.codes = {token: _character(n) for n, token in enumerate(dict.fromkeys([*folded, *folded.values()]), 1)}
        folded_codes = {token: self.codes[fold] for token, fold in folded.items()}
        self.rows = tuple("".join(map(codes.__getitem__, tokens)) for codes in (self.codes, folded_codes))

    def find(self, piece: str, behind: int = 0) -> Span | None:
        """The best match of a piece, as a slice of this text; None without one.

        If there are several, the order of preference is: the same case, the first at or after the offset `behind`,
        the first in the text.
        """
        tokens = _TOKEN.findall(piece)
        first, last = _core(tokens)
        if first == last:
            return None
        core = tokens[first:last]
        after = bisect_left(self.starts, behind)
        for row, fold in ((self.rows[0], False), (self.rows[1], True)):
            codes = [self.codes.get(token.casefold() if fold else token, "") for token in core]
            if all(codes):
                pattern = "".join(codes)
                place = row.find(pattern, after)
                place = row.find(pattern) if place < 0 else place
                if place >= 0:
                    return self._with_edges(place, place + len(pattern), tokens[:first], tokens[last:])
        return None

    def _with_edges(self, first: int, last: int, before: list[str], after: list[str]) -> Span:
        """The slice of a match, with the piece's edge punctuation as far as the text has it."""
        for token in reversed(before):
            if first == 0 or self._token(first - 1) != token or self.ends[first - 1] != self.starts[first]:
                break
            first -= 1
        for token in after:
            if last == len(self.starts) or self._token(last) != token or self.starts[last] != self.ends[last - 1]:
                break
            last += 1
        return self.slice(self.starts[first], self.ends[last - 1])

    def _token(self, number: int) -> str:
        return self.text[self.starts[number] : self.ends[number]]

    def slice(self, start: int, end: int) -> Span:
        """The span between two offsets."""
        return Span(text=self.text[start:end], start=start)

    def touch(self, end: int, start: int) -> bool:
        """Whether `start` is not before `end`, and only white space and edge punctuation are between them."""
        between = self.text[end:start]
        return start >= end and all(character.isspace() or character in EDGES for character in between)


def _character(number: int) -> str:
    return chr(number if number < 0xD800 else number + 0x800)  # not a surrogate


def _core(tokens: list[str]) -> tuple[int, int]:
    """The tokens without edge punctuation: index of the first, and of the one after the last."""
    first, last = 0, len(tokens)
    while first < last and tokens[first] in EDGES:
        first += 1
    while last > first and tokens[last - 1] in EDGES:
        last -= 1
    return first, last
