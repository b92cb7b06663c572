"""Teacher-student conversations in numbers: the published tables, answers beside people's."""

from .answers import overlap, score_answer
from .statistics import figure_2, simquac_statistics
from .teacher import relation, teacher_statistics
from .validators import compare_validators

__all__ = [
    "compare_validators",
    "figure_2",
    "overlap",
    "relation",
    "score_answer",
    "simquac_statistics",
    "teacher_statistics",
]
