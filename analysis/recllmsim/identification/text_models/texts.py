"""Texts as models read them: words by `jieba` or by letters, and their TF-IDF."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .....data.text.languages import Language
from .....data.text.word_segmentation import words_of
from .....errors import of_extra
from ....over_users.folds import FOLDS

_NOTHING = "(no word)"


@dataclass(frozen=True)
class UserText:
    """A text and its words."""

    words: tuple[str, ...]
    """Of two characters or more, as scikit-learn's default has them."""
    raw: str


def text_of(parts: Iterable[str], language: Language) -> UserText:
    """The parts as one text, each cut into words by itself. Chinese needs the extra `zh`."""
    texts = list(parts)
    return UserText(tuple(word for part in texts for word in _words(part, language)), "\n".join(texts))


@lru_cache(maxsize=50_000)
def _words(text: str, language: Language) -> tuple[str, ...]:
    """The words of a text, cached, since a message stands in many texts."""
    return tuple(word for word in words_of(text, language) if len(word) > 1)


def tf_idf(train: Sequence[UserText], *others: Sequence[UserText]) -> list[Any]:
    """Rows of TF-IDF of each, scikit-learn's defaults: words and weights are only those of `train`. Needs `ml`."""
    of_extra("sklearn.feature_extraction.text", "ml")  # also for texts that are cached
    return list(_tf_idf(tuple(train), *map(tuple, others)))


@lru_cache(maxsize=FOLDS)
def _tf_idf(train: tuple[UserText, ...], *others: tuple[UserText, ...]) -> list[Any]:
    """Rows of TF-IDF, cached, since several tasks and models learn from the same texts, fold by fold.

    Callers must not change the rows.
    """
    vectors = of_extra("sklearn.feature_extraction.text", "ml").TfidfVectorizer(analyzer=list)
    words = [text.words for text in train]
    if not any(words):
        words = [(_NOTHING,) for _ in words]
    return [vectors.fit_transform(words), *(vectors.transform([text.words for text in texts]) for texts in others)]
