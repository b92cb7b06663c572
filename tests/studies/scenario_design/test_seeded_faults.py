"""Scenarios that are designed from tools and a policy alone detect ten seeded faults, and none in a sound agent."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
MOST = 200
"""Most conversations in which all ten faults are to be detected."""


@pytest.mark.heavy
def test_forty_scenarios_of_the_airline_cover_every_pair_are_proven_and_detect_ten_seeded_faults(
    forks: Any, tmp_path: Path
) -> None:
    airline = ROOT / "examples" / "airline"
    code = f"import sys; sys.path[:0] = {[str(ROOT), str(airline)]!r}; "
    written = tmp_path / "scenarios.jsonl"
    options = [
        "--policy",
        "airline:POLICY",
        "--world",
        "airline:world",
        "--size",
        "40",
        "--out",
        str(written),
        "--json",
    ]
    begun = "from duologue.cli import main; sys.argv[1:1] = ['scenarios', 'airline:agent']; main()"
    done = forks.run("-c", code + begun, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["coverage"]["pairs"] == result["coverage"]["of"] == 253
    assert Counter(result["verdicts"]) == {"possible": 18, "must be refused": 22}
    assert result["infeasible"][0]["because"] == "no rule forbids a call of look_up"
    module = "from tests.studies.scenario_design.airline_agents import main; main()"
    done = forks.run("-c", code + module, str(written), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    firsts = json.loads(done.stdout)
    assert firsts.pop("Sound") is None
    assert len(firsts) == 10
    assert all(firsts.values())
    assert sum(firsts.values()) <= MOST
