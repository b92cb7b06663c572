"""Two versions in pairs: equal ones are rarely called different, intervals hold, and stated differences are found."""

from itertools import product

import pytest

pytest.importorskip("scipy", reason="the grids need the extra stats")

from duologue.analysis.over_users.sign_flips import sign_flip_p
from tests.intervals.__main__ import main
from tests.intervals.paired_differences import (
    ALIKE,
    APART,
    EQUAL,
    Cell,
    found,
    found_by_runs,
    paired_cell,
    stated,
)
from tests.intervals.pairs_against_runs import MID, USUAL, calls_by_signs, calls_of, most_called


def most_by_chance(draws, errors=2):
    """A twentieth and so many of its standard errors."""
    return 0.05 + errors * (0.05 * 0.95 / draws) ** 0.5


@pytest.mark.parametrize(("cell", "scenarios", "repeats"), [(EQUAL[1], 12, 1), (EQUAL[2], 12, 4), (EQUAL[6], 8, 2)])
def test_equal_versions_are_rarely_called_different_and_their_interval_holds_zero(cell, scenarios, repeats):
    different, coverage, _ = paired_cell(cell, scenarios, repeats, 300)
    assert different <= most_by_chance(300)
    assert coverage == pytest.approx(1 - different)


@pytest.mark.parametrize(("cell", "scenarios", "repeats"), [(APART[4], 12, 4), (APART[8], 30, 1), (APART[0], 12, 0)])
def test_the_interval_of_a_difference_holds_where_few_scenarios_differ(cell, scenarios, repeats):
    _, coverage, width = paired_cell(cell, scenarios, repeats, 300)
    assert coverage >= 0.94 - 2 * (0.06 * 0.94 / 300) ** 0.5
    assert width < 0.8


def test_versions_that_always_succeed_are_never_called_different():
    assert paired_cell(Cell(1.0, 1.0, 0.0), 12, 4, 5)[:2] == (0.0, 1.0)


def test_mid_p_calls_equal_pairs_different_in_a_twentieth_and_the_usual_p_in_fewer():
    for scenarios in (6, 8, 12, 20, 30, 60):
        shares = [most_called(scenarios, calls_of(form, scenarios)) for form in (USUAL, MID)]
        assert shares[0] <= shares[1] <= 0.0505
    for differing in range(1, 14):
        signs = [[1] * wins + [-1] * (differing - wins) for wins in range(differing + 1)]
        assert [sign_flip_p(own) < 0.05 for own in signs] == calls_by_signs(differing, True).tolist()


SOME = [(6, 1), (12, 4), (30, 1)]
"""Designs of the tests; `python -m tests.intervals paired_tests` prints all 16 with 2,000 draws a cell."""


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize(("scenarios", "repeats"), SOME)
def test_equal_versions_are_called_different_no_more_often_than_by_chance(scenarios, repeats):
    different = [paired_cell(cell, scenarios, repeats, 400).different for cell in EQUAL]
    assert sum(different) / len(different) <= 0.05
    # Of 24 cells in all one lies beyond two standard errors by chance alone.
    assert max(different) <= most_by_chance(400, errors=3)


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize(("scenarios", "repeats"), SOME)
def test_the_interval_holds_every_difference_of_the_grid(scenarios, repeats):
    for cell in APART:
        coverage = paired_cell(cell, scenarios, repeats, 400).coverage
        assert coverage >= 0.94 - 2 * (0.06 * 0.94 / 400) ** 0.5, cell


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize(("scenarios", "repeats"), [(12, 4), (30, 1)])
def test_a_stated_difference_is_found_in_about_80_percent(scenarios, repeats):
    shown = [share for share, _, often in (stated(cell, scenarios, repeats, 150) for cell in ALIKE) if often >= 0.8]
    assert 0.75 <= sum(shown) / len(shown) <= 0.85


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
@pytest.mark.parametrize(("scenarios", "repeats"), [*product((6, 12, 30, 60), (1, 4, 8))])
def test_2000_comparisons_of_equal_versions_call_at_most_a_twentieth_different(scenarios, repeats):
    assert max(paired_cell(cell, scenarios, repeats, 2000).different for cell in EQUAL) <= most_by_chance(2000)
    assert min(paired_cell(cell, scenarios, repeats, 2000).coverage for cell in APART) >= 0.94


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize(
    ("new", "scenarios", "repeats", "draws"),
    [(0.6, 60, 1, 600), (0.65, 100, 1, 600), (0.7, 240, 1, 400), (0.65, 60, 4, 300)],
)
def test_pairs_need_at_most_six_tenths_of_the_conversations_of_two_runs(new, scenarios, repeats, draws):
    cell = Cell(0.8, new, 0.5)
    by_runs = found_by_runs(cell, scenarios, repeats, draws)
    assert found(cell, round(0.6 * scenarios), repeats, draws) >= by_runs


def test_the_grids_of_pairs_print_their_tables(capsys, monkeypatch):
    monkeypatch.setattr("tests.intervals.paired_differences.DESIGNS", [(6, 1)])
    main(["paired_tests", "--draws", "2"])
    assert "| 6 x 1 | 0.000 |" in capsys.readouterr().out
