"""The report as a record: what was measured, on what, and how far each measure is from people."""

from typing import Any, Literal, TypeAlias

from pydantic import Field

from ...data.records import Record
from ...errors import of_extra
from ..tables import Column, Table

REPORT = 1
"""Version of the report's JSON form."""

Part: TypeAlias = Literal["tune", "test", "all"]
"""Part of the people: to tune a simulator on, to test it on, or all."""

SetApart: TypeAlias = Literal["", "translation", "annotation"]
"""Why a measure is not ranked: a side is translated and the measure does not survive it, or it is an annotation,
and the two sides may have been annotated by different people."""


class Interval(Record):
    """A number with the bounds of its 95 % interval, or with the reason why there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


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
    p: float | None
    p_adjusted: float | None
    """Controlled over all tasks and measures together."""


class Row(Record):
    """A measure: both sides, their difference, and how large a difference chance makes, and people among themselves."""

    name: str
    family: str
    unit: str
    definition: str
    source: str
    direction: str
    """What a higher value means."""
    survives_translation: bool
    apart: SetApart = ""
    """Why it is not ranked with the others; empty for those that are."""
    reason: str = ""
    """Why numbers are missing; empty where none are."""
    sim: float | None = None
    human: float | None = None
    sim_users: int = 0
    human_users: int = 0
    ci_low: float | None = None
    ci_high: float | None = None
    """Bounds of the 95 % interval of the difference sim - human, in the measure's unit."""
    effect: float | None = None
    """Cliff's delta, -1 to 1: the share of pairs in which the simulated user lies above the person less that in
    which it lies below; of categories the total variation distance, 0 to 1, which for two is delta's size."""
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
    shares: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Of categories: the share of each value on the simulated side and on people's."""
    tasks: tuple[TaskRow, ...] = ()
    examples_sim: tuple[Example, ...] = ()
    examples_human: tuple[Example, ...] = ()


class Coefficient(Record):
    """The weight of a measure in the discriminator."""

    name: str
    weight: float
    """Its coefficient on the standardised measure; above 0: higher values look simulated."""


class Discriminator(Record):
    """How well a model that sees nothing but the measures tells simulated users from people."""

    auc: Interval
    """Share of pairs of a simulated and a person's conversation that it orders rightly; 0.5 is chance."""
    floor: Interval
    """The same between halves of the people: median and 95 % range over halvings."""
    published: Interval | None = None
    measures: tuple[str, ...] = ()
    leans_on: tuple[Coefficient, ...] = ()
    """The largest coefficients, by size."""


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
    tasks: tuple[str, ...]
    """Tasks that are compared."""
    notes: tuple[str, ...]
    """What a reader must know of this comparison: what was left out, and why."""
    measures: tuple[Row, ...]
    """Least like people first; after them what is not ranked with the others (`apart`)."""
    discriminator: Discriminator
    persona: tuple[PersonaRow, ...]

    def table(self) -> Table:
        """The measures as a table for the terminal and the exports."""
        columns = (
            Column(name="measure"), Column(name="sim", kind="number"), Column(name="human", kind="number"),
            Column(name="effect", kind="number", places=2), Column(name="distance", kind="number", places=2),
            Column(name="floor", kind="number", places=2),
            *([Column(name="published", kind="number", places=2)] if self.published is not None else []),
            Column(name="p adjusted", kind="p"), Column(name="apart"),
        )  # fmt: skip
        rows = [
            {
                "measure": row.name, "sim": row.sim, "human": row.human, "effect": row.effect,
                "distance": row.distance, "floor": row.floor, "published": row.published,
                "p_adjusted": row.p_adjusted, "apart": row.apart,
            }
            for row in self.measures
        ]  # fmt: skip
        by_reason: dict[str, list[str]] = {}
        for row in self.measures:
            by_reason.setdefault(row.reason, []).append(row.name)
        reasons = [f"{', '.join(names)}: {reason}." for reason, names in by_reason.items() if reason]
        return Table.of("Least like people first", columns, rows, (*self.notes, *reasons))

    def frame(self) -> Any:
        """A pandas data frame, a row for each measure in the report's order. Needs the extra `stats`."""
        nested = {"tasks", "examples_sim", "examples_human", "shares"}
        rows = [row.model_dump(mode="python", exclude=nested) for row in self.measures]
        columns = [name for name in Row.model_fields if name not in nested]
        return of_extra("pandas", "stats").DataFrame(rows, columns=columns)
