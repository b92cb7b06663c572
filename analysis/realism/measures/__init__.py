"""What is measured of a conversation's user, by family; each measure says what it is and where it comes from."""

from . import adherence, disclosure, diversity, ending, politeness, questions, repetition, sameness, shape, surface
from .labels import Label, labels_of
from .measure import Family, Measure

MEASURES: tuple[Measure, ...] = (
    *shape.MEASURES,
    *diversity.MEASURES,
    *sameness.MEASURES,
    *repetition.MEASURES,
    *politeness.MEASURES,
    *surface.MEASURES,
    *questions.MEASURES,
    *disclosure.MEASURES,
    *adherence.MEASURES,
    *ending.MEASURES,
)
"""Every measure that needs no annotation."""

__all__ = ["MEASURES", "Family", "Label", "Measure", "labels_of"]
