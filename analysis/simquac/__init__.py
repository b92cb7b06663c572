"""Teacher-student conversations in numbers: the published tables, answers beside people's, how questions are put."""

from .answers import overlap, score_answer
from .questions import question_forms, question_type
from .statistics import figure_2, simquac_statistics
from .teacher import relation, teacher_statistics
from .validators import compare_validators

__all__ = [
    "compare_validators",
    "figure_2",
    "overlap",
    "question_forms",
    "question_type",
    "relation",
    "score_answer",
    "simquac_statistics",
    "teacher_statistics",
]
