"""Every shipped measure that needs no annotation, by family."""

from . import coherence, conduct, disclosure, diversity, politeness, questions, repetition, shape, surface
from .measure import Measure

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
"""In the order of their families."""
