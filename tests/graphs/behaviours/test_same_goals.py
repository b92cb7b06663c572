"""Behaviours leave the goal as it is: what a sound agent does for a plain user, it does for every other."""

import shutil
import sys
from pathlib import Path

import pytest

from duologue.data.behaviours import BEHAVIOURS

AIRLINE = Path(__file__).resolve().parents[3] / "examples/airline"


@pytest.mark.heavy
def test_no_behaviour_makes_a_scenario_of_the_example_impossible(tmp_path, monkeypatch, own_registry):
    shutil.copytree(AIRLINE, tmp_path / "airline_example")
    monkeypatch.chdir(tmp_path / "airline_example")
    monkeypatch.syspath_prepend(str(tmp_path / "airline_example"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "airline"]:
        monkeypatch.delitem(sys.modules, name)
    import duologue

    result = duologue.test(
        None, "scenarios.jsonl", cast="airline:cast", user="offline", repeats=2, behaviour=["plain", *BEHAVIOURS]
    )
    successes = {one.user: (one.successes, one.conversations) for one in result.by_user.users}
    assert successes == dict.fromkeys(["plain", *BEHAVIOURS], (10, 12))
    assert all(one.shown == one.conversations for one in result.by_user.behaviours)
