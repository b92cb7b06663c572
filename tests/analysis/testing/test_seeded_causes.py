"""Failures of agents with one seeded fault each are found as groups of their own, and none of the sound agent."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.testing.adjusted_rand import adjusted_rand

ROOT = Path(__file__).parents[3]
LARGEST = {
    "of_the_rules_author": {
        "books twice": "the agent called `change` again after it had been done",
        "promises without a tool": "the agent reported it as done, and no call of `change` shows it",
        "loops": "the agent repeated its message",
        "wrong argument": "the agent called `change` with another `date` than was asked for",
        "leaks its prompt": "the agent showed its instructions",
    },
    "of_another_person": {
        "forgets": "the agent asked again for what the user had answered",
        "wrong language": "the agent answered in another language than the user's",
        "ignores a refusal": "after `change` failed, the agent reported it as done",
        "stops early": "the agent stopped before the matter was settled",
        "invents a booking": "the agent named a code or number that neither user nor tool had named",
    },
}
"""The name of the largest group of each agent."""
LARGEST["in_fresh_words"] = LARGEST["of_another_person"]
LEAST = {"forgets": 0.7, "ignores a refusal": 0.5}
"""Least share of an agent's failures in its largest group, if not 0.8: these faults show in several forms."""


@pytest.mark.heavy
def test_each_seeded_fault_is_a_group_of_its_own_and_the_sound_agent_has_none(forks: Any, tmp_path: Path) -> None:
    paths = [str(ROOT), str(ROOT / "examples" / "airline")]
    code = f"import sys; sys.path[:0] = {paths!r}; from tests.analysis.testing.seeded_causes import main; main()"
    done = forks.run("-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["conversations"] == 20
    seeded: dict[str, dict[str, list[str]]] = found["seeded"]
    first = seeded["of_the_rules_author"]
    for file, faults in seeded.items():
        largest = {fault: Counter(names).most_common(1)[0] for fault, names in faults.items()}
        assert {fault: name for fault, (name, _) in largest.items()} == LARGEST[file]
        assert all(count >= LEAST.get(fault, 0.8) * len(faults[fault]) for fault, (_, count) in largest.items())
        groups = [(name, fault) for fault, names in (first | faults).items() for name in set(names)]
        assert len({name for name, _ in groups}) == len(groups)  # no group holds two faults
        assert found["index"][file] >= 0.8
    assert found["sound"] == {"failed": [], "findings": []}


def test_the_adjusted_rand_index_is_one_for_equal_groupings_and_about_zero_for_unrelated_ones() -> None:
    assert adjusted_rand([("a", 1), ("a", 1), ("b", 2), ("b", 2)]) == 1
    assert adjusted_rand([("a", 1), ("a", 2), ("b", 1), ("b", 2)]) == pytest.approx(-0.5)
    # The example of Yeung and Ruzzo (2001), "Details of the adjusted Rand index", has the index 0.313.
    table = [[1, 1, 0], [1, 2, 1], [0, 0, 4]]
    pairs = [(row, column) for row, line in enumerate(table) for column, count in enumerate(line) for _ in range(count)]
    assert adjusted_rand(pairs) == pytest.approx(0.313, abs=0.001)
