"""Rules for messages, of no domain: for the validators of the casts, and for `data.checks`."""

from .chat import CHAT_RULES
from .dialogue import DIALOGUE_RULES
from .findings import Finding, FindingLevel, Rule
from .plans import PLAN_ITEMS, is_plan
from .questions import QUESTION_WORDS, QuestionReason, asked_before, is_enumeration, plain_words, question_reasons
from .user_faults import USER_FAULT_RULES, UserFaultFinding, faults_of_user
from .user_turns import UserNote, UserReason, is_repeat, others_label, user_notes, user_reasons

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
