"""When a user simulator is at fault, by named rules: such failures do not count against the assistant."""

from ..data.records import Conversation
from ..data.rules import DIALOGUE_RULES
from ..data.rules.dialogue import both_ends

BROKEN = ("user-role-leak", "user-prompt-leak", "user-empty")
"""Rules of `check` for a user that leaves its role."""

RULE = (
    "the user simulator is at fault if the record states it (such as user_rejected: none of its drafts was accepted), or "
    "if one of its messages breaks a rule of `duologue check`: "
    + "; ".join(f"{name} ({DIALOGUE_RULES[name].description})" for name in BROKEN)
)
"""The rule in words."""


def user_fault(conversation: Conversation) -> str | None:
    """The rule by which the conversation's user simulator is at fault; None if it is not.

    The rule is a stop reason or a rule of `check`.
    """
    if conversation.fault == "user":
        return conversation.stop
    shown = both_ends(conversation)
    return next((name for name in BROKEN if any(DIALOGUE_RULES[name].find(shown))), None)
