"""The numbers of a conversation by which versions are compared, only from its record."""

from collections.abc import Collection
from typing import Any, NamedTuple

from ....data.labels.reading import SCORES
from ....data.records import Conversation
from ...attempts import rejected_drafts
from ...outcomes import SUCCESS

REJECTED = "share of drafts rejected"
SCORE = "score "
"""Begins the names of scores."""


class ConversationValues(NamedTuple):
    """Numbers of a conversation by their names."""

    values: dict[str, float]
    """What is not defined for the conversation is missing."""
    shares: Collection[str]
    """Names of those that are true or false, or shares."""


def usual_values(conversation: Conversation) -> ConversationValues:
    """Tokens, turns, tool calls, the share of the assistant's drafts that were rejected, and the scores beside success."""
    calls = [call for draft in conversation.attempts("assistant") for call in draft.tool_calls if not call.waits]
    drafts = sum(draft.verdict != "unjudged" for draft in conversation.attempts("assistant"))
    values: dict[str, float] = {
        "tokens": conversation.usage.tokens,
        "turns": len(conversation.exchanges),
        "tool calls": len(calls),
    }
    shares = set[str]()
    if drafts:
        values[REJECTED] = rejected_drafts(conversation, "assistant") / drafts
        shares.add(REJECTED)
    scores: Any = conversation.labels.get(SCORES)
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else None
        if name != SUCCESS and isinstance(value, int | float):
            values[SCORE + name] = float(value)
            shares |= {SCORE + name} if isinstance(value, bool) else set()
    return ConversationValues(values, shares)
