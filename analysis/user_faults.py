"""When a user simulator is at fault, by named rules: such failures do not count against the assistant."""

from collections.abc import Iterator

from ..data.records import Conversation, stop_in_words
from ..data.rules import DIALOGUE_RULES, USER_FAULT_RULES, UserFaultFinding, faults_of_user
from .agent_faults.rules import findings

BROKEN = ("user-role-leak", "user-prompt-leak", "user-empty")
"""Rules of `check` for a user that leaves its role."""
USER_RULES = {**{name: DIALOGUE_RULES[name] for name in BROKEN}, **USER_FAULT_RULES}
"""Each rule by its id."""

RULE = (
    "the user simulator is at fault if the record states it (such as user_rejected: none of its drafts was accepted), or "
    f"if one of its messages breaks one of these rules of `duologue check`: {', '.join(USER_RULES)}. Where the agent errs in an "
    "earlier message, by the rules for groups of failures, the agent is at fault"
)
"""The rule in words."""


def found_faults(conversation: Conversation) -> Iterator[UserFaultFinding]:
    """What the rules find wrong with the conversation's user, the leaks of its role first."""
    for name in BROKEN:
        yield from (UserFaultFinding(name, *place) for place in DIALOGUE_RULES[name].find(conversation))
    yield from faults_of_user(conversation)


def user_fault(conversation: Conversation) -> str | None:
    """The rule by which the conversation's user simulator is at fault; None if it is not.

    The rule is a stop reason or a rule of `check`.
    """
    fault = first_fault(conversation)
    return None if fault is None else fault.rule


def first_fault(conversation: Conversation) -> UserFaultFinding | None:
    """The fault of the user simulator, with its message and reason.

    None without one, and where the agent was at fault in an earlier message: what a user does wrong then follows from that.
    """
    if conversation.fault == "user" and conversation.stop is not None:
        return UserFaultFinding(conversation.stop, len(conversation.messages) - 1, stop_in_words(conversation.stop))
    if (fault := earliest_fault(conversation)) is None:
        return None
    is_later = any((cause.message or 0) < fault.message for cause in findings(conversation))
    return None if is_later else fault


def earliest_fault(conversation: Conversation) -> UserFaultFinding | None:
    """The user's first fault by its message, before or after faults of the agent; None without one."""
    return min(found_faults(conversation), key=lambda fault: fault.message, default=None)
