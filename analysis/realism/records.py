"""The rows of a report as records: a measure, its parts by task and by reference."""

from typing import Literal, TypeAlias

from pydantic import Field

from ...data.records import Record

LEVEL = 0.05
"""Adjusted p up to which a difference is more than chance."""

TOO_FEW_DIFFER = "too few of them differ from the most frequent value"
"""Part of the reason why a row has no interval, and so no finding either."""

SMALL = 0.33
"""Maximum size of a small effect (Cliff's delta: Romano et al. 2006)."""

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


class _OfTask(Record):
    task: str


class PartRow(Record):
    """A measure within a part of the conversations."""

    sim: float | None
    human: float | None
    effect: float | None
    effect_low: float | None = None
    effect_high: float | None = None
    """Bounds of the 95 % interval; None where users are too few for one."""
    p: float | None
    p_adjusted: float | None = None
    """Controlled over all tasks and measures together."""


# The first of a record's fields is its last base's.
class TaskRow(PartRow, _OfTask):
    """A measure within one task."""


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
    effect_from_people_low: float | None = None
    effect_from_people_high: float | None = None
    distance_from_people: float | None


class RealismRow(Record):
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
    trust_sim: str = ""
    """Of an annotation how far the simulated side's values can be trusted: `people's`, its agreement with people's
    label of the same conversations, or `not calibrated`; empty for other measures."""
    trust_human: str = ""
    """The same of people's side."""
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
    floor_effect_high: float | None = None
    """The size of effect that one in 20 halvings exceeds."""
    detectable: float | None = None
    """The smallest size of effect that eight of ten such samples would find. The p is the one at which the row counts
    after adjustment: 0.05 times (k + 1) / m, if k of the m rows with a p are significant. 1 if no p can be so small."""
    published: float | None = None
    """Distance of the published simulated users from people, where they were given."""
    published_effect: float | None = None
    made: float | None = None
    """Distance from people of users made from people, where they were given."""
    made_effect: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    """Controlled for false discoveries over all measures of the report (Benjamini and Hochberg 1995)."""
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
    def between_people(self) -> float | None:
        """The size of effect between people and other people.

        The largest of a further reference, else what one in 20 halvings of the people exceeds.
        """
        effects = [abs(row.effect_from_people) for row in self.references if row.effect_from_people is not None]
        return max(effects, default=self.floor_effect_high)

    @property
    def _sure_between_people(self) -> float:
        """The size of effect that a further reference of people has at least, by its interval; 0 without one."""
        bounds = ((row.effect_from_people_low, row.effect_from_people_high) for row in self.references)
        return max((max(low, -high, 0.0) for low, high in bounds if low is not None and high is not None), default=0.0)

    @property
    def within_people(self) -> bool:
        """Whether the interval of the effect lies within that between people, and within a small one.

        On either side of 0 these are two one-sided tests (Schuirmann 1987), at 2.5 % each. Their margin is the least
        difference of a further reference, by its interval. Halves of one study differ only by chance, and the less the
        more people there are.
        """
        if self.effect_low is None or self.effect_high is None:
            return False
        margin = min(self._sure_between_people, SMALL)
        return -margin < self.effect_low and self.effect_high < margin

    @property
    def finding(self) -> str:
        """What effect, interval and adjusted p come to, in words; empty where there is no p."""
        if self.p_adjusted is None:
            return ""
        if self.p_adjusted <= LEVEL:
            if TOO_FEW_DIFFER in self.no_interval:
                return "too few users"
            return "differs, within people's own spread" if self.within_people else "differs"
        if self.within_people:
            return "within people's own spread"
        if not self.detectable or self.detectable >= 1:
            return "undecided"
        return f"undecided: {self.sim_users} and {self.human_users} users miss effects below {self.detectable:.2f}"

    @property
    def task_effects(self) -> tuple[float, float] | None:
        """The smallest and the largest effect in a task; None where fewer than two tasks have one."""
        effects = [task.effect for task in self.tasks if task.effect is not None]
        return (min(effects), max(effects)) if len(effects) > 1 else None

    @property
    def between_references(self) -> float | None:
        """The largest distance between the people of the report and a further reference."""
        distances = [row.distance_from_people for row in self.references if row.distance_from_people is not None]
        return max(distances, default=None)
