"""Scenarios that are designed from tools and a policy alone detect ten seeded faults, and none in a sound agent."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duologue.studies.scenario_design.designing import designed
from duologue.studies.scenario_design.sources import read_sources
from tests.studies.scenario_design import library_agents, planning_agents
from tests.studies.scenario_design.first_failures import first_failure

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "test" / "testing.md").read_text("utf-8")
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
    assert result["coverage"]["pairs"] == result["coverage"]["of"] == 328
    assert Counter(result["verdicts"]) == {"possible": 17, "must be refused": 23}
    assert result["infeasible"][0]["because"] == "no rule forbids a call of look_up"
    tested = ["--assistant", "airline:agent", "--world", "airline:world", "--scenarios", str(written), "--json"]
    begun = "from duologue.cli import main; sys.argv[1:1] = ['test']; main()"
    done = forks.run("-c", code + begun, *tested, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["successes"], result["conversations"]) == (22, 40)
    assert "the first table of successes: 22 of 40" in " ".join(PAGE.split())
    module = "from tests.studies.scenario_design.airline_agents import main; main()"
    done = forks.run("-c", code + module, str(written), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    firsts = json.loads(done.stdout)
    assert firsts.pop("Sound") is None
    assert len(firsts) == 10
    assert all(firsts.values())
    assert sum(firsts.values()) <= MOST
    assert f"are detected after {sum(firsts.values())} conversations in all" in " ".join(PAGE.split())


@pytest.mark.heavy
def test_goals_of_two_hundred_logs_detect_ten_seeded_faults_of_planners(open_data: Path) -> None:
    sources = read_sources(logs=open_data / "recllmsim" / "human_exp_V2")
    result = designed(replace(sources, logs=sources.logs[:200]), count=40)
    assert result.coverage.pairs == result.coverage.of == 258
    assert result.verdicts == {"possible": 34, "not decided": 6}
    agents = (planning_agents.sound, *planning_agents.FAULTY)
    firsts = {agent.__name__: first_failure(agent, result.lines) for agent in agents}
    assert firsts.pop("sound") is None
    assert len(firsts) == 10
    assert all(firsts.values())
    assert sum(number for number in firsts.values() if number) <= MOST


@pytest.mark.heavy
def test_the_same_holds_for_a_handbook_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "handbook.md").write_text(library_agents.HANDBOOK, "utf-8")
    module = library_agents.__name__
    sources = read_sources(f"{module}:agent", [str(tmp_path / "handbook.md")], world=f"{module}:world")
    assert [rule.text[:8] for rule in sources.rules] == [
        "办理业务前必须先",
        "珍藏本不得续借，",
        "停用的读者证不能",
        "没有系统的确认，",
    ]
    result = designed(sources, count=40)
    assert result.coverage.pairs == result.coverage.of == 380
    assert result.verdicts == {"possible": 17, "must be refused": 23}
    assert all(line["facts"] for line in result.lines)
    agents: tuple[type[library_agents.Sound], ...] = (library_agents.Sound, *library_agents.FAULTY)
    firsts = {
        kind.__name__: first_failure(library_agents.build(kind()), result.lines, world=library_agents.world)
        for kind in agents
    }
    assert firsts.pop("Sound") is None
    assert len(firsts) == 10
    assert all(firsts.values())
    assert sum(number for number in firsts.values() if number) <= MOST
    assert f"and {sum(firsts.values())} conversations" in " ".join(PAGE.split())
