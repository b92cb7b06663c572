"""The measures of a conversation's user, by family; each measure holds its definition and its source."""

from .labels import LabelMeasure, labels_of
from .measure import Family, Measure
from .registry import all_measures, register, registered
from .shipped import MEASURES

__all__ = ["MEASURES", "Family", "LabelMeasure", "Measure", "all_measures", "labels_of", "register", "registered"]
