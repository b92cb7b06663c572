"""The numbers of a conversation by which versions are compared, only from its record."""

from collections.abc import Collection
from typing import Any, NamedTuple

from ....data.labels.reading import SCORES
from ....data.records import Conversation, Role
from ....data.summaries.outlines import outline
from ...attempts import rejected_drafts
from ...outcomes import SUCCESS, Crashes, outcome

REJECTED = "share of drafts rejected"
SCORE = "score "
"""Begins the names of scores."""
USUAL = ("tokens", "turns", "tool calls", REJECTED)
"""Measures by which versions are compared if none is named, beside success and scores."""
FURTHER = (
    "messages",
    "characters",
    "rejected drafts",
    "rejected drafts of the user",
    "rejected drafts of the assistant",
    "section coverage",
    "answers refused",
)
"""Measures that are computed where they are named."""
NAMES = (SUCCESS, *USUAL, *FURTHER)
"""All that do not depend on a cast; scores are named `score NAME`."""


class ConversationValues(NamedTuple):
    """Numbers of a conversation by their names."""

    values: dict[str, float]
    """What is not defined for the conversation is missing."""
    shares: Collection[str]
    """Names of those that are true or false, or shares."""


def usual_values(conversation: Conversation) -> ConversationValues:
    """The measures of `USUAL` and the scores beside success; the share of rejected drafts is the assistant's."""
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


def all_values(conversation: Conversation, crashes: Crashes = "failure") -> ConversationValues:
    """The measures of `NAMES` and the scores; rejected drafts include those that were sent all the same."""
    values, shares = usual_values(conversation)
    success, figures = outcome(conversation, crashes).success, outline(conversation)
    sides: tuple[Role, ...] = ("user", "assistant")
    rejected = {side: rejected_drafts(conversation, side) for side in sides}
    further: dict[str, float | None] = {
        SUCCESS: None if success is None else float(success),
        "messages": figures.messages,
        "characters": figures.characters,
        "rejected drafts": sum(rejected.values()),
        **{f"rejected drafts of the {side}": count for side, count in rejected.items()},
        "section coverage": figures.coverage,
        "answers refused": figures.refused,
    }
    defined = {name: value for name, value in further.items() if value is not None}
    return ConversationValues(defined | values, {*shares, SUCCESS, "section coverage"})
