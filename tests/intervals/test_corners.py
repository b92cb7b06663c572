"""Intervals hold what they say at the corners of the grids: all succeeded, rare values, eight users."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the grids need the extra stats")

from scipy.stats import binom

from tests.intervals.__main__ import main
from tests.intervals.coefficients import (
    agreement_cell,
    auc_cell,
    section_cell,
    spread_of,
)
from tests.intervals.scores import (
    FINDS,
    alike_cell,
    far_above,
    judged_cell,
    kappa_cell,
    share_cell,
    skewed_cell,
)
from tests.intervals.success import (
    MEANS,
    SCENARIOS,
    clustered_once,
    held,
    oracle,
    posterior,
    scenario_counts,
    single_counts,
)


@pytest.mark.parametrize(
    ("scenarios", "repeats", "mean", "correlation", "least"),
    [(6, 8, 0.7, 0.7, 0.935), (12, [1, 1, 1, 8] * 3, 0.7, 0.5, 0.93), (8, [1, 2, 5, 8] * 2, 0.5, 0.7, 0.932)],
)
def test_the_interval_of_success_holds_where_it_held_least(scenarios, repeats, mean, correlation, least):
    assert held(map(clustered_once, scenario_counts(scenarios, repeats, mean, correlation, 4000)), mean)[0] >= least


def test_the_interval_of_one_conversation_per_scenario_holds_every_share_by_its_exact_coverage():
    shares = np.linspace(0.01, 0.99, 491)
    for scenarios in SCENARIOS:
        rates = [clustered_once(one) for one in single_counts(scenarios)]
        chances = binom.pmf(np.arange(scenarios + 1)[:, None], scenarios, shares)
        covered = np.array([(rate.low <= shares) & (shares <= rate.high) for rate in rates])
        assert (chances * covered).sum(axis=0).min() >= 0.94
        of_means = [held(rates, mean, binom.pmf(np.arange(scenarios + 1), scenarios, mean))[0] for mean in MEANS]
        assert np.mean(of_means) <= 0.98


def test_the_interval_of_success_holds_the_share_that_never_fails_and_no_scenario_makes_it_sure():
    assert clustered_once(((8, 8),) * 12).high == 1
    assert clustered_once(((8, 8),) * 12).low < 0.77


@pytest.mark.parametrize("finds", FINDS.values(), ids=FINDS)
@pytest.mark.parametrize(("users", "rate"), [(40, 0.2), (100, 0.1), (200, 0.03), (400, 0.03)])
def test_kappa_of_a_judge_however_weak_has_an_interval_that_holds(users, rate, finds):
    coverage, without = kappa_cell(2000, users, rate, finds)
    assert coverage >= 0.92
    assert without < 0.2


@pytest.mark.parametrize(("users", "correlation"), [(8, 0.1), (10, 0.36), (20, 0.3)])
def test_the_correlation_within_users_has_an_interval_that_holds(users, correlation):
    assert 0.925 <= alike_cell(600, users, correlation) <= 0.98


@pytest.mark.parametrize(("items", "mean"), [([30] * 20 + [3] * 80, 0.9), ([30] * 4 + [3] * 16, 0.5)])
def test_a_share_over_users_some_of_whom_have_ten_times_the_items_has_an_interval_that_holds(items, mean):
    assert share_cell(800, items, mean, 0.5)[0] >= 0.93


@pytest.mark.parametrize(
    ("users", "name", "most"),
    [(10, "near 0", 1.0), (20, "1 in 10 far above", 0.98), (50, "one in 20", 0.98), (10, "in the middle", 0.97)],
)
def test_a_mean_near_an_end_of_the_scale_has_an_interval_that_holds(users, name, most):
    low, high = skewed_cell(500, users, name)
    assert 0.91 <= low <= high <= most


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize(
    ("scenarios", "repeats", "mean", "correlation"),
    [
        *(
            (scenarios, repeats, mean, correlation)
            for scenarios in (6, 8, 10)
            for repeats in (2, 4, 8)
            for mean in (0.05, 0.7)
            for correlation in (0.3, 0.7)
        ),
        (12, 8, 0.95, 0.7),  # mostly all succeed
        (30, 4, 0.95, 0.7),
        (6, 8, 0.9, 0.7),
        (60, 8, 0.95, 0.5),
        (12, 8, 0.8, 0.7),
        (30, 8, 0.1, 0.7),
        (6, 8, 0.5, 0.7),
        (8, 1, 0.05, 0),
        (20, 1, 0.05, 0),
        (12, [1, 2, 5, 8] * 3, 0.95, 0.7),
    ],
)
def test_the_interval_of_success_holds_in_93_percent(scenarios, repeats, mean, correlation):
    # 8,000 draws: the standard error of a coverage is .0025.
    coverage, width = held(map(clustered_once, scenario_counts(scenarios, repeats, mean, correlation, 8000)), mean)
    print(f"| {scenarios} x {repeats} | {mean} | {correlation} | {coverage:.3f} | {width:.3f} |")
    assert coverage >= 0.928


@pytest.mark.heavy
@pytest.mark.untraced
def test_the_interval_of_success_is_no_wider_than_need_be():
    cells = [(mean, scenario_counts(12, 8, mean, correlation, 1000)) for mean in (0.05, 0.2, 0.5) for correlation in (0, 0.3, 0.7)]  # fmt: skip
    ours, valid = (sum(held(map(of, counts), mean)[1] for mean, counts in cells) for of in (clustered_once, posterior))
    assert ours < 1.25 * valid
    scenarios = scenario_counts(12, 8, 0.5, 0.7, 1000)
    assert held(map(clustered_once, scenarios), 0.5)[1] < 1.25 * held(map(oracle(0.7), scenarios), 0.5)[1]
    coverage = [held(map(clustered_once, counts), mean)[0] for mean, counts in cells]
    assert sum(coverage) / len(coverage) <= 0.98


@pytest.mark.heavy
@pytest.mark.untraced
def test_kappa_at_97_to_3_has_an_interval_that_holds_or_none():
    assert kappa_cell(1000, 40, 0.03)[1] > 0.9
    coverage, without = kappa_cell(2000, 200, 0.03)
    assert 0.93 <= coverage <= 0.98
    assert without < 0.25


@pytest.mark.heavy
@pytest.mark.untraced
def test_no_form_that_takes_skewness_into_account_holds_more_where_one_user_in_20_lies_far_above():
    for row in far_above(2000)[2:]:
        users, name, printed, *others = (cell.strip() for cell in row.strip("|").split("|"))
        if name == "one in 20":
            assert max(map(float, others)) < float(printed) + 0.01, users


@pytest.mark.heavy
@pytest.mark.untraced
def test_scores_of_eight_users_have_intervals_that_hold():
    for score, coverage in judged_cell(1500, 8).items():
        assert 0.92 <= coverage <= 0.985, score


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize(("items", "least"), [([6] * 50, 0.915), ([30] * 4 + [3] * 16, 0.96)])
def test_a_share_over_users_has_an_interval_that_holds_where_students_does_not(items, least):
    score, student = share_cell(1500, items, 0.95, 0.5)
    assert score > least
    assert student < 0.9


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize(
    ("users", "unequal", "name", "right"),
    [(8, False, "97 and 3 %", 0.3), (40, False, "three values", 0.8), (20, True, "five", 0.3)],
)
def test_agreement_of_few_labels_has_intervals_that_hold(users, unequal, name, right):
    cell = agreement_cell(600, users, unequal, name, right)
    for coefficient, (coverage, without) in cell.items():
        assert (without > 0.8) if coverage is None else coverage >= 0.92, coefficient


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize("users", [8, 20, 50, 97])
@pytest.mark.parametrize("mean", [0.5, 0.8, 0.98])
def test_hits_of_users_whose_conversations_are_all_alike_have_an_interval_that_holds(users, mean):
    assert share_cell(1500, spread_of(users, unequal=True), mean, 0.95)[0] >= 0.91


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize(("users", "apart"), [(20, 0.0), (20, 1.0), (97, 2.5)])
def test_an_auc_of_few_positive_items_has_an_interval_that_holds(users, apart):
    coverage, without = auc_cell(300, users, unequal=False, rate=0.03, apart=apart)
    assert coverage >= 0.92
    assert without < 0.45


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize("unequal", [False, True])
def test_the_f1_of_a_reader_near_0_has_an_interval_that_holds_where_students_does_not(unequal):
    ours, students = section_cell(600, 10, unequal, 0.06, whole=True)
    assert ours >= 0.93
    assert students < 0.9


def test_the_grids_print_their_tables(capsys):
    main(["rules", "kappa", "--draws", "8"])
    out = capsys.readouterr().out
    assert "| 0.95 | 12 x 8 |" in out
    assert "Cohen's kappa of rare values" in out
