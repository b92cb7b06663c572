"""The cosine of two texts by their words, rare ones weighing more, or by embeddings of your own."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt
from typing import TypeAlias

from ...data.text.languages import Language
from ...data.text.words import words_of

Embed: TypeAlias = Callable[[list[str]], list[list[float]]]
"""From texts to vectors, such as the `embed_documents` of LangChain's `Embeddings`."""


@dataclass(frozen=True)
class TextWeights:
    """The weight of each word: the more of people's turns have it, the less it weighs.

    TF-IDF as in scikit-learn's `TfidfVectorizer`: ln((1 + n) / (1 + df)) + 1, vectors of length 1. A word that none of
    the people uses has a document frequency of 0 and counts in a text's length. (Scikit-learn's class leaves it out, so
    that a text of unknown words beside one known word would be that word.)
    """

    texts: int
    having: Counter[str]
    """In how many of the people's turns each word is."""

    @classmethod
    def of(cls, texts: Iterable[tuple[str, Language]]) -> "TextWeights":
        """The weights by people's turns."""
        having: Counter[str] = Counter()
        count = 0
        for text, language in texts:
            having.update(set(words_of(text, language)))
            count += 1
        return cls(count, having)

    def cosine(self, one: str, other: str, language: Language) -> float:
        """Cosine of the two texts, 0 to 1.

        0 if either has no word, and 1 if they have the same words equally often.
        """
        vectors = [self._vector(text, language) for text in (one, other)]
        lengths = [sqrt(fsum(value * value for value in vector.values())) for vector in vectors]
        if not all(lengths):
            return 0.0
        if vectors[0] == vectors[1]:
            return 1.0
        common = fsum(value * vectors[1].get(word, 0.0) for word, value in vectors[0].items())
        return min(1.0, common / (lengths[0] * lengths[1]))

    def _vector(self, text: str, language: Language) -> dict[str, float]:
        counted = Counter(words_of(text, language))
        return {word: n * (log((1 + self.texts) / (1 + self.having[word])) + 1) for word, n in counted.items()}


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Cosine of two vectors, -1 to 1; 0 if either is 0."""
    lengths = sqrt(fsum(value * value for value in one)) * sqrt(fsum(value * value for value in other))
    if not lengths:
        return 0.0
    value = fsum(a * b for a, b in zip(one, other, strict=True)) / lengths
    return max(-1.0, min(1.0, value))
