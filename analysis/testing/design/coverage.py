"""Coverage of a design: which levels and pairs of levels scenarios have, and which of them conversations touched."""

from collections.abc import Mapping, Sequence

from ....data.records import Record
from ....data.test_design.covering_arrays import Design, pairs_of
from ...tables import Column, Table


class LevelCoverage(Record):
    """How far a level of a factor is covered."""

    factor: str
    level: str
    scenarios: int
    pairs: int
    """Pairs with levels of other factors that scenarios have."""
    of: int
    """Such pairs that can be."""


class CoverageTable(Record):
    """What scenarios cover of a design."""

    levels: tuple[LevelCoverage, ...]
    pairs: int
    of: int
    infeasible: int = 0

    @property
    def line(self) -> str:
        """The covered pairs in words."""
        return f"pairs of levels: {self.pairs} of {self.of} covered" + f", {self.infeasible} cannot be" * (
            self.infeasible > 0
        )

    def table(self) -> Table:
        """A row for each level."""
        return Table(
            title="Coverage",
            columns=(
                Column(name="factor"),
                Column(name="level"),
                Column(name="scenarios", kind="count"),
                Column(name="pairs", kind="count"),
                Column(name="of", kind="count"),
            ),
            rows=tuple((one.factor, one.level, one.scenarios, one.pairs, one.of) for one in self.levels),
            notes=(self.line,),
        )


def planned_coverage(design: Design, rows: Sequence[Mapping[str, str]]) -> CoverageTable:
    """What rows cover of the pairs of a design that can be."""
    covered = frozenset(pair for row in rows for pair in pairs_of(row, design.factors)) & design.pairs
    levels = [
        LevelCoverage(
            factor=factor,
            level=level,
            scenarios=sum(row.get(factor) == level for row in rows),
            pairs=sum((factor, level) in pair for pair in covered),
            of=sum((factor, level) in pair for pair in design.pairs),
        )
        for factor, own in design.factors.items()
        for level in own
    ]
    return CoverageTable(
        levels=tuple(levels), pairs=len(covered), of=len(design.pairs), infeasible=len(design.infeasible)
    )
