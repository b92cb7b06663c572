"""The corners of the grid: where the intervals hold the truth least often."""

import pytest

pytest.importorskip("scipy")

from tests.intervals.grid import agreement, auc, success

LEAST = 0.89
"""Coverage of a cell."""


@pytest.mark.heavy
@pytest.mark.parametrize(
    "about",
    [
        (6, 1, 0.95, 0.0),
        (6, 8, 0.05, 0.7),
        (12, 8, 0.2, 0.7),
        (20, 8, 0.95, 0.3),
        (60, 8, 0.95, 0.7),
        (60, 4, 0.5, 0.3),
    ],
    ids=str,
)
def test_the_interval_of_a_success_holds(about):
    found = success(3000, *about)
    assert found.with_interval == 1
    assert found.coverage >= LEAST


@pytest.mark.heavy
@pytest.mark.parametrize(
    "about",
    [
        (60, False, "five", 0.3),
        (20, False, "97 and 3 %", 0.3),
        (20, True, "three values", 0.97),
        (8, False, "five", 0.8),
    ],
    ids=str,
)
def test_the_interval_of_an_agreement_holds(about):
    for found in agreement(400, *about):
        assert found.coverage >= LEAST, found


@pytest.mark.heavy
@pytest.mark.parametrize("about", [(60, False, 0.03, 2.5), (60, True, 0.3, 1.0), (8, True, 0.3, 0.0)], ids=str)
def test_the_interval_of_an_auc_holds(about):
    assert auc(400, *about).coverage >= LEAST
