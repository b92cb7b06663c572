"""Teacher-student conversations in numbers: the published tables, answers beside people's, how questions are put."""

from .answers import first_sentence, overlap, random_sentence, score_answer, score_student, score_teacher
from .questions import question_forms, question_type
from .statistics import SimquacStatistics, simquac_statistics
from .teacher import TeacherStatistics, relation, teacher_statistics
from .validators import ValidatorRow, compare_validators

__all__ = [
    "SimquacStatistics",
    "TeacherStatistics",
    "ValidatorRow",
    "compare_validators",
    "first_sentence",
    "overlap",
    "question_forms",
    "question_type",
    "random_sentence",
    "relation",
    "score_answer",
    "score_student",
    "score_teacher",
    "simquac_statistics",
    "teacher_statistics",
]
