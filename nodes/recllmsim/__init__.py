"""The nodes of RecLLMSim, and of a user with a goal."""

from ..goodbyes import Ending
from .roles import UserValidator

__all__ = ["Ending", "UserValidator"]
