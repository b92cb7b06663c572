"""Rules for questions, for the validators of the casts and for checks of data sets.

"Let the LLMs Talk" (WSDM 2024), section 2.4: a question has at most 25 words, no line break, and is not an enumeration
of questions.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, TypeAlias

from ..text.languages import says_something

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
_NOT_WORD = re.compile(r"[\W_]+")


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
    if asked_before(question, earlier):
        reasons.append("asked_again")
    return tuple(reasons)


def is_enumeration(text: str) -> bool:
    """Whether the text is, or holds, a list of numbered, lettered or bulleted items."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # The search for items within one line is quadratic, so it is limited to a length that a question could have.
    return any(_ITEM.match(line) for line in lines) or _INLINE_ITEMS.search(text[:2_000]) is not None


def asked_before(question: str, earlier: Iterable[str]) -> bool:
    """Whether an earlier question is the same, apart from white space, punctuation and case."""
    key = plain_words(question)
    return any(plain_words(other) == key for other in earlier)


@lru_cache(maxsize=4096)  # each message is compared with all that follow it
def plain_words(text: str) -> str:
    """The text's letters and digits in lower case, other characters as single spaces."""
    return _NOT_WORD.sub(" ", text).strip().casefold()
