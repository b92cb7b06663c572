"""Rules over messages, by which nothing is decided that structure does not show."""

from .linter import CHAT_RULES, DIALOGUE_RULES, Finding, Rule

__all__ = ["CHAT_RULES", "DIALOGUE_RULES", "Finding", "Rule"]
