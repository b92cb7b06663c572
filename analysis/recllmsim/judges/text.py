"""Linear models on TF-IDF of a reply's words.

Needs the extra `stats`, and `zh` for Chinese.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ....data.text.languages import Language
from ....data.text.words import words_of
from ....errors import of_extra
from .turns import HIGHEST, LOWEST, JudgedTurn


def ordinal(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> list[float]:
    """Expected points of each turn: 1 and, for k = 1 to 4, the probability of more than k points.

    A logistic regression for each k ("A Simple Approach to Ordinal Classification", Frank and Hall 2001) on TF-IDF of
    the reply's words. The settings are scikit-learn's defaults, words of one text left out. Nothing is tuned on the
    judged data.
    """
    train_features, test_features = _vectors(train, turns)
    expected = [float(LOWEST)] * len(turns)
    for least in range(LOWEST, HIGHEST):
        above = [turn.satisfaction > least for turn in train]
        for place, share in enumerate(_probability(train_features, above, test_features)):
            expected[place] += share
    return expected


def reasons(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> list[str]:
    """The likeliest reason of each turn, by a multinomial logistic regression on TF-IDF of the reply's words."""
    labels = [turn.reason for turn in train]
    if len(set(labels)) < 2:
        return labels[:1] * len(turns)
    train_features, test_features = _vectors(train, turns)
    return [str(reason) for reason in _model().fit(train_features, labels).predict(test_features)]


def _probability(train_features: Any, above: Sequence[bool], test_features: Any) -> list[float]:
    if all(above) or not any(above):
        return [float(all(above))] * test_features.shape[0]
    return [float(share) for share in _model().fit(train_features, above).predict_proba(test_features)[:, 1]]


def _model() -> Any:
    return of_extra("sklearn.linear_model", "stats").LogisticRegression(solver="newton-cg")


def _vectors(train: Sequence[JudgedTurn], turns: Sequence[JudgedTurn]) -> tuple[Any, Any]:
    """Rows of TF-IDF of both; the words and their weights are those of `train` alone."""
    extraction = of_extra("sklearn.feature_extraction.text", "stats")
    texts = [list(words_of_reply(turn.reply, turn.language)) for turn in train]
    common = min(2, max(Counter(word for text in texts for word in set(text)).values(), default=1))
    vectors = extraction.TfidfVectorizer(analyzer=list, min_df=common, sublinear_tf=True)
    if not any(texts):
        texts = [["(no word)"] for _ in texts]
    train_features = vectors.fit_transform(texts)
    return train_features, vectors.transform([list(words_of_reply(turn.reply, turn.language)) for turn in turns])


@lru_cache(maxsize=20_000)
def words_of_reply(text: str, language: Language) -> tuple[str, ...]:
    """The words of a reply, cached, since each fold needs them again."""
    return tuple(words_of(text, language))
