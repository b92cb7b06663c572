"""Logs with broken lines: refused as a whole, with the number of these lines."""

import json
from pathlib import Path

import pytest

from duologue.data import DataError, load

LINE = json.dumps({"messages": [{"role": "user", "content": "Is there tea?"}]})


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ((2,), "no other line is broken: mend it or delete it"),
        ((2, 4), "2 lines are broken (2, 4): mend them or delete them"),
        ((2, 3, 5, 6), "4 lines are broken (2, 3, 5, ...): mend them or delete them"),
    ],
)
def test_all_broken_lines_are_counted_and_the_first_three_named(broken: tuple[int, ...], told: str) -> None:
    lines = ["{" if number in broken else LINE for number in range(1, 7)]
    Path("log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        load("log.jsonl")
    assert "line 2, column" in str(error.value)
    assert told in str(error.value)
