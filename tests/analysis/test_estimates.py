"""Estimates beside values that were calculated by hand or by scipy, and what has no interval."""

from math import comb

import pytest

from duologue.analysis.estimates import folds, holm, mean, paired, share, sign_flip_p, students, wilson

SIX = [(3, 4), (4, 4), (0, 4), (2, 4), (4, 4), (3, 4)]


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.7062047), (5, 2.5705818), (11, 2.2009852), (59, 2.0009954), (999, 1.9623414)]
)
def test_students_quantile_is_that_of_tables(freedom, quantile):
    assert students(freedom) == pytest.approx(quantile, abs=1e-5)


def test_wilsons_interval_is_that_of_a_textbook():
    assert wilson(0.5, 10, 1.959964) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(1.0, 20, 1.959964) == pytest.approx((0.8389, 1.0), abs=1e-4)


def test_a_share_has_an_interval_from_six_scenarios_on():
    whole = share(SIX)
    assert (whole.value, whole.n, whole.groups) == (16 / 24, 24, 6)
    assert whole.low is not None
    assert whole.high is not None
    assert 0 < whole.low < whole.value < whole.high < 1
    few = share(SIX[:5])
    assert few.value is not None
    assert few.low is None
    assert "5 scenarios" in few.reason
    assert share([]).value is None


def test_repeats_that_are_all_alike_tell_no_more_than_scenarios():
    alike = share([(8, 8)] * 6 + [(0, 8)] * 6)
    apart = share([(4, 8)] * 12)
    once = share([(1, 1)] * 6 + [(0, 1)] * 6)
    assert alike.low is not None
    assert apart.low is not None
    assert once.low is not None
    assert alike.low == pytest.approx(once.low, abs=0.02)
    assert apart.low > alike.low + 0.1


def test_all_successes_have_an_interval_that_grows_narrow():
    lows = [share([(4, 4)] * number).low or 0.0 for number in (6, 12, 60)]
    assert all(low is not None for low in lows)
    assert lows == sorted(lows)
    assert lows[-1] > 0.9


def test_scores_are_jackknifed():
    numpy = pytest.importorskip("numpy")
    from duologue.analysis.estimates import ratio, score

    values = [1.0, 2.0, 3.0, 4.0, 5.0, 9.0]
    own = mean([[value] for value in values])
    found = score(ratio(numpy.array(values), numpy.ones(6)), [1] * 6)
    assert (found.value, found.low, found.high) == pytest.approx((own.value, own.low, own.high))
    assert own.low == pytest.approx(4 - 2.5705818 * (8.0 / 6) ** 0.5)
    assert score(ratio(numpy.array(values), numpy.ones(6)), [1] * 6, rarer=4).low is None
    assert score(ratio(numpy.ones(6), numpy.ones(6)), [1] * 6).low is None


def test_paired_differences():
    lost = paired([[(1, 0)] * 2] * 6, (0, 1))
    assert (lost.value, lost.old, lost.new, lost.n) == (-1, 1, 0, 12)
    assert lost.p == pytest.approx(2 / 2**6)
    assert lost.high is not None
    assert lost.high < 0
    even = paired([[(1, 1)]] * 6, (0, 1))
    assert even.p == 1
    assert even.low is not None
    assert even.low < 0 < (even.high or 0)
    assert paired([[(5.0, 6.0)]] * 3).reason
    assert not paired([]).n


def test_signs_are_counted_and_then_approached():
    assert sign_flip_p([1, 1, 1, -1]) == pytest.approx(2 * (1 + comb(4, 1)) / 2**4)
    assert sign_flip_p([0, 0]) == 1
    assert sign_flip_p([1.0] * 13) == pytest.approx(2 / 2**13, abs=1e-3)


def test_holm_keeps_places():
    assert holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])


def test_a_user_is_in_one_fold_whatever_the_order():
    names = ["a", "b", "c", "a", "d", "e", "f"]
    dealt = dict(zip(names, folds(names, 3), strict=True))
    assert folds(names[::-1], 3) == [dealt[name] for name in names[::-1]]
    assert sorted(set(dealt.values())) == [0, 1, 2]
