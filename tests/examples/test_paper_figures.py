"""The example that draws the figures of the papers."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from tests.examples.test_examples_table import EXAMPLES


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore:Glyph")
def test_every_figure_is_drawn(open_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv("MPLBACKEND", "svg")
    monkeypatch.delitem(sys.modules, "paper_figures", raising=False)
    example = import_module("paper_figures")
    files = [open_data / "simquac" / name for name in ("quac_subset.json", "sim_quac.json")]
    example.main(tmp_path, *files, open_data / "recllmsim_human_vs_agent" / "human_exp_V2")
    assert {"figure_2.svg", "satisfaction.svg", "style_promise.svg"} <= {path.name for path in tmp_path.iterdir()}
