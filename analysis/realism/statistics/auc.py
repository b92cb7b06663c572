"""The discriminability of simulated users as records: the probability (AUC), its baseline, and the measures behind it."""

from ....data.records import Record

LENGTH = "shape"
"""The family of measures that tells how long a conversation and its messages are."""


class Interval(Record):
    """A number with its 95 % interval, or the reason why it lacks one of them."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


NOT_MEASURED = Interval(value=None, reason="not measured")


class Coefficient(Record):
    """The weight of a measure in the discriminator."""

    name: str
    weight: float
    """Its coefficient on the standardised measure; above 0: higher values look simulated."""


class FamilyAuc(Record):
    """The AUC by only the measures of one family, and by all measures but those."""

    family: str
    alone: float | None
    without: float | None


class ReferenceAuc(Record):
    """The AUC of the simulated users against a further reference, and of that against the people of the report."""

    name: str
    auc: Interval
    from_people: Interval


class Discriminator(Record):
    """Discriminability of simulated users and people by the measures only."""

    auc: Interval
    """Share of pairs of a simulated and a person's conversation that it orders rightly; 0.5 is chance."""
    floor: Interval
    """The same between halves of the people: median and 95 % range over halvings."""
    published: Interval | None = None
    made: Interval | None = None
    """Of users made from people."""
    measures: tuple[str, ...] = ()
    leans_on: tuple[Coefficient, ...] = ()
    """The largest coefficients, by size."""
    families: tuple[FamilyAuc, ...] = ()
    """The family that tells most first."""
    references: tuple[ReferenceAuc, ...] = ()

    @property
    def without_length(self) -> float | None:
        """The AUC without the measures of how long a conversation and its messages are (family `shape`)."""
        return next((row.without for row in self.families if row.family == LENGTH), None)
