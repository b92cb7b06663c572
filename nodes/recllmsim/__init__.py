"""The nodes of RecLLMSim, and of a user with a goal."""

from ..goodbyes import Ending
from .roles import AssistantMessages, UserMessages, UserPrompts, UserValidator, published_reply_validator

__all__ = ["AssistantMessages", "Ending", "UserMessages", "UserPrompts", "UserValidator", "published_reply_validator"]
