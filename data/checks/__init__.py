"""Rules for what is said: one place, for the validators of the casts and for data that was read."""

from .questions import QUESTION_WORDS, QuestionReason, asked_before, is_enumeration, plain_words, question_reasons
from .rules import RULES, Finding, Level, Rule, check, check_all

__all__ = [
    "QUESTION_WORDS",
    "RULES",
    "Finding",
    "Level",
    "QuestionReason",
    "Rule",
    "asked_before",
    "check",
    "check_all",
    "is_enumeration",
    "plain_words",
    "question_reasons",
]
