"""A score over users: its sums, what has no value, and when there is an interval."""

import math

import pytest

np = pytest.importorskip("numpy")

from duologue.analysis.over_users.estimate import (  # noqa: E402
    FEWEST_USERS,
    Unsure,
    auc_within,
    crossed,
    divided,
    interval,
    jackknife_variance,
    mean_of,
    of_users,
    ratio,
    root_from,
    sums_of,
)
from duologue.analysis.over_users.rates import of_few, share_of_users, wilson  # noqa: E402


def means_of(values):
    """The mean of one value a user, as a function of how often each counts."""
    return ratio(np.array(values, dtype=float), np.ones(len(values)))


def test_the_items_of_a_user_are_summed_by_the_users_place():
    users, places = of_users(["bea", "ann", "bea"])
    assert (users, places.tolist()) == (["bea", "ann"], [0, 1, 0])
    assert sums_of(np.array([1.0, 5.0, 2.0]), places).tolist() == [3.0, 5.0]
    tables = crossed(places, np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
    assert tables.tolist() == [[[1, 0], [1, 0]], [[0, 0], [0, 1]]]


def test_a_ratio_without_anything_below_is_not_a_number():
    values = divided(np.array([1.0, 1.0, 0.0]), np.array([2.0, 0.0, 1.0]))
    assert values[0] == 0.5
    assert math.isnan(values[1])
    assert values[2] == 0.0


def test_the_mean_of_scores_takes_the_same_users_for_each():
    mean = mean_of([means_of([1, 3]), means_of([5, 5])])
    assert mean(np.array([[1.0, 1.0], [2.0, 0.0]])).tolist() == [3.5, 3.0]


def test_pairs_of_one_fold_alone_are_compared_and_equal_scores_count_half():
    positive = np.array([True, False, False, True])
    score, fold = np.array([0.5, 0.5, 0.1, 0.0]), np.array([0, 0, 0, 1])
    user = np.array([0, 1, 1, 0])
    auc, pairs = auc_within(positive, score, fold, user)
    assert auc(np.ones((1, 2))).tolist() == [0.75]
    assert pairs.tolist() == [2, 2]


def test_a_score_that_has_no_value_says_why():
    estimate = interval(ratio(np.zeros(9), np.zeros(9)), np.ones(9), "nothing is rated", n=0)
    assert (estimate.value, estimate.reason, estimate.users) == (None, "nothing is rated", 9)


def test_an_interval_needs_eight_users_and_no_more():
    assert FEWEST_USERS == 8
    few = interval(means_of(range(7)), np.ones(7), "", n=7)
    assert (few.value, few.low, few.reason) == (3.0, None, "no interval: 7 users, 8 are needed")
    assert interval(means_of([4]), np.ones(1), "", n=1).reason == "no interval: 1 user, 8 are needed"
    enough = interval(means_of(range(8)), np.ones(8), "", n=8)
    assert (enough.value, enough.n, enough.users, enough.reason) == (3.5, 8, 8, "")
    # The mean's standard error is the values' deviation, 6 ** .5, over the root of their number; t of 7 is 2.3646.
    assert enough.low == pytest.approx(3.5 - 2.364624 * (6 / 8) ** 0.5)
    assert enough.high == pytest.approx(3.5 + 2.364624 * (6 / 8) ** 0.5)
    cut = interval(means_of(range(8)), np.ones(8), "", n=8, scale=(2, 5))
    assert (cut.low, cut.high) == (2, 5)


def test_a_share_has_an_interval_of_the_score_form_and_users_weigh_by_their_items():
    shares = [0.0, *[1.0] * 9]
    share = interval(means_of(shares), np.ones(10), "", n=10, share=True)
    variance = jackknife_variance((9 - np.array(shares)) / 9)
    expected = share_of_users(0.9, variance, [1] * 10)
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high))
    assert share.high < 1  # Student's would be cut at 1
    unequal = np.array([30.0, *[3.0] * 9])
    mean = ratio(np.arange(10) * unequal, unequal)
    wide, narrow = (interval(mean, items, "", n=57) for items in (unequal, np.ones(10)))
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    # Where one has most items there are hardly two users: t of 1 is 12.706.
    most = np.array([1000.0, *[1.0] * 9])
    one_of_ten = interval(means_of(range(10)), most, "", n=1009)
    assert one_of_ten.high == pytest.approx(4.5 + 12.706205 * (55 / 6 / 10) ** 0.5)


def test_where_few_users_err_the_interval_is_students_on_the_root_of_the_error():
    errors = np.array([*[0.0] * 8, 1.0, 1.0])
    score = interval(means_of(errors), np.ones(10), "", n=10, scale=(0, 4), on=root_from(0.0, 4.0, errors))
    half = 2.940089 * jackknife_variance(((2 - errors) / 9) ** 0.5) ** 0.5  # t of 3.5: the two who err, and 1.5
    assert (score.value, score.low, score.high) == pytest.approx((0.2, max(0.2**0.5 - half, 0) ** 2, (0.2**0.5 + half) ** 2))  # fmt: skip
    agreement = interval(means_of(1 - errors), np.ones(10), "", n=10, scale=(-1, 1), on=root_from(1.0, -1.0, errors))
    assert (agreement.value, agreement.low, agreement.high) == pytest.approx((0.8, 1 - score.high, 1 - score.low))
    unsure = interval(Unsure(means_of(1 - errors), 0.25), np.ones(10), "", n=10, on=root_from(1.0, -1.0, errors))
    assert unsure.low == pytest.approx(1 - (0.2**0.5 + ((half) ** 2 + (2.940089 * (0.7**0.5 - 0.2**0.5)) ** 2) ** 0.5) ** 2)  # fmt: skip
    all_err = interval(means_of(range(8)), np.ones(8), "", n=8, on=root_from(0.0, 9.0, np.ones(8)))
    half = 2.364624 * jackknife_variance(((28 - np.arange(8)) / 7) ** 0.5) ** 0.5  # t of 7: as many as there are
    assert all_err.high == pytest.approx((3.5**0.5 + half) ** 2)


def test_there_is_no_interval_where_it_does_not_matter_who_is_left_out_or_one_alone_has_a_score():
    assert interval(means_of([2] * 9), np.ones(9), "", n=9).reason == "no interval: the same whichever user is left out"
    one_rated = ratio(np.array([1.0, *[0.0] * 8]), np.array([2.0, *[0.0] * 8]))
    assert interval(one_rated, np.ones(9), "", n=1).reason == "no interval: without one of the users there is no score"
    half = interval(means_of([0.5] * 9), np.ones(9), "", n=9, share=True)
    assert half.reason == "no interval: the same whichever user is left out"


def test_a_share_that_one_of_forty_misses_may_be_one_that_one_in_five_hundred_misses():
    # One of 40 or more fails where one in 500 does in .077 of draws: Wilson's bound, .9956, does not hold that.
    share = interval(means_of([0.0, *[1.0] * 39]), np.ones(40), "", n=40, share=True)
    assert share.high == pytest.approx(1 - 0.05 / 40, abs=1e-4)
    # Of a share of .3 that few trials have it says nothing: it is near no end.
    assert of_few(wilson(0.3, 5), 5) == wilson(0.3, 5)


@pytest.mark.parametrize("reached", [0.0, 1.0])
def test_a_share_that_all_users_reach_or_none_has_an_interval(reached):
    share = interval(means_of([reached] * 9), np.ones(9), "", n=9, share=True)
    assert share.low <= reached <= share.high
    assert 0.2 < share.high - share.low < 0.4
