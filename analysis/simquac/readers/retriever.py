"""Readers without a model: the section's sentence that is nearest to the question, and no answer at all."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ....data.simquac import ReadingQuestion
from ....data.text.sentence_splitting import sentences
from ..answers import normalised


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    """The different words of a text, normalised as for the score."""
    return frozenset(normalised(text))


@dataclass(frozen=True)
class TermWeights:
    """The weight of each word: ln((1 + n) / (1 + df)) + 1 over the sentences of the sections.

    This is the smoothed inverse document frequency.
    """

    frequencies: Mapping[str, int]
    sentences: int

    @classmethod
    def of(cls, sections: Iterable[str]) -> "TermWeights":
        """The weights over the sentences of different sections."""
        counted: Counter[str] = Counter()
        number = 0
        for section in dict.fromkeys(sections):
            for sentence in sentences(section):
                counted.update(words(sentence))
                number += 1
        return cls(counted, number)

    def of_word(self, word: str) -> float:
        """The weight of a word."""
        return math.log((1 + self.sentences) / (1 + self.frequencies.get(word, 0))) + 1

    def total(self, those: Iterable[str]) -> float:
        """The weights of words together, in an order that does not depend on their set's."""
        return math.fsum(self.of_word(word) for word in those)

    def nearness(self, question: frozenset[str], sentence: frozenset[str]) -> float:
        """Weights of the words in common, over the length of the sentence's vector of weights."""
        length = math.sqrt(math.fsum(self.of_word(word) ** 2 for word in sentence))
        return self.total(question & sentence) / length if length else 0.0


@dataclass(frozen=True)
class Retriever:
    """Answers with the sentence of the section that is nearest to the question by idf; never refuses.

    Weights are over the sections of the questions that it is asked at once. With earlier turns their questions count as
    words of this one.
    """

    name: str = field(default="nearest sentence", init=False)

    def __call__(self, questions: Sequence[ReadingQuestion]) -> list[str | None]:
        """The nearest sentence for each question, the first of equals; None for a section without a sentence."""
        weights = TermWeights.of(question.section for question in questions)
        return [self._nearest(question, weights) for question in questions]

    @staticmethod
    def _nearest(question: ReadingQuestion, weights: TermWeights) -> str | None:
        question_words = words(" ".join([*(earlier for earlier, _ in question.earlier), question.text]))
        candidates = sentences(question.section)
        return max(candidates, key=lambda sentence: weights.nearness(question_words, words(sentence)), default=None)


def first(questions: Sequence[ReadingQuestion]) -> list[str | None]:
    """A reader that gives the first sentence of the section."""
    return [next(iter(sentences(question.section)), None) for question in questions]


def none(questions: Sequence[ReadingQuestion]) -> list[str | None]:
    """A reader without answers: the score of refusing everything."""
    return [None] * len(questions)
