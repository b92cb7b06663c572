"""Two versions in pairs: on these scenarios, and on scenarios like these."""

import math

import pytest

from duologue.analysis.over_users.pairs import (
    holm,
    on_these_scenarios,
    paired_difference,
    pass_hat_differences,
    sign_flip_p,
)

LOST, WON, BOTH, NONE = (True, False), (False, True), (True, True), (False, False)


def test_pairs_that_are_all_equal_have_a_narrow_interval():
    same = on_these_scenarios([BOTH] * 96)
    assert (same.difference, same.p, same.shown) == (0, 1, "not shown")
    assert same.low == pytest.approx(-0.02, abs=0.001)
    assert same.high == pytest.approx(0.02, abs=0.001)
    assert 0.05 < (same.detectable or 1) < 0.15


def test_twelve_lost_and_none_won_is_worse():
    found = on_these_scenarios([BOTH] * 84 + [LOST] * 12)
    assert found.p == pytest.approx(2 / 2**12)
    assert found.shown == "worse"
    assert found.high is not None
    assert found.high < 0
    assert on_these_scenarios([WON] * 6 + [NONE] * 2).shown == "better"


def test_five_pairs_that_differ_show_nothing_however_they_fall():
    found = on_these_scenarios([LOST] * 5)
    assert (found.p, found.shown, found.detectable) == (2 / 2**5, "not shown", None)
    assert on_these_scenarios([]).difference is None


def test_the_difference_over_scenarios_counts_each_of_them_once():
    found = paired_difference([[(0, 1), (0, 1)], [(0, 0)], [(1, 1), (1, 0), (0, 0), (0, 0)]], scale=(0, 1))
    assert found.difference == pytest.approx((1 + 0 - 0.25) / 3)
    assert (found.pairs, found.scenarios, found.differing, found.low) == (7, 3, 2, None)
    assert found.reason
    wide = paired_difference([[(0, 1)]] * 12, scale=(0, 1))
    assert wide.low is not None
    assert 0 < wide.low < wide.difference == 1
    assert paired_difference([[(1.0, 3.0)]] * 5, scale=None).low is None
    tokens = paired_difference([[(10.0, 12.0 + n)] for n in range(8)], scale=None)
    assert tokens.low is not None
    assert tokens.low > 0


def test_a_value_outside_of_the_scale_or_without_a_number_is_refused():
    for pair, scale in (((0.0, 2.0), (0.0, 1.0)), ((0.0, math.nan), None)):
        with pytest.raises(ValueError, match="is not a finite value"):
            paired_difference([[pair]], scale=scale)


def test_the_sign_flip_test_counts_all_signs_or_is_near_to_that():
    assert sign_flip_p([1.0] * 8) == 2 / 2**8
    assert sign_flip_p([0.0, 0.0]) == 1
    assert sign_flip_p([1.0] * 12 + [-1.0]) == pytest.approx(0.0023, abs=0.0015)


def test_pass_hat_is_compared_up_to_the_fewest_pairs_of_a_scenario():
    found = pass_hat_differences([[LOST, BOTH], [BOTH, BOTH, NONE]])
    assert [*found] == [1, 2]
    assert found[2].old == pytest.approx((1 + 1 / 3) / 2)


def test_p_is_adjusted_for_the_number_of_tests():
    assert holm([0.01, None, 0.04, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.06), pytest.approx(0.06)]
