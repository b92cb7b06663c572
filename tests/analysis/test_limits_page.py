"""The table of docs/reference/limits.md has the numbers of users, pairs and labels from which the code gives a figure."""

import re

import pytest

from duologue.analysis import estimates
from duologue.runs import next_turn
from tests.tree import ROOT

PAGE = (ROOT / "docs/reference/limits.md").read_text(encoding="utf-8")
LEAST = {
    "95 % interval of a success rate": estimates.FEWEST,
    "95 % interval of a difference between two groups": estimates.FEWEST,
    "95 % interval over users, scenarios or sections": estimates.FEWEST,
    "retrieval-based users": next_turn.FEWEST_USERS,
    "interval of kappa, F1 or mean error": estimates.FEWEST_RARE,
}


def rows() -> dict[str, list[str]]:
    """The cells of each row of the page's tables, by the first of them."""
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:1] == "|")
    return {first: others for first, *others in cells}


@pytest.mark.parametrize("figure", LEAST)
def test_a_figure_needs_what_the_code_asks_for(figure: str) -> None:
    assert re.match(r"\d+", rows()[figure][0]).group() == str(LEAST[figure])


@pytest.mark.parametrize(
    ("row", "counts"),
    [
        ("one conversation each", [(0, 1), (1, 1)]),
        ("four each, two of which succeed", [(2, 4), (2, 4)]),
        ("four each, which all end alike", [(0, 4), (4, 4)]),
    ],
)
def test_the_widths_are_those_of_the_intervals(row: str, counts: list[tuple[int, int]]) -> None:
    for scenarios, width in zip(map(int, rows()["scenarios"]), rows()[row], strict=True):
        rate = estimates.share(counts * (scenarios // 2))
        assert float(width) == pytest.approx((rate.high - rate.low) / 2, abs=0.0051)
