"""What became of one conversation, by its record alone: whether it reached its goal, why, and whose fault it is if not."""

from dataclasses import dataclass
from typing import Any

from ..data import domains
from ..data.records import Conversation, Fault
from .user_faults import user_fault

SCORES = "scores"
"""The conversation's label in which scores are."""
SUCCESS = "success"


@dataclass(frozen=True)
class Outcome:
    """What became of one conversation."""

    id: str
    scenario: str
    success: bool | None
    """None if it has no score."""
    reason: str
    """What the score says, or why there is none."""
    fault: Fault
    """Whose fault it is where it is no success; else `none`."""
    user_fault: str | None
    """The rule by which the user simulator is at fault; None if it is not."""


def outcome(conversation: Conversation) -> Outcome:
    """What became of a conversation, by its record alone."""
    score = score_of(conversation)
    broken = user_fault(conversation)
    success, reason = (None, score) if isinstance(score, str) else score
    fault: Fault = "none"
    if success is None:
        fault = conversation.fault if conversation.fault not in (None, "none") else "infrastructure"
    elif not success:
        # A user that gives up, or goes without what it came for, leaves with what the assistant made of the talk.
        fault = conversation.fault if conversation.fault not in (None, "none") else "assistant"
        fault = "user" if broken else fault
    return Outcome(conversation.id, _title(conversation), success, reason, fault, broken)


def score_of(conversation: Conversation) -> tuple[bool, str] | str:
    """Whether a conversation succeeded, and the score's reason; else a line that says why it has no score."""
    scores: Any = conversation.labels.get(SCORES)
    score = scores.get(SUCCESS) if isinstance(scores, dict) else None
    if isinstance(score, dict) and isinstance(score.get("value"), bool):
        return score["value"], str(score.get("reason", ""))
    if isinstance(score, dict) and score.get("error"):
        return f"the score 'success' failed: {' '.join(str(score['error']).split())}"
    if isinstance(score, dict):
        return f"the score 'success' is {score.get('value')!r}, not true or false"
    if conversation.failure is not None:
        return f"{conversation.failure.node}: {' '.join(conversation.failure.error.split())}"
    return "no scorer gave one"


def _title(conversation: Conversation) -> str:
    return domains.of(conversation).title(conversation.scenario) or conversation.id
