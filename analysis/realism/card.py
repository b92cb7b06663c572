"""The realism card: the report on one page, in a form that other programs can rely on."""

from typing import Any, Literal

from ...data.identity import VERSION, digest
from ...data.records import Record
from .records import EqualLength, RealismRow
from .report import ComparedSides, RealismReport
from .statistics.auc import AucAtUsers, FamilyAuc, Interval, ReferenceAuc

NEVER_ONE_NUMBER = (
    "There is no overall score. How real simulated users are and how useful they are for testing an assistant are "
    "different things, and neither is one number: read the measures that matter for the use at hand."
)


class CardMeasure(Record):
    """A measure on the card: this simulator's distance from people, and by it the distances to read it against."""

    name: str
    unit: str
    keyboard: str
    """Whether a difference could come from how people type."""
    sim: float | None
    human: float | None
    effect: float | None
    """Cliff's delta between a random conversation of a random simulated user and one of a random person, -1 to 1; of
    categories the total variation distance, 0 to 1."""
    effect_low: float | None
    effect_high: float | None
    """Bounds of the 95 % interval."""
    no_interval: str
    """Why there are no bounds; empty where there are."""
    equal_length: EqualLength | None
    """The effect between conversations of equal message length; None for message length itself and for categories."""
    smallest_in_task: float | None
    largest_in_task: float | None
    """The smallest and the largest effect in a task; None where fewer than two tasks have one."""
    signs_differ: bool
    """Whether tasks differ by more than chance, and in some the effect is above 0 and in others below."""
    heterogeneity: float | None
    """I squared, 0 to 1: the share of the variance of the effect between tasks that is not chance."""
    heterogeneity_p_adjusted: float | None
    distance: float | None
    floor: float | None
    """Distance of people from other people, median over halvings."""
    between_references: float | None
    """The largest distance between the people and a further reference."""
    between_assistants: float | None
    """Largest size of the effect between two assistants of the people."""
    published: float | None
    made: float | None
    """Distance of users made from people."""
    p_adjusted: float | None
    between_people: float | None = None
    """Size of the effect between people and other people."""
    detectable: float | None = None
    """The smallest size of effect that eight of ten such samples would find."""
    finding: str = ""
    """What effect, interval and adjusted p come to, in words."""
    ranked: bool
    """False for what stands apart: annotations, and what a translation destroys."""
    trust_sim: str
    """Of an annotation, the reliability of the simulated side's values; empty for anything else."""
    trust_human: str


class _CardHead(Record):
    card: Literal[4] = 4
    """Version of this schema."""
    version: str
    """Version of the package that compared."""
    name: str
    """What the simulated side is called."""
    against: str
    """What the people's side is called."""


class RealismCard(ComparedSides, _CardHead):
    """Which simulated users were compared with which people, how, and what came out."""

    measures: tuple[CardMeasure, ...]
    """Least like people first."""
    effective_measures: float | None
    """How many measures that are not correlated would vary like the ranked ones do by chance."""
    auc: Interval
    """How well a model separates the two sides by the measures; 0.5 is chance."""
    auc_floor: Interval
    """The same for people and other people."""
    auc_published: Interval | None
    auc_made: Interval | None
    """Of users made from people."""
    auc_references: tuple[ReferenceAuc, ...]
    auc_without_length: float | None
    """The AUC without the measures of how long a conversation and its messages are (family `shape`)."""
    auc_families: tuple[FamilyAuc, ...]
    """The AUC by each family of measures, and by all other measures; the highest first."""
    auc_adversary: AucAtUsers | None = None
    """The same by words, characters, sequence and measures, of as many users as both sides have."""
    statement: str = NEVER_ONE_NUMBER
    report: str
    """Digest of the report that the card is made of."""


def card_of(report: RealismReport, name: str, against: str) -> RealismCard:
    """The card of a report; `name` and `against` are the names of the two sides."""
    told_by_model = ("floor", "published", "made", "references", "without_length", "families", "adversary")
    return RealismCard(
        version=VERSION,
        name=name,
        against=against,
        **{field: getattr(report, field) for field in ComparedSides.model_fields},
        measures=tuple(_card_measure(row) for row in report.measures),
        effective_measures=report.effective_measures,
        auc=report.discriminator.auc,
        **{f"auc_{name}": getattr(report.discriminator, name) for name in told_by_model},
        report=digest(report.model_dump(mode="json"))[:16],
    )


def _card_measure(row: RealismRow) -> CardMeasure:
    smallest, largest = row.task_effects or (None, None)
    others: dict[str, Any] = {
        "no_interval": row.reason or row.no_interval,
        "smallest_in_task": smallest,
        "largest_in_task": largest,
        "between_assistants": row.assistants,
        "ranked": row.is_ranked,
    }
    return CardMeasure(
        **others, **{name: getattr(row, name) for name in CardMeasure.model_fields if name not in others}
    )
