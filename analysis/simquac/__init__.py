"""Teacher-student conversations in numbers: the published tables, answers beside people's, how questions are put."""

from ...data.summaries import coverage
from .answers import (
    AnswerScore,
    TeacherScore,
    exact_match,
    first_sentence,
    overlap,
    random_sentence,
    score_answer,
    score_teacher,
    token_f1,
)
from .equal_questions import EqualQuestions
from .forms import QuestionForms, question_forms, question_type
from .questions import StudentScore, score_student
from .samples import ConversationNumbers, Sample, measure
from .statistics import SimquacStatistics, SourceStatistics, simquac_statistics
from .teacher import AnswerAgreement, TeacherStatistics, relation, teacher_statistics

__all__ = [
    "AnswerAgreement",
    "AnswerScore",
    "ConversationNumbers",
    "EqualQuestions",
    "QuestionForms",
    "Sample",
    "SimquacStatistics",
    "SourceStatistics",
    "StudentScore",
    "TeacherScore",
    "TeacherStatistics",
    "coverage",
    "exact_match",
    "first_sentence",
    "measure",
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
    "token_f1",
]
