"""Similarity of turns, and their acts: by hand, and as other packages have them."""

from itertools import product

import pytest

from duologue.analysis.next_turn import characters, chrf
from duologue.analysis.next_turn.acts import acts_in, agreement
from duologue.analysis.next_turn.weights import TextWeights

TEXTS = [
    "abc",
    "ab",
    "Where is the museum?",
    "Where is the  station",
    "谢谢，还有别的吗",
    "谢谢",
    "",
    "x y z",
    "THE MUSEUM",
]


def test_chrf_is_what_its_definition_gives_by_hand():
    # Runs of "ab": a b | ab. Of "abc": a b c | ab bc | abc. Both have runs of 1 and 2 characters.
    precision, recall = (2 / 2 + 1 / 1) / 2, (2 / 3 + 1 / 2) / 2
    assert chrf("ab", "abc") == pytest.approx(5 * precision * recall / (4 * precision + recall))
    precision, recall = recall, precision
    assert chrf("abc", "ab") == pytest.approx(5 * precision * recall / (4 * precision + recall))
    # A run counts as often as both have it: "aaa" has a three times and aa twice, "aab" a twice, aa once.
    precision = recall = (2 / 3 + 1 / 2 + 0) / 3
    assert chrf("aaa", "aab") == pytest.approx(5 * precision * recall / (4 * precision + recall))


def test_chrf_of_a_text_with_itself_is_1_and_without_a_common_character_0():
    assert all(chrf(text, text) == 1.0 for text in TEXTS if text)
    assert chrf("abc", "xyz") == chrf("", "abc") == chrf("abc", "") == chrf("", "") == 0.0
    assert chrf("a b\nc", "abc") == 1.0  # white space does not count


def test_only_the_beginning_of_a_text_of_many_pages_is_compared(monkeypatch):
    monkeypatch.setattr(characters, "MOST", 8)
    assert chrf("one two three", "one two they") == 1
    assert len(characters.runs_of("a quick brown fox")[0]) == len(set("aquickbr"))


def test_chrf_is_that_of_sacrebleu():
    import sacrebleu

    for text, reference in product(TEXTS, TEXTS):
        assert 100 * chrf(text, reference) == pytest.approx(sacrebleu.sentence_chrf(text, [reference]).score)


def test_the_cosine_of_words_is_that_of_scikit_learn_where_all_words_are_known():
    sklearn = pytest.importorskip("sklearn.feature_extraction.text")
    texts = ["where is the red museum", "the red bus is late", "where is the bus", "a red red museum"]
    vectors = sklearn.TfidfVectorizer(token_pattern=r"\w+").fit_transform(texts).toarray()
    weights = TextWeights.of((text, "en") for text in texts)
    for one, other in product(range(4), range(4)):
        assert weights.cosine(texts[one], texts[other], "en") == pytest.approx(float(vectors[one] @ vectors[other]))


def test_words_that_no_person_says_make_a_text_less_similar():
    weights = TextWeights.of([("where is the museum", "en"), ("where is the bus", "en")])
    near, far = (weights.cosine(text, "where is the museum", "en") for text in ("museum", "museum qua pro quo"))
    assert 0 < far < near < 1


def test_acts_are_asking_thanking_rejecting_and_wanting_something_new():
    before = {"museum", "rome"}
    assert acts_in("Where is the museum?", "en", before) == {
        "question": True, "thanks": False, "rejection": False, "new wish": False,
    }  # fmt: skip
    assert acts_in("Thanks! That is too expensive.", "en", before)["rejection"]
    assert acts_in("I need a quiet hotel near the beach.", "en", before)["new wish"]
    assert acts_in("Where is the museum?", "en", None) == {"question": True, "thanks": False}
    assert agreement({"question": True, "thanks": False}, {"question": True, "thanks": True}) == {
        "question": True, "thanks": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rejects"),
    [("这些都太贵了", True), ("换一个", True), ("不行", True), ("不好意思再问一下", False), ("第二天去哪里", False)],
)
def test_a_rejection_in_chinese_is_found(text, rejects):
    pytest.importorskip("jieba")
    assert acts_in(text, "zh", set())["rejection"] is rejects
