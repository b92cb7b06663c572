"""The nodes of SimQuAC, and those of reading comprehension."""

from .roles import (
    GUIDES,
    INTERESTING,
    AnswerValidator,
    OnePrompt,
    QuestionValidator,
    StudentMessages,
    StudentPrompts,
    TeacherMessages,
    TeacherPrompts,
    next_question,
)

__all__ = [
    "GUIDES",
    "INTERESTING",
    "AnswerValidator",
    "OnePrompt",
    "QuestionValidator",
    "StudentMessages",
    "StudentPrompts",
    "TeacherMessages",
    "TeacherPrompts",
    "next_question",
]
