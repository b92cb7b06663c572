"""Two versions in pairs: the mean difference by scenario, its interval, the exact test, and the verdict."""

from itertools import pairwise, product

import pytest

from duologue.analysis.over_users.pair_power import PairVariance, detectable_share, plan_pairs
from duologue.analysis.over_users.paired import (
    PairedDifference,
    differs,
    holm,
    mcnemar,
    paired_difference,
    pass_hat_differences,
    verdict,
)
from duologue.analysis.over_users.sign_flips import DRAWS, sign_flip_p
from duologue.analysis.over_users.tango import score_interval

WON, LOST, EVEN = (False, True), (True, False), (True, True)
SUCCESS = (0.0, 1.0)


def by_listing(differences):
    """Mid-p by all combinations of signs, one after the other; of up to six differences the usual p."""
    observed, differing = abs(sum(differences)), [one for one in differences if one]
    signs = [*product((1, -1), repeat=len(differing))]
    sums = [abs(sum(map(float.__mul__, map(float, own), differing))) for own in signs]
    equal = sum(abs(one - observed) < 1e-9 for one in sums)
    beyond = sum(one > observed + 1e-9 for one in sums)
    return (beyond + equal / (1 if len(differing) <= 6 else 2)) / len(signs)


def result(**fields):
    empty = dict.fromkeys(name for name in PairedDifference.model_fields)
    return PairedDifference(**{**empty, "pairs": 12, "scenarios": 12, "differing": 12, "reason": "", **fields})


@pytest.mark.parametrize(
    "differences",
    [
        [1.0],
        [1.0, -2.0, 3.0],
        [5.0, 1.0, 1.0, -1.0, 2.0, 4.0, 0.0, -2.0],
        [0.25, 0.1, -0.3, 0.7, 0.2, 0.15, -0.05, 0.9, 0.4],
        [1.0] * 6,
        [1.0] * 7 + [-1.0],
    ],
)
def test_p_counts_every_combination_of_signs(differences):
    assert sign_flip_p(differences) == pytest.approx(by_listing(differences), abs=1e-12)


def test_p_of_whole_numbers_and_of_fractions_is_the_same_for_twenty_scenarios():
    differences = [float(one) for one in (3, -1, 4, 1, -5, 9, 2, 6, -5, 3, 5, 8, -9, 7, 9, -3, 2, 3, 8, 4)]
    assert sign_flip_p(differences) == sign_flip_p([one / 10 for one in differences])


def test_p_of_more_than_twenty_scenarios_is_drawn_the_same_every_time_and_in_any_order():
    steps = [(-1) ** (number % 3) * (1 + number % 7) for number in range(40)]
    drawn = sign_flip_p([one / 10 for one in steps])
    assert drawn == sign_flip_p([one / 10 for one in reversed(steps)])
    assert drawn == pytest.approx(sign_flip_p(steps), abs=0.005)
    assert sign_flip_p([0.1] * 40) == 0.5 / (1 + DRAWS)


def test_equal_sums_of_drawn_signs_count_half():
    ones = [1.0] * 25 + [-1.0] * 12
    assert sign_flip_p([one / 10 for one in ones]) == pytest.approx(sign_flip_p(ones), abs=0.002)


def test_five_or_six_scenarios_are_not_called_different_more_often_than_the_usual_p_says():
    for number in range(1, 8):
        sizes = [2.0**place for place in range(number)]  # no two sums are equal
        signs = product((1, -1), repeat=number)
        p_values = [sign_flip_p([size * sign for size, sign in zip(sizes, own, strict=True)]) for own in signs]
        assert sum(p < 0.05 for p in p_values) / len(p_values) <= 0.05


def test_differences_of_zero_do_not_change_p():
    assert sign_flip_p([1, 1, 1, 1, 1, 1, *[0] * 50]) == 2 / 2**6
    assert sign_flip_p([0.0] * 9) == sign_flip_p([]) == 1.0


def test_the_difference_is_the_mean_over_scenarios_however_many_pairs_each_has():
    difference = paired_difference([[WON], [EVEN] * 9, [LOST, EVEN]], scale=SUCCESS)
    assert difference.pairs == 12
    assert (difference.old, difference.new) == pytest.approx((2 / 3, 2.5 / 3))
    assert difference.difference == pytest.approx(1 / 6)


def test_equal_versions_have_the_interval_of_an_unseen_difference():
    few, many, repeated = (
        paired_difference([[EVEN] * own] * n, scale=SUCCESS) for own, n in ((1, 12), (1, 60), (8, 12))
    )
    assert few.low == -few.high < -0.2  # a change of every fifth scenario is not seen in 12 with a chance of .07
    assert -0.08 < many.low < -0.05
    assert repeated.low == pytest.approx(few.low)
    assert repeated.detectable < few.detectable
    assert few.p == 1.0
    assert few.detectable > 0.5


def test_the_score_interval_ends_where_the_constrained_likelihood_gives_the_quantile():
    # By scipy's maximisation of the likelihood of 12 wins and 2 losses of 50 under each difference, and brentq.
    assert score_interval(12 / 50, 2 / 50, 50, 1.959964) == pytest.approx((0.061112, 0.344709), abs=1e-6)
    # Of no pair that differs it is Wilson's of as many failures: q^2 / (n + q^2).
    assert score_interval(0, 0, 12, 2) == pytest.approx((-0.25, 0.25))


def test_the_interval_and_p_agree_about_zero():
    for lost in range(13):
        difference = paired_difference([[LOST]] * lost + [[EVEN]] * (12 - lost), scale=SUCCESS)
        assert differs(difference) == (difference.p < 0.05) == (lost >= 6)
        assert difference.low <= difference.difference <= difference.high
        assert difference.high >= 0 if lost < 6 else difference.high <= 0


def test_a_gain_is_the_loss_of_the_other_version():
    scenarios = [[WON, EVEN], [LOST, LOST, EVEN], [EVEN], [WON], [WON], [WON, WON, EVEN], [EVEN]]
    one = paired_difference(scenarios, scale=SUCCESS)
    other = paired_difference([[(new, old) for old, new in pairs] for pairs in scenarios], scale=SUCCESS)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert (one.p, one.detectable) == (other.p, other.detectable)


def test_scores_between_zero_and_one_have_a_narrower_interval_than_successes():
    scores = paired_difference([[(0.5, 0.55 + 0.01 * (number % 3))] for number in range(12)], scale=SUCCESS)
    assert differs(scores)
    assert scores.high - scores.low < 0.3


def test_a_scale_of_points_gives_the_interval_of_the_share_times_its_span():
    shares = paired_difference([[WON], [LOST], *[[EVEN]] * 10], scale=SUCCESS)
    points = paired_difference([[(1, 5)], [(5, 1)], *[[(5, 5)]] * 10], scale=(1, 5))
    assert (points.low, points.high, points.detectable) == pytest.approx(
        (4 * shares.low, 4 * shares.high, 4 * shares.detectable)
    )


def test_tokens_have_students_interval_over_scenarios_and_none_where_few_differ():
    pairs = [[(100.0, 90.0 - number)] for number in range(12)]
    tokens = paired_difference(pairs, scale=None)
    assert tokens.low < tokens.difference == -15.5 < tokens.high < 0
    assert tokens.p == 1 / 2**12
    few = paired_difference(pairs[:5] + [[(1.0, 1.0)]] * 7, scale=None)
    assert few.low is few.detectable is None
    assert few.reason == "5 scenarios differ: the interval of a measure without bounds needs 6"


def test_few_scenarios_and_none_say_why_nothing_is_shown():
    five = paired_difference([[WON]] * 5, scale=SUCCESS)
    assert five.p == 2 / 2**5
    assert five.low <= 0 < five.difference
    assert five.reason == "5 scenarios cannot show a difference, as the test needs 6"
    assert paired_difference([[WON]], scale=SUCCESS).low is None
    none = paired_difference([[], []], scale=SUCCESS)
    assert none.reason == "there is no pair"
    assert none.p is none.difference is None


@pytest.mark.parametrize("pair", [(0, 1.5), (float("nan"), 1), (-1, 0)])
def test_a_value_outside_the_scale_is_refused(pair):
    with pytest.raises(ValueError, match="is not a finite value from 0 to 1"):
        paired_difference([[EVEN, pair]], scale=SUCCESS)


def test_pass_hat_of_one_conversation_is_the_share_and_of_all_is_all_or_nothing():
    scenarios = [[EVEN, WON, EVEN]] * 4 + [[EVEN, EVEN, EVEN]] * 6
    by_k = pass_hat_differences([*scenarios, []])
    assert list(by_k) == [1, 2, 3]
    assert by_k[1].old == pytest.approx(1 - 0.4 / 3)
    assert (by_k[3].old, by_k[3].new) == (0.6, 1.0)
    assert by_k[3].low == paired_difference([[WON]] * 4 + [[EVEN]] * 6, scale=SUCCESS).low


def test_pairs_are_counted_by_the_success_of_both():
    counts = mcnemar([(True, True), (True, False), (True, False), (False, True), (False, False)])
    assert counts._asdict() == {"both": 1, "only_old": 2, "only_new": 1, "neither": 1}


def test_holm_adjusts_each_p_by_how_many_are_as_great():
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("low", "high", "p", "margin", "words"),
    [
        (0.01, 0.2, 0.03, 0.0, "better"),
        (0.0, 0.2, 0.03, 0.0, "better"),
        (0.0, 0.2, 0.06, 0.0, "as good within the margin"),
        (-0.05, 0.2, 0.3, 0.05, "as good within the margin"),
        (-0.1 - 0.2, 0.2, 0.3, 0.3, "as good within the margin"),
        (-0.0501, 0.2, 0.3, 0.05, "not shown to be as good"),
        (-0.2, -0.01, 0.03, 0.05, "worse"),
        (-0.2, 0.0, 0.03, 0.05, "worse"),
        (-0.2, 0.0, 0.06, 0.05, "not shown to be as good"),
        (-0.04, -0.01, 0.03, 0.05, "as good within the margin"),
        (-0.04, -0.01, 0.03, 0.0, "worse"),
    ],
)
def test_the_verdict_at_its_borders(low, high, p, margin, words):
    assert verdict(result(low=low, high=high, p=p, difference=(low + high) / 2), margin) == words


def test_without_an_interval_there_is_no_verdict_and_a_margin_is_not_negative():
    assert verdict(result()) is None
    with pytest.raises(ValueError, match="a margin is 0 or more"):
        verdict(result(), -0.1)


def test_more_scenarios_or_fewer_differences_detect_less():
    often, seldom = PairVariance(0.0, 0.2, 0.3), PairVariance(0.0, 0.1, 0.3)
    designs = [
        (8, 1, often),
        (12, 1, often),
        (30, 1, often),
        (60, 1, often),
        (60, 4, often),
        (60, 4, seldom),
        (400, 4, seldom),
    ]
    smaller = [detectable_share(*design) for design in designs]
    assert all(one > other for one, other in pairwise(smaller))
    assert detectable_share(7, 100, seldom) is None
    # Of eight pairs that all succeed with the old version, six or more must fail with a chance of .8.
    assert detectable_share(8, 1, PairVariance(0.0, 0.0, 0.3)) == pytest.approx(0.8014, abs=1e-4)


def test_a_plan_has_a_row_for_each_number_of_repeats_and_marks_the_fewest_conversations():
    rows = plan_pairs(0.1, 0.8, repeats=(4, 1))
    assert [row.repeats for row in rows] == [1, 4]
    assert [row.conversations for row in rows] == [2 * row.scenarios * row.repeats for row in rows]
    assert [row.fewest for row in rows] == [True, False]
    alike = plan_pairs(0.1, 0.8, correlation=0.9, repeats=(1,))
    assert alike[0].scenarios < rows[0].scenarios
    tokens = plan_pairs(50.0, between=0.0, within=10_000.0)
    assert 0 < tokens[1].conversations - tokens[0].conversations < 10  # only quantiles of fewer scenarios are greater


@pytest.mark.parametrize(
    "settings", [{"detect": 0, "share": 0.5}, {"detect": 2, "share": 0.5}, {"detect": 0.1, "share": 2}, {"detect": 5}]
)
def test_a_plan_of_nothing_is_refused(settings):
    with pytest.raises(ValueError, match="a plan"):
        plan_pairs(**settings)
