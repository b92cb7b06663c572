"""What the conversations of a run touched of what their scenarios cover, and success by level and by difficulty."""

from dataclasses import dataclass, field

from ....data.files.json_files import dumps
from ....data.records import Conversation, Record, as_object
from ....data.test_design.behaviours import GROUPS
from ....data.test_design.case_space import KIND, RULE, TOOL
from ....data.test_design.covering_arrays import Level, LevelPair, pairs_of
from ....data.test_design.lines import DIFFICULTY, row_of, values_of
from ...outcomes import was_cut_short
from ...over_users.rates import Rate, clustered
from ...tables import Cell, Column, Table

_RATE = tuple(Column(name=name, kind="number", places=2) for name in ("share", "low", "high"))
MEASURES = ("calls", "rules", "facts")
"""The measures of a scenario's difficulty."""


class LevelSuccess(Record):
    """The conversations of a run that have a level of a factor."""

    factor: str
    level: str
    scenarios: int
    conversations: int
    """Those that began."""
    touched: int
    """Those in which the level came up."""
    success: Rate | None
    """The share of successes among the scored, with its interval over scenarios; None without any."""


class RunCoverage(Record):
    """What a run touched of what its scenarios cover."""

    levels: tuple[LevelSuccess, ...]
    difficulty: tuple[LevelSuccess, ...]
    """By the number of calls of the plan, of rules and of facts in play."""
    pairs: int
    """Pairs of levels that the scenarios cover."""
    touched_pairs: int
    """Those of them whose two levels came up in one conversation."""

    @property
    def line(self) -> str:
        """The pairs in words."""
        return f"pairs of levels: {self.touched_pairs} of the {self.pairs} that the scenarios cover came up in a conversation"

    def tables(self) -> tuple[Table, ...]:
        """Coverage by level, and success by difficulty."""
        return (
            _table("Coverage", "factor", self.levels, self.line),
            _table("Success by difficulty", "measure", self.difficulty, "calls: of the plan that the oracle played"),
        )


def _table(title: str, first: str, rows: tuple[LevelSuccess, ...], note: str) -> Table:
    names = ("scenarios", "conversations", "touched")
    counts = tuple(Column(name=name, kind="count") for name in names if first == "factor" or name != "touched")

    def cells(row: LevelSuccess) -> tuple[Cell, ...]:
        rate = (row.success.value, row.success.low, row.success.high) if row.success else (None, None, None)
        return row.factor, row.level, *(getattr(row, column.name) for column in counts), *rate

    return Table(
        title=title,
        columns=(Column(name=first), Column(name="level"), *counts, *_RATE),
        rows=tuple(map(cells, rows)),
        notes=(note, "low, high: 95 % interval over scenarios"),
    )


@dataclass
class _LevelCounts:
    begun: int = 0
    touched: int = 0
    scenarios: dict[str, list[bool]] = field(default_factory=dict)
    """The outcomes of the scored conversations about each scenario."""

    def success(self, level: Level) -> LevelSuccess:
        """The counts as a row."""
        pairs = [(sum(reached), len(reached)) for reached in self.scenarios.values() if reached]
        return LevelSuccess(
            factor=level[0],
            level=level[1],
            scenarios=len(self.scenarios),
            conversations=self.begun,
            touched=self.touched,
            success=clustered(pairs) if pairs else None,
        )


@dataclass
class CoverageCounts:
    """Counts conversations by the levels of their scenarios."""

    levels: dict[Level, _LevelCounts] = field(default_factory=dict)
    difficulty: dict[Level, _LevelCounts] = field(default_factory=dict)
    pairs: set[LevelPair] = field(default_factory=set)
    touched_pairs: set[LevelPair] = field(default_factory=set)

    def add(self, conversation: Conversation, scenario: str, success: bool | None) -> None:
        """Count a conversation that began about a scenario; one that no design made counts only by its difficulty."""
        row = row_of(conversation.scenario)
        came_up = touched_row(conversation)
        self.pairs |= pairs_of(row, row)
        self.touched_pairs |= pairs_of(came_up, came_up)
        for level in row.items():
            self._count(self.levels, level, scenario, success, touched=level[0] in came_up)
        measures = as_object(conversation.scenario.get(DIFFICULTY))
        for name in MEASURES:
            if isinstance(number := measures.get(name), int):
                self._count(self.difficulty, (name, str(number)), scenario, success, touched=True)

    def _count(
        self, counts: dict[Level, _LevelCounts], level: Level, scenario: str, success: bool | None, *, touched: bool
    ) -> None:
        counted = counts.setdefault(level, _LevelCounts())
        counted.begun += 1
        counted.touched += touched
        outcomes = counted.scenarios.setdefault(scenario, [])
        outcomes += [] if success is None else [success]

    def coverage(self) -> RunCoverage | None:
        """The coverage; None if no scenario is a designed one."""
        if not self.levels and not self.difficulty:
            return None
        factors = list(dict.fromkeys(factor for factor, _ in self.levels))
        first = [name for name in (TOOL, KIND, RULE) if name in factors]
        order = {name: place for place, name in enumerate([*first, *(one for one in factors if one not in first)])}
        levels = sorted(self.levels, key=lambda level: (order[level[0]], _in_order(level[1])))
        measures = sorted(self.difficulty, key=lambda level: (MEASURES.index(level[0]), int(level[1])))
        return RunCoverage(
            levels=tuple(self.levels[level].success(level) for level in levels),
            difficulty=tuple(self.difficulty[level].success(level) for level in measures),
            pairs=len(self.pairs),
            touched_pairs=len(self.touched_pairs),
        )


def _in_order(level: str) -> tuple[str, int]:
    """Rules by their numbers, other levels by their names."""
    name, _, number = level.rpartition(" ")
    return (name, int(number)) if number.isdecimal() else (level, 0)


def touched_row(conversation: Conversation) -> dict[str, str]:
    """The levels of a designed scenario that came up in its conversation.

    A tool was called. A kind of argument and a rule came up with the values of the case, in a message of the user or in a
    call; where a value is missing, with an answer of the agent. A behaviour came up
    where the user spoke, another factor where its messages hold the level.
    """
    row = row_of(conversation.scenario)
    if not row or was_cut_short(conversation) or not any(one.role == "assistant" for one in conversation.messages):
        return {}
    calls = [call for draft in conversation.attempts("assistant") for call in draft.tool_calls]
    user = "\n".join(message.text for message in conversation.messages if message.role == "user")
    heard = "\n".join([user, *(dumps(call.arguments) for call in calls)]).casefold()
    in_play = all(value.casefold() in heard for value in values_of(conversation.scenario))
    touched: dict[str, str] = {}
    for factor, level in row.items():
        if factor == TOOL:
            came_up = any(call.name == level for call in calls)
        elif factor in (KIND, RULE):
            came_up = in_play
        elif factor in GROUPS:
            came_up = bool(user)
        else:
            came_up = level.casefold() in user.casefold()
        if came_up:
            touched[factor] = level
    return touched
