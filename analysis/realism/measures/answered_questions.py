"""Whether a message answers what the assistant asked right before, by rule."""

import re

from ....data.rules.guards import offered_help, own_words
from ....data.text.languages import Language
from ....data.text.lexicons import begins_with, questions_in, says
from ....data.text.words import words_of
from .transcripts import UserTranscript
from .words import content_of

_SENTENCE = re.compile(r"(?<![^.!?。！？\n])[^.!?。！？\n]*[?？]")
_CLAUSE = re.compile(r"[,，.。!！;；\n]")
_ASKS_THE_USER = re.compile(r"\b(?:you|your|yours)\b|[你您]", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d|[一二两三四五六七八九十百千万]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b", re.I
)

SHORT = 4
"""Most words of a first clause that is an answer by itself."""


def asked_of_user(reply: str) -> list[str]:
    """The questions of a reply to the user: sentences with a mark and `you`, without quotations and offers of help."""
    if not any(map(_ASKS_THE_USER.search, _SENTENCE.findall(reply))):
        return []  # finding out what is quoted takes far longer
    sentences = _SENTENCE.findall(own_words(reply))
    return [one.strip() for one in sentences if _ASKS_THE_USER.search(one) and not offered_help(one)]


def answers(text: str, questions: list[str], language: Language) -> bool:
    """Whether a message answers one of these questions.

    It does if it has a content word of one, or a number, where one asks how many or how much. It also does if it asks
    nothing itself and begins as an answer does (`answer` in `data/text/lexicons.json`) or with a clause of at most four
    words.
    """
    words = set(words_of(text, language))
    if any(words & content_of(question, language) for question in questions):
        return True
    if _NUMBER.search(text) and any(says(question, "how many", language) for question in questions):
        return True
    if questions_in(text, language):
        return False
    return begins_with(text, "answer", language) or len(words_of(_CLAUSE.split(text)[0], language)) <= SHORT


def answered(transcript: UserTranscript, number: int) -> float | None:
    """Whether a message answers what the reply before asked; None where that asked nothing."""
    questions = asked_of_user(transcript.replies_before[number])
    return answers(transcript.texts[number], questions, transcript.language) if questions else None
