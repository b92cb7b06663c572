"""Scorers: judgements of a finished conversation, its scenario and its world, such as whether a tool was called."""

from .judged import judged
from .outcomes import final_state, refused, solved, text_contains, tool_called
from .scores import Score, Scorer, agent_channels, all_of, any_of, negated, scoring

__all__ = [
    "Score", "Scorer", "agent_channels", "all_of", "any_of", "final_state", "judged", "negated", "refused", "scoring",
    "solved", "text_contains", "tool_called",
]  # fmt: skip
