"""Texts as models read them: words by `jieba` or by letters, and their TF-IDF."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from sys import intern
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .....data.text.languages import Language
from .....data.text.words import words_of
from .....errors import of_extra

IntArray: TypeAlias = npt.NDArray[np.int32]

_NUMBERS: defaultdict[str, int] = defaultdict(lambda: len(_NUMBERS))
"""A number for each word of any text, in the order in which they were met."""
_NO_WORDS = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class TextPart:
    """A part of texts, such as a message, and its words."""

    raw: str
    words: tuple[str, ...] = field(compare=False)


@dataclass(frozen=True)
class UserText:
    """A text in parts. Texts share them: a message stands in those of all later turns."""

    parts: tuple[TextPart, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Words of two characters or more, as scikit-learn's default has them."""
        return tuple(word for part in self.parts for word in part.words)

    @cached_property
    def counted(self) -> tuple[IntArray, IntArray]:
        """The numbers of its words, each once, and how often it has each."""
        often = Counter(_NUMBERS[word] for part in self.parts for word in part.words)
        return np.fromiter(often, np.int32, len(often)), np.fromiter(often.values(), np.int32, len(often))


def text_of(parts: Iterable[str], language: Language) -> UserText:
    """The parts as one text, each cut into words by itself. Chinese needs the extra `zh`."""
    return UserText(tuple(_part(part, language) for part in parts))


@lru_cache(maxsize=50_000)
def _part(text: str, language: Language) -> TextPart:
    return TextPart(text, tuple(intern(word) for word in words_of(text, language) if len(word) > 1))


def tf_idf(train: Sequence[UserText], *others: Sequence[UserText]) -> list[Any]:
    """Rows of TF-IDF of each, scikit-learn's defaults: words and weights are only those of `train`. Needs `ml`.

    They are what its `TfidfVectorizer` makes of the words. It would count them anew for each fold, task and model.
    """
    sparse = of_extra("scipy.sparse", "stats")
    weights = of_extra("sklearn.feature_extraction.text", "stats").TfidfTransformer()
    counted = [[text.counted for text in texts] for texts in (train, *others)]  # which numbers their words
    learnt, first = np.unique(np.concatenate([words for words, _ in counted[0]] or [_NO_WORDS]), return_index=True)
    if not len(learnt):  # one column, of a word that all of them have
        return [sparse.csr_matrix(np.ones((len(train), 1))), *(sparse.csr_matrix((len(texts), 1)) for texts in others)]
    in_order = np.argsort(np.argsort(np.array(list(_NUMBERS), dtype=object)[learnt]))

    def rows(texts: Sequence[tuple[IntArray, IntArray]], ranks: Any) -> Any:
        columns = np.full(len(_NUMBERS), -1)
        columns[learnt] = ranks
        numbers = columns[np.concatenate([words for words, _ in texts] or [_NO_WORDS])]
        often = np.concatenate([often for _, often in texts] or [_NO_WORDS])
        in_train = numbers >= 0
        ends = np.cumsum([0, *(len(words) for words, _ in texts)])
        starts = np.concatenate([[0], np.cumsum(in_train)])[ends]
        content = (often[in_train].astype(float), numbers[in_train], starts)
        matrix = sparse.csr_matrix(content, shape=(len(texts), len(learnt)))
        matrix.sort_indices()
        return matrix

    # Scikit-learn leaves the words of a training text in the order in which it met them: sums keep their last digits.
    met = np.argsort(first)
    learning = rows(counted[0], np.argsort(met))
    learning.indices = in_order[met].astype(learning.indices.dtype)[learning.indices]
    return [weights.fit_transform(learning), *(weights.transform(rows(texts, in_order)) for texts in counted[1:])]
