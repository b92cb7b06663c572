"""The metrics of profile identification: counted by hand, and as scikit-learn's."""

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, recall_score

from duologue.analysis.recllmsim.identification.metrics import METRICS, functions, measured, over_seeds, sums


def test_the_metrics_are_those_counted_by_hand():
    truth = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]], dtype=bool)
    scores = np.array([[0.9, 0.4, 0.6, 0.1], [0.2, 0.3, 0.8, 0.0], [0.1, 0.7, 0.2, 0.6]])
    of = functions(sums(truth, scores, np.array([0, 0, 1]), 2))
    metrics = {name: over_seeds([of[name]], np.ones(2), 3).value for name in METRICS}
    # Said with .5 or more: {0, 2}, {2}, {1, 3}. Right: 0 of the first, 2 of the second, 3 of the third; 5 said, 5 true.
    assert metrics["f1_micro"] == pytest.approx(2 * 3 / 10)
    # By option: 2*1/(1+2), 0, 2*1/(2+1), 2*1/(1+1); weights 2, 1, 1, 1.
    assert metrics["f1_macro"] == pytest.approx((2 / 3 + 0 + 2 / 3 + 1) / 4)
    assert metrics["f1_weighted"] == pytest.approx((2 * 2 / 3 + 0 + 2 / 3 + 1) / 5)
    assert metrics["exact"] == pytest.approx(1 / 3)
    # First options: 0, 2, 1; the first three: {0, 2, 1}, {2, 1, 0}, {1, 3, 2}.
    assert (metrics["hit_1"], metrics["hit_3"]) == pytest.approx((2 / 3, 1))
    assert (metrics["recall_1"], metrics["recall_3"]) == pytest.approx((2 / 5, 4 / 5))


ROWS = st.integers(3, 5).flatmap(
    lambda size: st.lists(
        st.tuples(st.lists(st.booleans(), min_size=size, max_size=size), st.permutations(range(size))),
        min_size=1,
        max_size=8,
    )
)
"""Of each conversation, which options are true, and the place of each option."""


@drawn(ROWS)
@settings(max_examples=30)
def test_f1_exact_match_and_recall_are_those_of_scikit_learn(drawn_rows):
    truth = np.array([true for true, _ in drawn_rows])
    truth[0, 0] = True
    rows, options = truth.shape
    scores = (np.array([order for _, order in drawn_rows]) + 1) / options
    of = functions(sums(truth, scores, np.arange(rows) % 3, 3))
    metrics = {name: float(of[name](np.ones((1, 3)))[0]) for name in METRICS}
    predicted = scores >= 0.5
    for kind in ("micro", "macro", "weighted"):
        assert metrics[f"f1_{kind}"] == pytest.approx(f1_score(truth, predicted, average=kind, zero_division=0))
    assert metrics["exact"] == pytest.approx(accuracy_score(truth, predicted))
    for k in (1, 3):
        first = scores >= np.sort(scores, axis=1)[:, -k:][:, :1]
        assert metrics[f"recall_{k}"] == pytest.approx(recall_score(truth, first, average="micro", zero_division=0))
        assert metrics[f"hit_{k}"] == pytest.approx((truth & first).any(axis=1).mean())


def test_the_mean_and_the_deviation_over_seeds_are_those_counted_by_hand():
    metric = over_seeds([lambda drawn: drawn[:, 0] * 0.2, lambda drawn: drawn[:, 0] * 0.6], np.ones(2), 5)
    assert (metric.value, metric.sd) == pytest.approx((0.4, 0.08**0.5))
    assert "no interval: 2 users" in metric.reason


def test_of_equal_scores_the_first_options_count_and_one_of_half_is_said():
    truth = np.array([[0, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)
    scores = np.array([[0.5, 0.5, 0.5, 0.5], [0.0, 0.2, 0.2, 0.0]])
    of = functions(sums(truth, scores, np.array([0, 0]), 1))
    metrics = {name: over_seeds([of[name]], np.ones(1), 2).value for name in METRICS}
    # The first row says all four, and 0, 1, 2 are its first three; in the second no true option has a score above 0.
    assert (metrics["hit_1"], metrics["hit_3"], metrics["recall_3"]) == (0, 0.5, 0.5)
    assert metrics["f1_micro"] == pytest.approx(2 * 1 / (4 + 2))


def test_f1_near_an_end_has_the_interval_of_a_share_and_its_macro_mean_none_where_no_user_has_an_option():
    user = np.arange(10)
    truth = np.array([[1, number < 5] for number in user], dtype=bool)
    scores = truth * 0.9
    scores[0] = 0.1
    metrics = measured([functions(sums(truth, scores, user, 10))], np.ones(10), 10)
    assert metrics["f1_micro"].high < 1  # Student's is cut to 1
    assert metrics["f1_macro"].low is not None
    truth[:, 1] = False
    absent = measured([functions(sums(truth, scores, user, 10))], np.ones(10), 10)
    assert absent["f1_macro"].low is None
    assert absent["f1_macro"].reason == "no interval: one of the values is true for no user"
    assert absent["f1_weighted"].low is not None
    truth[:, 1] = np.arange(10) == 9
    scores[:, 1] = np.arange(10) == 8
    never = measured([functions(sums(truth, scores, user, 10))], np.ones(10), 10)
    assert never["f1_macro"].reason == "no interval: one of the values is predicted, but never rightly"
