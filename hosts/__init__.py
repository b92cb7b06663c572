"""The simulated user in another harness: it gives its next message, and does not hold the conversation."""

from .simulated_users import User, UserEnded, Users, user

__all__ = ["User", "UserEnded", "Users", "user"]
