"""The report as a record: measures, samples, and the distance of each measure from people."""

from typing import Any, TypeAlias

from pydantic import Field

from ...data.people import UserPart
from ...data.records import Record
from ...errors import of_extra
from ..tables import Column, Table
from .records import RealismRow
from .statistics.auc import Discriminator
from .statistics.correlations import Correlation

REPORT = 5
"""Version of the report's JSON form."""

WIDE = 120
"""Columns of a terminal from which a table shows all of its own."""
_BEYOND = frozenset({"published", "made", "p adjusted"})
"""Columns of the table of measures that a narrow terminal leaves out."""

UserPartName: TypeAlias = UserPart
"""Part of the people: to tune a simulator on, to test it on, or all."""


class SideSummary(Record):
    """What a side consists of."""

    conversations: int
    compared: int
    """Conversations that have the language and a common task."""
    users: int
    """Users or profiles of those."""
    tasks: dict[str, int]
    """Conversations of each task; of data without tasks one that is called `all`."""
    translated: int
    """Compared conversations whose user's messages are translations."""
    assistants: dict[str, int] = Field(default_factory=dict)
    """Compared conversations of each assistant that the data names."""
    digest: str
    """Digest of all that was said: which data it was."""


class RealismReport(Record):
    """How far simulated users are from people: measure by measure, and never as one number."""

    version: int = REPORT
    language: str | None
    part: UserPartName
    """Part of the people: to `tune` a simulator on, to `test` it on, or `all`."""
    seed: int
    sim: SideSummary
    human: SideSummary
    published: SideSummary | None
    made: SideSummary | None = None
    """Users made from people."""
    references: dict[str, SideSummary] = Field(default_factory=dict)
    """Further references by name."""
    tasks: tuple[str, ...]
    by_assistant: bool = False
    """Whether conversations are compared only with those of the same assistant."""
    notes: tuple[str, ...]
    measures: tuple[RealismRow, ...]
    """Least like people first; after them what is not ranked with the others (`apart`)."""
    discriminator: Discriminator
    effective_measures: float | None = None
    """How many measures that are not correlated would vary like the ranked ones do by chance."""
    correlated: tuple[Correlation, ...] = ()
    """Pairs of ranked measures that go together, the most correlated first."""

    def __repr__(self) -> str:
        ranked = sum(row.is_ranked for row in self.measures)
        return f"Report({self.sim.compared} simulated and {self.human.compared} human conversations, {ranked} measures; see .table())"

    def table(self, *, untold: bool = True, width: int = WIDE) -> Table:
        """The measures as a table for the terminal and the exports.

        Without `untold` it has only those that a side has values of; a note names the others. For a terminal of less
        than `WIDE` columns (`width`) it has only what fits into 80; a note names the other columns.
        """
        columns = (
            Column(name="measure"), Column(name="sim", kind="number"), Column(name="human", kind="number"),
            Column(name="effect", kind="number", places=2), Column(name="low", kind="number", places=2), Column(name="high", kind="number", places=2),
            Column(name="people", kind="number", places=2),
            *([Column(name="published", kind="number", places=2)] if self.published is not None else []),
            *([Column(name="made", kind="number", places=2)] if self.made is not None else []),
            Column(name="p adjusted", kind="p"), Column(name="finding"),
            *([Column(name="apart")] if any(row.apart for row in self.measures) else []),
        )  # fmt: skip
        rows = [
            vars(row) | {
                "measure": row.name, "people": row.between_people, "finding": row.finding,
                "low": row.effect_low, "high": row.effect_high, "published": row.published_effect, "made": row.made_effect,
            }
            for row in self.measures
            if untold or row.sim is not None or row.human is not None or not row.reason
        ]  # fmt: skip
        beyond = [column.heading for column in columns if column.name in _BEYOND] if width < WIDE else []
        columns = tuple(column for column in columns if column.heading not in beyond)
        more = [f"In a terminal of {WIDE} columns, in --json and in --out: {', '.join(beyond)}."] if beyond else []
        effects = [row.effect for row in self.measures if row.is_ranked and row.effect is not None]
        alike = bool(effects) and not any(round(effect, 2) for effect in effects)
        title = "No ranked measure differs" if alike else "Least like people first"
        return Table.of(title, columns, rows, (*more, *self.notes, *self._trust, *self.remarks))

    @property
    def _trust(self) -> list[str]:
        """How far annotations can be trusted, a line for those of which it is the same."""
        marks: dict[tuple[str, str], list[str]] = {}
        for row in self.measures:
            if row.trust_sim:
                marks.setdefault((row.trust_sim, row.trust_human), []).append(row.name)
        return [
            f"Trust in {', '.join(names)}: " + (f"{sim}." if sim == human else f"simulated {sim}, people {human}.")
            for (sim, human), names in marks.items()
        ]

    @property
    def remarks(self) -> list[str]:
        """Why numbers or intervals are missing, a line for each reason with its measures; and how alike measures are."""
        by_reason: dict[str, list[str]] = {}
        for row in self.measures:
            by_reason.setdefault(row.reason or row.no_interval, []).append(row.name)
        every = [row.name for row in self.measures if row.is_ranked]
        ranked = len(every)
        lines = [
            f"{'All ranked measures' if names == every and ranked > 1 else ', '.join(names)}: {reason}."
            for reason, names in by_reason.items()
            if reason
        ]
        if self.effective_measures is not None and ranked:
            lines.append(
                f"Measures are correlated: the {ranked} ranked ones count as {self.effective_measures:.1f} that are not."
            )
        return lines

    def frame(self) -> Any:
        """A pandas data frame, a row for each measure in the report's order.

        Needs the extra `stats`. Beside the fields of a row it has the distance between references, and the smallest and
        the largest effect in a task.
        """
        nested = {"tasks", "examples_sim", "examples_human", "shares", "references"}
        more = ("smallest_in_task", "largest_in_task", "between_references")
        rows = [row.model_dump(mode="python", exclude=nested) | _derived(row) for row in self.measures]
        columns = [name for name in RealismRow.model_fields if name not in nested]
        return of_extra("pandas", "stats").DataFrame(rows, columns=[*columns, *more])


def _derived(row: RealismRow) -> dict[str, float | None]:
    """Columns of the frame that are not fields of a row."""
    smallest, largest = row.task_effects or (None, None)
    return {
        "smallest_in_task": smallest,
        "largest_in_task": largest,
        "between_references": row.between_references,
    }
