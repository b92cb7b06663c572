"""Scorers: judgements of a finished conversation, its scenario and its world, such as whether a tool was called."""

from .combined import all_of, any_of, negated
from .judges import judged
from .outcomes import FinalState, ToolCalled, final_state, tool_called
from .scores import Score, Scorer, Scoring, agent_channels, scoring
from .wording import Refused, Solved, TextContains, refused, solved, text_contains

__all__ = [
    "FinalState",
    "Refused",
    "Score",
    "Scorer",
    "Scoring",
    "Solved",
    "TextContains",
    "ToolCalled",
    "agent_channels",
    "all_of",
    "any_of",
    "final_state",
    "judged",
    "negated",
    "refused",
    "scoring",
    "solved",
    "text_contains",
    "tool_called",
]
