"""Whether users ask: by question marks, and by words and forms of a question, as people often leave the mark out.

The forms are our own lists in `lexicons.json`: `question` (Chinese: anywhere in a clause; English: where a sentence
begins), `inverted` (English: where a clause begins, such as "can you" or "how do I"), `indirect` (English: anywhere)
and `no question` (Chinese: taken out before, such as 没什么 or 看看哪个).
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from ....data.text.languages import Language
from .measure import Measure, mean_of_messages
from .transcripts import UserTranscript
from .words import lexicons

_MARK = re.compile("[?？]")
_SENTENCE: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(r"[^.!?？;\n]+[?？]*|[?？]+"),
    "zh": re.compile(r"[^；;。.!！?？…\n]+[?？]*|[?？]+"),
}
_CLAUSE: Mapping[Language, re.Pattern[str]] = {"en": re.compile(r"[,:(]\s*"), "zh": re.compile(r"[，,\s]+")}
_EN_LEAD = (
    r"[\W_]*(?:(?:and|but|so|or|also|then|ok(?:ay)?|well|now|hi|hello|hey|there|thanks|thank you|please|oh|great|"
    r"actually|just|by the way|if so|in that case|additionally|lastly|finally)\b[\s,:-]*){0,3}"
)
_KEYBOARD = (
    "Partly: people often leave the question mark out when they type, and translators put it in. So the words and "
    "forms of a question count too; a question that has neither is still missed."
)


@lru_cache(maxsize=50_000)
def questions_in(text: str, language: Language) -> int:
    """How many clauses ask: those with a word or form of a question, and at least one before each question mark."""
    if language == "zh":
        text = _form("no question").sub("", text)
    sentences = _SENTENCE[language].findall(text)
    return sum(max(_forms(sentence, language), _MARK.search(sentence) is not None) for sentence in sentences)


def _forms(sentence: str, language: Language) -> int:
    """How many of the sentence's clauses have a form of a question."""
    first, *others = _CLAUSE[language].split(sentence)
    if language == "zh":
        return sum(_form("question").search(clause.strip("?？")) is not None for clause in (first, *others))
    begins = _form("begin").match(first) is not None or _form("indirect").search(first) is not None
    return begins + sum(_form("later").match(clause) is not None for clause in others)


@lru_cache(maxsize=8)
def _form(name: str) -> re.Pattern[str]:
    en, zh = lexicons()["en"], lexicons()["zh"]
    either = {
        "question": "|".join(zh["question"]),
        "no question": "|".join(zh["no question"]),
        "begin": rf"{_EN_LEAD}(?:{'|'.join((*en['question'], *en['inverted']))})\b",
        "later": rf"(?:(?:and|or|but|so|also|then|please) )?(?:{'|'.join(en['inverted'])})\b",
        "indirect": rf"\b(?:{'|'.join(en['indirect'])})\b",
    }
    return re.compile(either[name], re.IGNORECASE)


def _has_question(transcript: UserTranscript, number: int) -> float:
    return questions_in(transcript.texts[number], transcript.language) > 0


def _several_questions(transcript: UserTranscript, number: int) -> float:
    return questions_in(transcript.texts[number], transcript.language) > 1


MEASURES = (
    Measure(
        name="questions",
        family="questions",
        unit="share of messages",
        definition="Share of messages with a question mark, or with a word or form of a question, such as 'what', "
        "'can you', 吗, 什么.",
        source="ours: marks, and the lexicon's question words",
        direction="users ask more",
        of=mean_of_messages(_has_question),
        keyboard=_KEYBOARD,
        of_text=_has_question,
    ),
    Measure(
        name="several questions",
        family="questions",
        unit="share of messages",
        definition="Share of messages of which two or more clauses ask, by a question mark or a word or form of a "
        "question.",
        source="ours: marks, and the lexicon's question words",
        direction="users ask several things at once",
        of=mean_of_messages(_several_questions),
        keyboard=_KEYBOARD,
        of_text=_several_questions,
    ),
)
