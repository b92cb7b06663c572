"""Two versions in pairs: equal ones are rarely called different, broken scenarios are found, intervals hold."""

import pytest

from tests.intervals.versions import BROKEN, on_like, on_these


@pytest.mark.heavy
@pytest.mark.parametrize("repeats", [1, 2, 4, 8])
def test_a_version_against_itself_is_called_different_in_at_most_a_twentieth(repeats: int) -> None:
    for chance in (0.3, 0.7, 0.95):
        different, holds = on_these([(chance, chance)] * 12, repeats, 2000)
        assert different <= 0.05
        assert holds >= 0.89


@pytest.mark.heavy
def test_three_broken_scenarios_of_twelve_are_found_with_eight_repeats() -> None:
    assert on_these(BROKEN, 8, 1000)[0] >= 0.95


@pytest.mark.heavy
@pytest.mark.parametrize(("scenarios", "repeats"), [(6, 1), (12, 4), (30, 2)])
def test_the_interval_over_scenarios_holds(scenarios: int, repeats: int) -> None:
    assert on_like(scenarios, repeats, 1000) >= 0.92
