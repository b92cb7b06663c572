"""What is measured of a conversation's user, by family; each measure says what it is and where it comes from."""

from . import coherence, conduct, disclosure, diversity, politeness, questions, repetition, shape, surface
from .labels import Label, labels_of
from .measure import Family, Measure

MEASURES: tuple[Measure, ...] = (
    *shape.MEASURES,
    *diversity.MEASURES,
    *repetition.MEASURES,
    *politeness.MEASURES,
    *surface.MEASURES,
    *questions.MEASURES,
    *disclosure.MEASURES,
    *coherence.MEASURES,
    *conduct.MEASURES,
)
"""Every measure that needs no annotation."""

__all__ = ["MEASURES", "Family", "Label", "Measure", "labels_of"]
