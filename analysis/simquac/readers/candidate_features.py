"""The features of a candidate as the answer to a question: numbers for a trainable reader."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ....data.simquac import ReadingQuestion
from ....data.text.sentence_splitting import sentences
from ....errors import of_extra
from ..answers import normalised
from .answer_pieces import Candidate, candidates
from .retriever import TermWeights, words

KINDS = ("who", "when", "where", "why", "how many", "how", "which", "what", "yes or no")
"""Kinds of questions by their first word that tells one; everything else is the last kind's successor."""

FEATURES = (
    "share of the question in it",
    "share of the question in its sentence",
    "nearness of its sentence",
    "nearness of its sentence among the section's, 0 to 1",
    "nearness of the sentences beside it",
    "share of the last question in its sentence",
    "place of its sentence, 0 to 1",
    "sentences behind the last answer",
    "it was answered before",
    "words",
    "share of its sentence",
    "begins its sentence",
    "begins at the second word",
    "ends a sentence",
    "kind of question",
    "has a number",
    "has a year or month",
    "has a name",
    "has a reason",
    "has what the kind asks for",
    "words of the question",
    "earlier exchanges",
)
"""The columns, in order."""

_KINDS = re.compile(
    r"\b(?:(who|whom|whose)|(when)|(where)|(why)|(how (?:many|much|long|old|often))|(how)|(which)|(what))\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^\W*(?:and |but |so )?(?:did|does|do|was|were|is|are|has|have|had|can|could|would|will|should)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million)\b")
_DATE = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_NAME = re.compile(r"(?<=\w\s)[A-Z][\w'.-]+")
_REASON = re.compile(
    r"\b(?:because|due to|in order to|so that|since|as a result|result of|after)\b|\bto \w+", re.IGNORECASE
)
_PLACE = re.compile(r"\b(?:in|at|from|near|to)\s+(?:the\s+)?[A-Z]")


def kind_of(question: str) -> int:
    """The kind of a question: its place in `KINDS`, or the number after them."""
    if _YES_NO.search(question):
        return len(KINDS) - 1
    match = _KINDS.search(question)
    return len(KINDS) if match is None or match.lastindex is None else match.lastindex - 1


@lru_cache(maxsize=65536)
def _look(text: str) -> tuple[int, bool, bool, bool, bool, bool]:
    """Words, and whether the text has a number, a date, a name, a reason, a place."""
    return (
        len(normalised(text)),
        bool(_NUMBER.search(text)),
        bool(_DATE.search(text)),
        bool(_NAME.search(text)),
        bool(_REASON.search(text)),
        bool(_PLACE.search(text)),
    )


def _fits(kind: int, look: tuple[int, bool, bool, bool, bool, bool]) -> bool:
    """Whether a text has a name, date, place, reason or number, as the kind of question requires."""
    _, number, date, name, reason, place = look
    flags = {"who": name, "when": date, "where": place, "why": reason, "how many": number}
    return kind < len(KINDS) and flags.get(KINDS[kind], False)


@lru_cache(maxsize=4096)
def features(question: ReadingQuestion) -> tuple[tuple[Candidate, ...], Any]:
    """The candidates of a question's section with an array of their features: (candidates, `len(FEATURES)`).

    They follow only from the question and its section: words are weighed over the section's own sentences. Needs the
    extra `stats`.
    """
    numpy = of_extra("numpy", "stats")
    of_section = candidates(question.section)
    table = _rows(question, of_section, TermWeights.of([question.section]))
    return of_section, numpy.asarray(table, dtype="float32").reshape(len(of_section), len(FEATURES))


def _rows(question: ReadingQuestion, of_section: Sequence[Candidate], weights: TermWeights) -> list[list[float]]:
    sentence_words = [words(sentence) for sentence in sentences(question.section)]
    question_words = words(question.text)
    question_weight = weights.total(question_words) or 1.0
    last_question = words(question.earlier[-1][0]) if question.earlier else frozenset[str]()
    all_last = weights.total(last_question) or 1.0
    near = [weights.nearness(question_words, sentence) for sentence in sentence_words]
    order = sorted(range(len(sentence_words)), key=lambda number: near[number])
    rank = {number: place / max(1, len(sentence_words) - 1) for place, number in enumerate(order)}
    shares = [weights.total(question_words & sentence) / question_weight for sentence in sentence_words]
    last_shares = [weights.total(last_question & sentence) / all_last for sentence in sentence_words]
    answered = {place for _, answer in question.earlier for place in _places(answer, sentence_words)}
    last_places = _places(question.earlier[-1][1], sentence_words) if question.earlier else []
    kind, length = kind_of(question.text), len(question.text.split())
    rows = []
    for candidate in of_section:
        number = candidate.sentence
        look = _look(candidate.text)
        beside = [near[other] for other in (number - 1, number + 1) if 0 <= other < len(near)]
        rows.append(
            [
                weights.total(question_words & words(candidate.text)) / question_weight,
                shares[number],
                near[number],
                rank[number],
                max(beside, default=0.0),
                last_shares[number],
                number / max(1, len(sentence_words) - 1),
                number - last_places[-1] if last_places else -99.0,
                float(number in answered),
                look[0],
                look[0] / max(1, len(sentence_words[number])),
                float(candidate.skipped == 0),
                float(candidate.skipped == 1),
                float(candidate.whole),
                kind,
                *map(float, look[1:5]),
                float(_fits(kind, look)),
                length,
                len(question.earlier),
            ]
        )
    return rows


def _places(answer: str, sentence_words: Sequence[frozenset[str]]) -> list[int]:
    """The sentences that an answer's lines come from: for each line the one that holds most of its words."""
    places = []
    for line in answer.split("\n"):
        of_line = words(line)
        best = max(range(len(sentence_words)), key=lambda number: len(of_line & sentence_words[number]), default=None)
        if best is not None and of_line and 2 * len(of_line & sentence_words[best]) >= len(of_line):
            places.append(best)
    return places
