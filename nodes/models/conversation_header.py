"""The conversation whose step is running."""

from contextvars import ContextVar

SPEAKING: ContextVar[str] = ContextVar("duologue_conversation", default="")
"""Id of the conversation whose step is running."""
