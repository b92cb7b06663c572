"""The realism card: the report on one page, in a form that other programs can rely on."""

from typing import Any, Literal

from ...data.identity import VERSION, digest
from ...data.records import Record
from .report import Interval, Part, Report, SideSummary

NEVER_ONE_NUMBER = (
    "There is no overall score. How real simulated users are and how useful they are for testing an assistant are "
    "different things, and neither is one number: read the measures that matter for the use at hand."
)


class CardMeasure(Record):
    """A measure on the card, with its three distances: this simulator's, the floor, the published simulator's."""

    name: str
    unit: str
    sim: float | None
    human: float | None
    effect: float | None
    """Cliff's delta, -1 to 1 (0 to 1 for categories)."""
    distance: float | None
    floor: float | None
    """Distance of people from other people, median over halvings."""
    published: float | None
    p_adjusted: float | None
    ranked: bool
    """False for what stands apart: annotations, and what a translation destroys."""


class RealismCard(Record):
    """Which simulated users were compared with which people, how, and what came out."""

    card: Literal[1] = 1
    """Version of this schema."""
    version: str
    """Version of the package that compared."""
    name: str
    """What the simulated side is called."""
    against: str
    """What the people's side is called."""
    language: str | None
    part: Part
    """Part of the people: to `tune` a simulator on, to `test` it on, or `all`."""
    seed: int
    sim: SideSummary
    human: SideSummary
    published: SideSummary | None
    tasks: tuple[str, ...]
    notes: tuple[str, ...]
    measures: tuple[CardMeasure, ...]
    """Least like people first."""
    auc: Interval
    """How well a model tells the two sides apart by the measures alone; 0.5 is chance."""
    auc_floor: Interval
    """The same for people and other people."""
    statement: str = NEVER_ONE_NUMBER
    report: str
    """Digest of the report that the card is made of."""


def card_of(report: Report, name: str, against: str) -> RealismCard:
    """The card of a report; `name` and `against` say what the two sides are."""
    return RealismCard(
        version=VERSION,
        name=name,
        against=against,
        language=report.language,
        part=report.part,
        seed=report.seed,
        sim=report.sim,
        human=report.human,
        published=report.published,
        tasks=report.tasks,
        notes=report.notes,
        measures=tuple(
            CardMeasure(
                name=row.name, unit=row.unit, sim=row.sim, human=row.human, effect=row.effect,
                distance=row.distance, floor=row.floor, published=row.published, p_adjusted=row.p_adjusted,
                ranked=not row.apart and row.excess is not None,
            )
            for row in report.measures
        ),
        auc=report.discriminator.auc,
        auc_floor=report.discriminator.floor,
        report=digest(report.model_dump(mode="json"))[:16],
    )  # fmt: skip


def card_schema() -> dict[str, Any]:
    """The JSON schema of a card, as it is shipped in `card.schema.json`; every key is always there."""
    return RealismCard.model_json_schema(mode="serialization")
