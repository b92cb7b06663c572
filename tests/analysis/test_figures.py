"""Figures: the same for the same data, readable in any script, quiet."""

import sys

import pytest

from duologue.analysis.figures import bars, histogram, lines, rendered
from duologue.errors import MissingExtraError


def drawn():
    return histogram(
        {"people": [0.1, 0.2, 0.2], "_模拟 $x$ <b>": [0.9], "none": []}, title="覆盖率", label="share", limits=(0, 1)
    )


def test_equal_data_give_equal_svg_without_a_date_and_with_text_as_text():
    one, other = rendered(drawn()), rendered(drawn())
    assert one == other
    assert b"dc:date" not in one
    svg = one.decode()
    assert "覆盖率" in svg
    assert "people (n = 3, mean 0.167)" in svg
    assert "none (no value)" in svg
    assert "$x$ &lt;b&gt;" in svg.replace(r"\$", "$")
    assert "<b>" not in svg


def test_png_is_drawn_too_and_a_character_without_a_glyph_warns_nobody():
    assert rendered(drawn(), "png").startswith(b"\x89PNG")


def test_bars_and_lines_are_drawn_with_values_that_are_missing():
    stacked = bars(("a", "b"), {"x": [1, None], "y": [2, 3]}, title="t", label="n", stacked=True)
    assert stacked.axes[0].patches[2].get_y() == 1
    assert rendered(bars((), {}, title="t", label="n"))
    drawn_lines = lines({"m": [(1, 0.5), (2, 1.0)]}, title="t", across="attempt", label="share", whole=True)
    assert rendered(drawn_lines)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[stats\]"):
        drawn()
