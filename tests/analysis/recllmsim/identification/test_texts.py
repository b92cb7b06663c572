"""TF-IDF of texts in parts: bit for bit what scikit-learn's vectorizer makes of their words."""

import random

import numpy as np
import pytest

from duologue.analysis.recllmsim.identification.text_models.texts import UserText, text_of, tf_idf

vectorizers = pytest.importorskip("sklearn.feature_extraction.text")


def drawn(random: random.Random, count: int) -> list[UserText]:
    """So many texts of frequent and rare words."""
    messages = [" ".join(f"w{int(random.expovariate(0.05))}" for _ in range(random.randint(0, 30))) for _ in range(9)]
    return [text_of(random.choices(messages, k=3), "en") for _ in range(count)]


@pytest.mark.parametrize(("train", "test"), [(50, 20), (3, 40), (1, 1)])
def test_rows_and_columns_are_those_of_scikit_learn_to_the_last_digit(train: int, test: int) -> None:
    chance = random.Random(train)
    others, texts = drawn(chance, test), drawn(chance, train)
    [text.counted for text in others]  # so that words of these have the first numbers
    vectorizer = vectorizers.TfidfVectorizer(analyzer=list)
    expected = [vectorizer.fit_transform([text.words for text in texts])]
    expected.append(vectorizer.transform([text.words for text in others]))
    for rows, of_sklearn in zip(tf_idf(texts, others), expected, strict=True):
        assert rows.shape == of_sklearn.shape
        assert np.array_equal(rows.indices, of_sklearn.indices)
        assert np.array_equal(rows.data, of_sklearn.data)


def test_texts_without_a_word_have_one_column() -> None:
    train, test = tf_idf([text_of([], "en")] * 3, [text_of(["a word"], "en")])
    assert train.toarray().tolist() == [[1], [1], [1]]
    assert test.toarray().tolist() == [[0]]


def test_texts_share_the_parts_that_they_have_in_common() -> None:
    first, second = text_of(["a talk"], "en"), text_of(["a talk", "a reply"], "en")
    assert first.parts[0] is second.parts[0]
    assert second.words == ("talk", "reply")
