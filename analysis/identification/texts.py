"""Texts as what learns reads them: words by `jieba` or by letters, and their TF-IDF."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...data.text.languages import Language
from ...data.text.segmentation import words_of
from ...errors import of_extra
from ..judges.folds import FOLDS

_NOTHING = "(no word)"


@dataclass(frozen=True)
class Text:
    """A text and its words."""

    words: tuple[str, ...]
    """Of two characters or more, as scikit-learn's default has them."""
    raw: str


def text_of(parts: Iterable[str], language: Language) -> Text:
    """The parts as one text, each cut into words by itself. Chinese needs the extra `zh`."""
    said = list(parts)
    return Text(tuple(word for part in said for word in _words(part, language)), "\n".join(said))


@lru_cache(maxsize=50_000)
def _words(text: str, language: Language) -> tuple[str, ...]:
    """Kept: a message stands in many texts."""
    return tuple(word for word in words_of(text, language) if len(word) > 1)


def tf_idf(train: Sequence[Text], *others: Sequence[Text]) -> list[Any]:
    """Rows of TF-IDF of each, scikit-learn's defaults: words and weights are those of `train` alone. Needs `ml`."""
    return list(_tf_idf(tuple(train), *map(tuple, others)))


@lru_cache(maxsize=FOLDS)
def _tf_idf(train: tuple[Text, ...], *others: tuple[Text, ...]) -> list[Any]:
    """Kept: several tasks and models learn from the same texts, fold by fold. What reads the rows must not change them."""
    vectors = of_extra("sklearn.feature_extraction.text", "ml").TfidfVectorizer(analyzer=list)
    known = [text.words for text in train]
    if not any(known):
        known = [(_NOTHING,) for _ in known]
    return [vectors.fit_transform(known), *(vectors.transform([text.words for text in each]) for each in others)]
