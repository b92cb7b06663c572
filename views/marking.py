"""Facts of a scenario that occur in messages: finds their phrases in a text, as whole words in any case."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SHORTEST = 2
"""Fewest characters of a phrase that is marked."""
_LONGEST = 1_000
"""Most characters of a phrase that is marked."""
_ONE_FORM = 3
"""Words with at most so many letters have no other endings."""
_ENDINGS = "(?:ies|ied|ying|ing|ed|es|s|e|y)?"
_PERSONS = (
    ("my", "his", "her", "their", "your", "our"),
    ("am", "is", "are"),
    ("have", "has"),
    ("do", "does"),
    ("go", "goes"),
    ("myself", "himself", "herself", "themselves"),
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Characters of scripts without spaces between words: a word may end after any of them."""


@dataclass(frozen=True)
class Mark:
    """A stretch of a text, and the label of its fact, if it is one."""

    text: str
    label: str | None = None


def marked(text: str, facts: Sequence[tuple[str, str]]) -> tuple[Mark, ...]:
    """The text cut wherever a phrase begins or ends; joined, the marks are the text.

    Longer phrases come first.

    English words may have another ending, and pronouns another person: `Travels with his dog` is found in
    `I travel with my dog`. Paraphrases are not found.
    """
    labels: dict[str, str] = {}
    for label, phrase in facts:
        if _SHORTEST <= len(phrase.strip()) <= _LONGEST:
            labels.setdefault(" ".join(phrase.split()), label)
    if not labels or not text:
        return (Mark(text),)
    phrases = sorted(labels, key=lambda phrase: (-len(phrase), phrase))
    pattern = re.compile("|".join(f"({_whole(phrase)})" for phrase in phrases), re.IGNORECASE)
    marks, at = [], 0
    for match in pattern.finditer(text):
        if match.start() > at:
            marks.append(Mark(text[at : match.start()]))
        marks.append(Mark(match[0], labels[phrases[(match.lastindex or 1) - 1]]))
        at = match.end()
    if at < len(text):
        marks.append(Mark(text[at:]))
    return tuple(marks)


def _whole(phrase: str) -> str:
    """A pattern for the phrase as whole words, each in any of its forms."""
    before = r"(?<!\w)" if re.match(r"\w", phrase) and not _UNSPACED.match(phrase[0]) else ""
    after = r"(?!\w)" if re.match(r"\w", phrase[-1]) and not _UNSPACED.match(phrase[-1]) else ""
    return before + r"\s+".join(_forms(word) for word in phrase.split()) + after


def _forms(word: str) -> str:
    """A pattern for the word's forms: other persons of a pronoun or auxiliary, other endings of an English word."""
    plain = word.casefold()
    for persons in _PERSONS:
        if plain in persons:
            return f"(?:{'|'.join(persons)})"
    stem = re.fullmatch(f"([a-z]{{3,}}?){_ENDINGS}", plain)
    return f"{stem[1]}{_ENDINGS}" if stem and len(plain) > _ONE_FORM else re.escape(word)
