"""Teacher-student conversations in numbers: answers against references, coverage and repeats of questions."""

from ...data.outline import coverage
from .answers import TeacherScore, exact_match, first_sentence, random_sentence, score_teacher, token_f1
from .questions import StudentScore, score_student

__all__ = [
    "StudentScore",
    "TeacherScore",
    "coverage",
    "exact_match",
    "first_sentence",
    "random_sentence",
    "score_student",
    "score_teacher",
    "token_f1",
]
