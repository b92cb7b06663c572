"""Scenarios that are designed from tools, rules and examples detect seeded faults of an agent, and none in a sound one."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.tree import ROOT


@pytest.mark.heavy
def test_the_scenarios_of_the_airline_detect_nine_of_ten_seeded_faults(forks: Any, tmp_path: Path) -> None:
    code = f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'examples' / 'airline')]!r}; "
    written = str(tmp_path / "scenarios.jsonl")
    options = ["scenarios", "airline:agent", "--world", "airline:world", "--out", written]
    done = forks.run("-c", f"{code}from duologue.cli import main; sys.argv[1:1] = {options!r}; main()", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in Path(written).read_text("utf-8").splitlines()]
    assert Counter(line["proof"]["verdict"] for line in lines) == {"possible": 5, "must be refused": 6}
    module = "from tests.studies.scenario_design.airline_agents import main; main()"
    done = forks.run("-c", code + module, written, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    firsts = json.loads(done.stdout)
    # one agent is wrong in words only, which is a judge's to say
    assert [name for name, first in firsts.items() if first is None] == ["Sound", "HidesErrors"]
    assert len(firsts) == 11
