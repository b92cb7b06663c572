"""Coefficients beside those of scikit-learn, and by hand."""

import pytest

np = pytest.importorskip("numpy")
metrics = pytest.importorskip("sklearn.metrics")

from duologue.analysis.coefficients import (  # noqa: E402
    chance_of_margins,
    chance_of_uncertain,
    coefficient,
    distances_of,
)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights):
    rng = np.random.default_rng(3)
    user, first = np.repeat(np.arange(10), 20), rng.integers(0, 4, 200)
    second = np.where(rng.random(200) < 0.7, first, rng.integers(0, 4, 200))
    tables = np.zeros((10, 4, 4))
    np.add.at(tables, (user, first, second), 1)
    found = coefficient(tables, chance_of_margins(distances_of(np.arange(4.0), weights)))
    assert found.value == pytest.approx(metrics.cohen_kappa_score(first, second, weights=weights))
    assert found.low < found.value < found.high
    assert (found.n, found.groups) == (200, 10)


def test_few_of_the_rarer_value_have_no_interval():
    tables = np.zeros((8, 2, 2))
    tables[:, 0, 0] = 10
    tables[0, 1, 1] = 2
    found = coefficient(tables, chance_of_uncertain(distances_of(np.arange(2.0), None)))
    assert found.value == 1
    assert found.low is None
    assert found.reason
