"""Lexicons of our own, in English and Chinese: courtesies, words and forms of questions and answers, of yes and no.

They are lists of regular expressions in `lexicons.json`. People often leave out a question mark, so questions are found
by their forms:

- `question`: Chinese, anywhere in a clause; English, where a sentence begins;
- `inverted`: English, where a clause begins, such as "can you" or "how do I";
- `indirect`: English, anywhere;
- `no question`: Chinese, taken out before, such as 没什么 or 看看哪个.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from .languages import Language

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


@lru_cache(maxsize=1)
def lexicons() -> Mapping[Language, Mapping[str, Sequence[str]]]:
    """For each language the entries, each a list of regular expressions."""
    entries: Mapping[Language, Mapping[str, Sequence[str]]] = json.loads(
        files("duologue.data.text").joinpath("lexicons.json").read_text(encoding="utf-8")
    )
    return entries


def says(text: str, entry: str, language: Language) -> bool:
    """Whether the text has one of the expressions of the lexicon's entry."""
    return first_of(text, entry, language) is not None


def first_of(text: str, entry: str, language: Language) -> str | None:
    """The first expression of the lexicon's entry in the text; None without one."""
    match = _pattern(entry, language).search(text)
    return match and match.group()


def begins_with(text: str, entry: str, language: Language) -> bool:
    """Whether the text begins with one of the expressions of the lexicon's entry, white space aside."""
    return _pattern(entry, language).match(text.lstrip()) is not None


@lru_cache(maxsize=64)
def _pattern(entry: str, language: Language) -> re.Pattern[str]:
    either = "|".join(lexicons()[language][entry])
    return re.compile(rf"\b(?:{either})\b" if language == "en" else f"(?:{either})", re.IGNORECASE)


@lru_cache(maxsize=50_000)
def questions_in(text: str, language: Language) -> int:
    """The number of asking clauses, by words and forms, at least one before each question mark."""
    if language == "zh":
        text = _form("no question").sub("", text)
    counts = Counter(_SENTENCE[language].findall(text))  # a long text may repeat a short sentence 100,000 times
    return sum(
        count * max(_forms(sentence, language), _MARK.search(sentence) is not None)
        for sentence, count in counts.items()
    )


def _forms(sentence: str, language: Language) -> int:
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
