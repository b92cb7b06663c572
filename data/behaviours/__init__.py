"""Behaviours of users who make it hard: their names, and how a rule writes them."""

from .kinds import BEHAVIOURS, KEY, behaviours_in, checked_names, chosen_users, followed, injected_word
from .wording import UserMoment, behaved

__all__ = [
    "BEHAVIOURS",
    "KEY",
    "UserMoment",
    "behaved",
    "behaviours_in",
    "checked_names",
    "chosen_users",
    "followed",
    "injected_word",
]
