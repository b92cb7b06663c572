"""After how many conversations an agent is seen to fail."""

from collections.abc import Mapping, Sequence
from typing import Any

import duologue

AT_ONCE = 10


def first_failure(agent: Any, scenarios: Sequence[Mapping[str, Any]], **more: Any) -> int | None:
    """The number of conversations up to the first that fails; None if none does. No more are simulated than tens."""
    for begun in range(0, len(scenarios), AT_ONCE):
        result = duologue.test(agent, scenarios[begun : begun + AT_ONCE], **more)
        assert result.unscored == 0
        failures = [record.scores["success"]["value"] is False for record in result.records]
        if any(failures):
            return begun + failures.index(True) + 1
    return None
