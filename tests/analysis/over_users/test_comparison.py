"""Two sources by one measure, beside values that were calculated by hand."""

import pytest

pytest.importorskip("scipy")

from duologue.analysis.over_users.comparison import compare_means


def test_students_test_pools_the_variances_and_welchs_does_not():
    # Means 2 and 7, sums of squares 2 and 20 of three and four values.
    comparison = compare_means("words", "ours", "theirs", [1, 2, 3], [4, 6, 8, 10])
    assert (comparison.n_a, comparison.n_b, comparison.difference) == (3, 4, -5.0)
    assert comparison.statistic == pytest.approx(-5 / (22 / 5 * (1 / 3 + 1 / 4)) ** 0.5)
    assert comparison.welch_statistic == pytest.approx(-5 / (1 / 3 + 20 / 3 / 4) ** 0.5)
    assert 0 < comparison.p < comparison.welch_p + 0.05 < 0.1
    assert comparison.reason is None


@pytest.mark.parametrize(
    ("of_a", "of_b", "reason"),
    [
        ([1], [1, 2], "a test needs two values on either side"),
        ([], [1, 2], "a test needs two values on either side"),
        ([1, 1], [2, 2], "the measure is constant on both sides"),
    ],
)
def test_values_that_cannot_be_tested_say_why(of_a, of_b, reason):
    comparison = compare_means("words", "ours", "theirs", of_a, of_b)
    assert (comparison.statistic, comparison.p, comparison.welch_p, comparison.reason) == (None, None, None, reason)


def test_a_measure_that_is_constant_on_one_side_alone_is_tested():
    assert compare_means("words", "ours", "theirs", [1, 1], [2, 4]).statistic == pytest.approx(-2.0)
