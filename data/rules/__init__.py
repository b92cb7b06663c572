"""Rules over messages, by which nothing is decided that structure does not show."""

from .guards import (
    QUESTION_WORDS,
    asked_before,
    is_enumeration,
    is_plan,
    others_label,
    plain_words,
    question_reasons,
    user_notes,
    user_reasons,
)
from .linter import CHAT_RULES, DIALOGUE_RULES, Finding, Rule
from .user_faults import USER_FAULT_RULES, UserFaultFinding, faults_of_user

__all__ = [
    "CHAT_RULES",
    "DIALOGUE_RULES",
    "QUESTION_WORDS",
    "USER_FAULT_RULES",
    "Finding",
    "Rule",
    "UserFaultFinding",
    "asked_before",
    "faults_of_user",
    "is_enumeration",
    "is_plan",
    "others_label",
    "plain_words",
    "question_reasons",
    "user_notes",
    "user_reasons",
]
