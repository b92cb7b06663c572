"""Similarity of texts, 0 to 1: cosine of TF-IDF weights.

Each text is counted once; several texts together, such as all messages before a turn, are the sum of their rows.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from ...data.text.languages import language_of
from ...data.text.word_segmentation import words_of
from ...errors import of_extra

TermRows: TypeAlias = Any
"""A matrix with a row of length 1, or of nothing, for each thing that is compared."""

Groups: TypeAlias = Sequence[Sequence[int]]
"""For each thing the numbers of the texts that it consists of."""


def tokens(text: str) -> list[str]:
    """The words of a text in its language; one empty word for a text without words.

    So texts without words are alike.
    """
    return words_of(text, language_of(text) or "en") or [""]


class WordLikeness:
    """Likeness of words: TF-IDF with logarithms of the counts (scikit-learn, extra `stats`)."""

    def __init__(self, texts: Sequence[str]) -> None:
        extraction = of_extra("sklearn.feature_extraction.text", "stats")
        self._count = extraction.CountVectorizer(analyzer=tokens)
        self._counts = self._count.fit_transform(texts)
        self._weigh = extraction.TfidfTransformer(sublinear_tf=True).fit(self._counts)

    def rows(self, groups: Groups) -> TermRows:
        """Their weighted words."""
        return self._weigh.transform(_sums(groups, len(self._counts.indptr) - 1) @ self._counts)

    def queries(self, groups: Sequence[Sequence[str]]) -> TermRows:
        """Their weighted words, without words that no reference text has."""
        texts = [text for group in groups for text in group]
        if not texts:
            return self.rows([[] for _ in groups])
        return self._weigh.transform(_sums(_numbered(groups), len(texts)) @ self._count.transform(texts))


def alike(rows: TermRows, query: TermRows) -> Any:
    """The likeness of each row with the query's single row, as numpy's numbers from 0 to 1."""
    numpy = of_extra("numpy", "stats")
    return numpy.clip((rows @ query.T).toarray().ravel(), 0.0, 1.0)


def _numbered(groups: Sequence[Sequence[str]]) -> list[list[int]]:
    numbers = iter(range(sum(map(len, groups))))
    return [[next(numbers) for _ in group] for group in groups]


def _sums(groups: Groups, texts: int) -> Any:
    """The matrix that adds up the rows of texts: a row per group, a 1 per text."""
    sparse = of_extra("scipy.sparse", "stats")
    indices = [number for group in groups for number in group]
    ends = [0]
    for group in groups:
        ends.append(ends[-1] + len(group))
    return sparse.csr_matrix(([1.0] * len(indices), indices, ends), shape=(len(groups), texts))
