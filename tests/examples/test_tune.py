"""The example of a search with Optuna: it runs offline on conversations that ship with the package."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

for extra in ("optuna", "sklearn", "pandas"):
    pytest.importorskip(extra)


@pytest.mark.heavy
def test_a_search_tries_settings_and_gives_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    monkeypatch.delitem(sys.modules, "tune", raising=False)
    study = import_module("tune").tuned(trials=3)
    values = [trial.value for trial in study.trials]
    assert len(values) == 3
    assert study.best_value == min(values)
    assert all(value > 0 for value in values)
    assert set(study.best_params) == {"stay", "spread", "words", "max_turns"}
