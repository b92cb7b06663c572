"""Rules over messages, by which nothing is decided that structure does not show."""

from .findings import Finding, FindingLevel, Rule
from .guards import UserNote, UserReason, is_repeat, others_label, user_notes, user_reasons
from .linter import CHAT_RULES, DIALOGUE_RULES
from .plans import PLAN_ITEMS, is_plan
from .questions import QUESTION_WORDS, QuestionReason, asked_before, is_enumeration, plain_words, question_reasons
from .user_faults import USER_FAULT_RULES, UserFaultFinding, faults_of_user

__all__ = [
    "CHAT_RULES",
    "DIALOGUE_RULES",
    "PLAN_ITEMS",
    "QUESTION_WORDS",
    "USER_FAULT_RULES",
    "Finding",
    "FindingLevel",
    "QuestionReason",
    "Rule",
    "UserFaultFinding",
    "UserNote",
    "UserReason",
    "asked_before",
    "faults_of_user",
    "is_enumeration",
    "is_plan",
    "is_repeat",
    "others_label",
    "plain_words",
    "question_reasons",
    "user_notes",
    "user_reasons",
]
