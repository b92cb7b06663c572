"""Rules over messages, by which nothing is decided that structure does not show."""

from .linter import CHAT_RULES, DIALOGUE_RULES, Finding, Rule
from .user_faults import USER_FAULT_RULES, UserFaultFinding, faults_of_user

__all__ = [
    "CHAT_RULES",
    "DIALOGUE_RULES",
    "USER_FAULT_RULES",
    "Finding",
    "Rule",
    "UserFaultFinding",
    "faults_of_user",
]
