"""A table of dimensions of one's own: goals, levels, and combinations that cannot be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.settings_files import read_settings
from ..records import as_list, as_object, is_object
from .behaviours import GROUPS
from .case_space import KIND, RULE, TOOL
from .covering_arrays import Exclusion
from .log_cases import FACTS, TASK

GOAL = "goal"
"""The factor of several goals."""
KEYS = ("goals", "dimensions", "exclude", "success")
RESERVED = (TOOL, KIND, RULE, GOAL, TASK, FACTS, *GROUPS)
"""Names of factors that no dimension may have."""


@dataclass(frozen=True)
class DimensionTable:
    """Dimensions of scenarios, each with its levels."""

    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    goals: tuple[str, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    success: Mapping[str, Any] = field(default_factory=dict)
    """What counts as success in each scenario that is not made from a tool; empty for nothing."""

    @property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """The dimensions as factors of a design, and the goals, if there are any."""
        return ({GOAL: self.goals} if self.goals else {}) | dict(self.levels)


def read_dimensions(path: Path) -> DimensionTable:
    """The table of a file of TOML, YAML or JSON.

    `dimensions`: an object with a list of levels for each. `goals`: texts. `exclude`: objects with levels that cannot be
    together, and `because`. `success`: as in a scenario. DataError for an unknown key or level.
    """
    value = read_settings(path)
    where = at(path)
    if not is_object(value) or not (is_object(value.get("dimensions")) or as_list(value.get("goals"))):
        raise DataError(f"{where}: has no 'dimensions': give an object with a list of levels for each, or 'goals'")
    for key in value:
        if key not in KEYS:
            near = get_close_matches(str(key), KEYS, n=1)
            raise DataError(
                f"{where}: has the key {key!r}: {f'did you mean {near[0]!r}?' if near else ', '.join(KEYS)}"
            )
    levels: dict[str, tuple[str, ...]] = {}
    for name, own in as_object(value.get("dimensions")).items():
        if name in RESERVED:
            raise DataError(f"{where}: the dimension {name!r} has the name of a factor of its own: rename it")
        levels[name] = _texts(own, f"{where}: the dimension {name!r}")
    goals = _texts(value["goals"], f"{where}: 'goals'") if "goals" in value else ()
    table = DimensionTable(levels, goals, success=as_object(value.get("success")))
    exclusions = [_exclusion(one, table, f"{where}: exclude") for one in as_list(value.get("exclude"))]
    return DimensionTable(levels, goals, tuple(exclusions), table.success)


def _texts(value: Any, where: str) -> tuple[str, ...]:
    texts = [str(one) for one in as_list(value) if not isinstance(one, dict | list)]
    if not texts or len(texts) < len(as_list(value)) or len(set(texts)) < len(texts):
        raise DataError(f"{where}: expected a list of different texts")
    return tuple(texts)


def _exclusion(described: Any, table: DimensionTable, where: str) -> Exclusion:
    levels = {name: str(level) for name, level in as_object(described).items() if name != "because"}
    for name, level in levels.items():
        if level not in table.factors.get(name, ()):
            listed = f"levels {', '.join(table.factors[name])}" if name in table.factors else ", ".join(table.factors)
            raise DataError(f"{where}: there is no {name} {level!r}, only {listed}")
    if len(levels) < 2:
        raise DataError(f"{where}: expected at least two levels that cannot be together")
    why = str(as_object(described).get("because") or "the table of dimensions excludes it")
    return Exclusion(
        tuple(levels), lambda row: why if all(row[name] == level for name, level in levels.items()) else ""
    )
