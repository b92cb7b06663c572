"""The simulated user in another harness: it gives its next message, and does not hold the conversation."""

from .users import User, UserEnded, user

__all__ = ["User", "UserEnded", "user"]
