"""Failures of agents with one seeded fault each are found as groups of their own, and none of the sound agent."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.testing.adjusted_rand import adjusted_rand

ROOT = Path(__file__).parents[3]
NAMED = {
    "books twice": "the agent called `change` again after it had been done",
    "promises without a tool": "the agent reported it as done, and no call of `change` shows it",
    "loops": "the agent repeated its message",
    "wrong argument": "the agent called `change` with another `date` than was asked for",
    "leaks its prompt": "the agent showed its instructions",
}
"""The group's name of each agent of the first file of `faulty_agents`."""


@pytest.mark.heavy
def test_each_seeded_fault_is_a_group_of_its_own_and_the_sound_agent_has_none(forks: Any, tmp_path: Path) -> None:
    paths = [str(ROOT), str(ROOT / "examples" / "airline")]
    code = f"import sys; sys.path[:0] = {paths!r}; from tests.analysis.testing.seeded_causes import main; main()"
    done = forks.run("-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    seeded: dict[str, list[str]] = found["seeded"]
    assert found["conversations"] == 20 * len(seeded) >= 100
    largest = {fault: Counter(names).most_common(1)[0] for fault, names in seeded.items()}
    assert len({name for name, _ in largest.values()}) == len(seeded)  # a group of its own each
    assert {fault: largest[fault][0] for fault in NAMED} == NAMED
    assert all(count >= 0.8 * len(seeded[fault]) for fault, (_, count) in largest.items())
    assert adjusted_rand((fault, name) for fault, names in seeded.items() for name in names) >= 0.8
    assert found["sound"] == {"failed": [], "findings": []}


def test_the_adjusted_rand_index_is_one_for_equal_groupings_and_about_zero_for_unrelated_ones() -> None:
    assert adjusted_rand([("a", 1), ("a", 1), ("b", 2), ("b", 2)]) == 1
    assert adjusted_rand([("a", 1), ("a", 2), ("b", 1), ("b", 2)]) == pytest.approx(-0.5)
    # The example of Yeung and Ruzzo (2001), "Details of the adjusted Rand index", has the index 0.313.
    table = [[1, 1, 0], [1, 2, 1], [0, 0, 4]]
    pairs = [(row, column) for row, line in enumerate(table) for column, count in enumerate(line) for _ in range(count)]
    assert adjusted_rand(pairs) == pytest.approx(0.313, abs=0.001)
