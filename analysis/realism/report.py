"""The report as a record: what was measured, on what, and how far each measure is from people."""

from typing import Any, Literal, TypeAlias

from pydantic import Field

from ...data.records import Record
from ...data.users import UserPart
from ...errors import of_extra
from ..tables import Column, Table
from .auc import Discriminator

REPORT = 2
"""Version of the report's JSON form."""

LEVEL = 0.05
"""Adjusted p up to which a difference is more than chance."""

Part: TypeAlias = UserPart
"""Part of the people: to tune a simulator on, to test it on, or all."""

SetApart: TypeAlias = Literal["", "translation", "annotation"]
"""Why a measure is not ranked: a side is translated and the measure does not survive it, or it is an annotation,
and the two sides may have been annotated by different people."""


class Example(Record):
    """A message of the user that shows a measure."""

    conversation: str
    """Id of its conversation."""
    user: str
    message: int
    """Number of the user's message, from 0."""
    text: str


class TaskRow(Record):
    """A measure within one task."""

    task: str
    sim: float | None
    human: float | None
    effect: float | None
    effect_low: float | None = None
    effect_high: float | None = None
    """Bounds of the 95 % interval; None where users are too few for one."""
    p: float | None
    p_adjusted: float | None
    """Controlled over all tasks and measures together."""


class ReferenceRow(Record):
    """A measure against a further reference, and how far that is from the people of the report."""

    name: str
    mean: float | None
    """The reference's mean, tasks weighted as against the simulated users."""
    effect: float | None
    """Of the simulated users against the reference."""
    distance: float | None
    effect_from_people: float | None
    """Of the reference against the people of the report."""
    distance_from_people: float | None


class EqualLength(Record):
    """A measure between conversations whose messages are about equally long."""

    effect: float | None
    effect_low: float | None = None
    effect_high: float | None = None
    sim: float
    """Share of the simulated users who have a conversation as long as one of people's about the same task."""
    human: float
    """The same share of people."""
    reason: str = ""
    """Why there is no effect or no interval."""


class Row(Record):
    """A measure: both sides, their difference, and how large a difference chance makes, and people among themselves."""

    name: str
    family: str
    unit: str
    definition: str
    source: str
    direction: str
    """What a higher value means."""
    keyboard: str = ""
    """Whether a difference could come from how people type."""
    survives_translation: bool
    apart: SetApart = ""
    """Why it is not ranked with the others; empty for those that are."""
    reason: str = ""
    """Why numbers are missing; empty where none are but perhaps the intervals."""
    no_interval: str = ""
    """Why there are no intervals; empty where there are."""
    sim: float | None = None
    human: float | None = None
    sim_users: int = 0
    human_users: int = 0
    sim_conversations: int = 0
    human_conversations: int = 0
    """Conversations with a value, of those that are compared."""
    ci_low: float | None = None
    ci_high: float | None = None
    """Bounds of the 95 % interval of the difference sim - human, in the measure's unit."""
    effect: float | None = None
    """Cliff's delta, -1 to 1: the probability that a random conversation of a random simulated user lies above one of
    a random person, less that it lies below; of categories the total variation distance, 0 to 1."""
    effect_low: float | None = None
    effect_high: float | None = None
    chance: float | None = None
    """The size of effect that one in 20 shufflings of the users between the sides exceeds."""
    excess: float | None = None
    """The effect's size less `chance`: by this the rows are ordered."""
    distance: float | None = None
    """Wasserstein's distance in people's standard deviations; of categories Jensen and Shannon's, 0 to 1."""
    floor: float | None = None
    """The same distance of people from other people: median over halvings of the users."""
    floor_high: float | None = None
    """The distance that one in 20 halvings exceeds."""
    floor_effect: float | None = None
    """Median size of the effect between halves of the people."""
    published: float | None = None
    """Distance of the published simulated users from people, where they were given."""
    published_effect: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    """Controlled for false discoveries over all measures of the report (Benjamini and Hochberg 1995)."""
    heterogeneity: float | None = None
    """I squared, 0 to 1: of the variance of the effect between tasks the share that is no chance."""
    heterogeneity_p: float | None = None
    heterogeneity_p_adjusted: float | None = None
    """Controlled over all measures."""
    equal_length: EqualLength | None = None
    """The effect between conversations of equal message length; None for message length itself."""
    assistants: float | None = None
    """Largest size of the effect between two assistants of the people; None where the data does not name several."""
    references: tuple[ReferenceRow, ...] = ()
    """Against each further reference."""
    shares: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Of categories: the share of each value on the simulated side and on people's."""
    tasks: tuple[TaskRow, ...] = ()
    examples_sim: tuple[Example, ...] = ()
    examples_human: tuple[Example, ...] = ()

    @property
    def is_ranked(self) -> bool:
        """Whether it is compared and not set apart."""
        return self.excess is not None and not self.apart

    @property
    def task_effects(self) -> tuple[float, float] | None:
        """The smallest and the largest effect in a task; None where fewer than two tasks have one."""
        effects = [task.effect for task in self.tasks if task.effect is not None]
        return (min(effects), max(effects)) if len(effects) > 1 else None

    @property
    def signs_differ(self) -> bool:
        """Whether tasks differ by more than chance, and in some the effect is above 0 and in others below."""
        unlike = self.heterogeneity_p_adjusted is not None and self.heterogeneity_p_adjusted <= LEVEL
        effects = self.task_effects
        return unlike and effects is not None and effects[0] < 0 < effects[1]

    @property
    def between_references(self) -> float | None:
        """The largest distance between the people of the report and a further reference."""
        distances = [row.distance_from_people for row in self.references if row.distance_from_people is not None]
        return max(distances, default=None)


class PersonaRow(Record):
    """How much of a measure's variance lies between those who speak."""

    name: str
    sim: float | None
    """ICC(1) of the simulated side (Shrout and Fleiss 1979), within tasks: 0 if profiles make no difference."""
    human: float | None
    sim_ratio: float | None
    """Mean square between profiles over that within (F)."""
    human_ratio: float | None
    reason: str = ""


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


class Report(Record):
    """How far simulated users are from people: measure by measure, and never as one number."""

    version: int = REPORT
    language: str | None
    part: Part
    seed: int
    sim: SideSummary
    human: SideSummary
    published: SideSummary | None
    references: dict[str, SideSummary] = Field(default_factory=dict)
    """Further references by name."""
    tasks: tuple[str, ...]
    """Tasks that are compared."""
    by_assistant: bool = False
    """Whether conversations are compared only with those of the same assistant."""
    notes: tuple[str, ...]
    """What a reader must know of this comparison: what was left out, and why."""
    measures: tuple[Row, ...]
    """Least like people first; after them what is not ranked with the others (`apart`)."""
    discriminator: Discriminator
    persona: tuple[PersonaRow, ...]
    effective_measures: float | None = None
    """How many measures that are not correlated would vary like the ranked ones do by chance."""

    def __repr__(self) -> str:
        ranked = sum(row.is_ranked for row in self.measures)
        return f"Report({self.sim.compared} simulated and {self.human.compared} human conversations, {ranked} measures; see .table())"

    def table(self) -> Table:
        """The measures as a table for the terminal and the exports."""
        columns = (
            Column(name="measure"), Column(name="sim", kind="number"), Column(name="human", kind="number"),
            Column(name="effect", kind="number", places=2), Column(name="distance", kind="number", places=2),
            Column(name="floor", kind="number", places=2),
            *([Column(name="reference", kind="number", places=2)] if self.references else []),
            *([Column(name="published", kind="number", places=2)] if self.published is not None else []),
            Column(name="p adjusted", kind="p"),
            *([Column(name="by task")] if any(row.signs_differ for row in self.measures) else []),
            *([Column(name="apart")] if any(row.apart for row in self.measures) else []),
        )  # fmt: skip
        rows = [
            {
                "measure": row.name, "sim": row.sim, "human": row.human, "effect": row.effect,
                "distance": row.distance, "floor": row.floor, "reference": row.between_references,
                "published": row.published, "p_adjusted": row.p_adjusted, "apart": row.apart,
                "by_task": "{:.2f} to {:.2f}".format(*row.task_effects) if row.signs_differ and row.task_effects else "",
            }
            for row in self.measures
        ]  # fmt: skip
        return Table.of("Least like people first", columns, rows, (*self.notes, *self.remarks))

    @property
    def remarks(self) -> list[str]:
        """Why numbers or intervals are missing, a line for each reason with its measures; and how alike measures are."""
        by_reason: dict[str, list[str]] = {}
        for row in self.measures:
            by_reason.setdefault(row.reason or row.no_interval, []).append(row.name)
        lines = [f"{', '.join(names)}: {reason}." for reason, names in by_reason.items() if reason]
        ranked = sum(row.is_ranked for row in self.measures)
        if self.effective_measures is not None and ranked:
            lines.append(
                f"Measures are correlated: the {ranked} ranked ones count as {self.effective_measures:.1f} that are not."
            )
        return lines

    def frame(self) -> Any:
        """A pandas data frame, a row for each measure in the report's order. Needs the extra `stats`.

        Beside the fields of a row it has the effect at equal length, the smallest and the largest effect in a task,
        and the distance between references.
        """
        nested = {"tasks", "examples_sim", "examples_human", "shares", "references", "equal_length"}
        more = ("equal_length", "smallest_in_task", "largest_in_task", "signs_differ", "between_references")
        rows = [row.model_dump(mode="python", exclude=nested) | _derived(row) for row in self.measures]
        columns = [name for name in Row.model_fields if name not in nested]
        return of_extra("pandas", "stats").DataFrame(rows, columns=[*columns, *more])


def _derived(row: Row) -> dict[str, float | bool | None]:
    """Columns of the frame that are no fields of a row."""
    smallest, largest = row.task_effects or (None, None)
    return {
        "equal_length": row.equal_length.effect if row.equal_length is not None else None,
        "smallest_in_task": smallest,
        "largest_in_task": largest,
        "signs_differ": row.signs_differ,
        "between_references": row.between_references,
    }
