"""Behaviours of users who make it hard: their names, how a rule writes them, and the signs that show them."""

from .breaks import BehaviourBreak, broken_by
from .choice import behaviours_in, chosen_users
from .kinds import BEHAVIOURS, KEY, checked_names, injected_word
from .signs import can_show, followed, shown
from .wording import UserMoment, behaved

__all__ = [
    "BEHAVIOURS",
    "KEY",
    "BehaviourBreak",
    "UserMoment",
    "behaved",
    "behaviours_in",
    "broken_by",
    "can_show",
    "checked_names",
    "chosen_users",
    "followed",
    "injected_word",
    "shown",
]
