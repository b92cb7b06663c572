"""Mean F1 of options, and what one more user with a rare one would change."""

import pytest

pytest.importorskip("numpy")

import numpy as np

from duologue.analysis.over_users.estimate import Unsure, interval, mean_of
from duologue.analysis.over_users.option_f1 import mean_f1, one_more_f1, why_none

BOTH, PREDICTED, TRUE = (
    np.eye(10, 2) * one + (np.arange(10) > 1)[:, None] * [1, 0] for one in ([0, 1], [1, 1], [0, 1])
)
"""Of ten users the first has a wrong prediction of the first option, the second the only one of the second option."""


def test_what_one_more_user_of_a_rare_option_changes_is_counted_by_hand():
    f1 = np.array([2 * 8 / (9 + 8), 1.0])
    counts = [count.sum(axis=0) for count in (BOTH, PREDICTED, TRUE)]
    assert mean_f1(*counts) == pytest.approx(f1.mean())
    assert mean_f1(*counts, weighted=True) == pytest.approx((f1 * [8, 1]).sum() / 9)
    # One more error in the second option would make its F1 2/3; it has none yet.
    assert one_more_f1(BOTH, PREDICTED, TRUE) == pytest.approx((1 / 3 / 2) ** 2)
    # As many more as the one who has it has: 2 missed of 4 are 2/3 too.
    twice = [count * [1, 2] for count in (BOTH, PREDICTED, TRUE)]
    assert one_more_f1(*twice) == pytest.approx((1 / 3 / 2) ** 2)
    assert one_more_f1(BOTH, PREDICTED, 0 * TRUE) == 0
    assert why_none(BOTH, PREDICTED, TRUE) == ""
    assert why_none(BOTH, PREDICTED, TRUE * [1, 0]) == "one of the values is true for no user"
    assert why_none(BOTH * [1, 0], PREDICTED, TRUE) == "one of the values is predicted, but never rightly"
    assert why_none(BOTH * [1, 0], PREDICTED * [1, 0], TRUE) == ""


def test_a_mean_of_scores_is_as_unsure_as_these_and_less_if_they_are_apart():
    values = np.arange(10) / 10
    of = Unsure(lambda drawn: drawn @ values / drawn.sum(axis=1), 0.09)
    more = [getattr(mean_of([of, of], apart=apart), "more", None) for apart in (False, True)]
    assert more == pytest.approx([0.09, 0.045])
    sure, unsure = (interval(one, np.ones(10), "", n=10) for one in (of.of, mean_of([of, of.of])))
    assert unsure.value == pytest.approx(sure.value)
    assert unsure.high - unsure.low > sure.high - sure.low
    without = interval(mean_of([of, Unsure(of.of, 0.0, "why")]), np.ones(10), "", n=10)
    assert (without.value, without.low, without.reason) == (pytest.approx(sure.value), None, "no interval: why")
