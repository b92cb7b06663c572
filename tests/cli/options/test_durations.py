"""Durations on the command line."""

import pytest

from duologue.cli.options.durations import seconds
from duologue.errors import SettingError


@pytest.mark.parametrize(
    ("text", "value"),
    [("45s", 45), ("90m", 5400), ("2h", 7200), ("1h30m", 5400), ("1h 30min", 5400), ("0.5h", 1800), ("120", 120), ("1d", 86400), (" 10M ", 600), (7.5, 7.5)],
)  # fmt: skip
def test_a_duration_is_so_many_seconds(text, value):
    assert seconds(text) == value


@pytest.mark.parametrize(
    "text", ["", "0", "-5", "5 apples", "m", "1e3", "inf", "nan", "10m5", "5x10m", "٣m", "9999999h"]
)
def test_what_is_none_is_one_line_that_says_how_to_write_it(text):
    with pytest.raises(
        SettingError, match=r"is not a duration: write 45s, 90m, 2h, 1h30m or a number of seconds above 0"
    ):
        seconds(text)
