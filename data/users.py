"""Who speaks in stored conversations, and the split of these users into those to tune on and those to test on."""

from typing import Literal, TypeAlias

from . import domains
from .attempts import is_object
from .identity import digest
from .pairing import STORED
from .records import Conversation

UserPart: TypeAlias = Literal["tune", "learn", "select", "test", "all"]
"""Part of the people: to tune a simulator on, to test it on, or all. Those to tune on are two parts themselves: one that a
simulator learns from, and one by which the best of several is selected."""


def named_user(conversation: Conversation) -> str:
    """Name of the user or of the profile in the source; empty where it has none."""
    return domains.of(conversation).user(conversation)


def user_of(conversation: Conversation) -> str:
    """Name of the user; where the source has none, conversations about an equal scenario are the same user's."""
    return named_user(conversation) or digest(conversation.scenario)[:16]


def part_of(user: str) -> UserPart:
    """The part that a user is in for good, by the digest of their name: about half are in each."""
    return "tune" if int(digest("part", user)[:8], 16) % 2 == 0 else "test"


def half_of(user: str) -> UserPart:
    """Of the users to tune on, whether one is to learn from or to select by: for good too, by a second digest."""
    return "learn" if int(digest("half", user)[:8], 16) % 2 == 0 else "select"


def of_part(conversation: Conversation, part: UserPart) -> bool:
    """Whether the conversation's user is in the part. What was simulated on a person's scenario is in that person's."""
    if part == "all":
        return True
    user = whose(conversation)
    if part in ("learn", "select"):
        return part_of(user) == "tune" and half_of(user) == part
    return part_of(user) == part


def with_user(conversation: Conversation, form: str) -> Conversation:
    """The conversation as it is to be written in a general format: with its user's name as `user` of its line.

    So its user, and with it the half, is the same when the file is read. One that was read in this format stays as it is.
    """
    name = _named_in_store(conversation) or named_user(conversation)
    if not name or form in conversation.extra:
        return conversation
    return conversation.model_copy(update={"extra": {**conversation.extra, form: {"values": {"user": name}}}})


def whose(conversation: Conversation) -> str:
    """Whose scenario it is: what was simulated on a person's scenario is that person's, all else its user's."""
    return _named_in_store(conversation) or user_of(conversation)


def _named_in_store(conversation: Conversation) -> str:
    """Name of the user on whose scenario it was simulated; empty if it was on nobody's."""
    stored = conversation.extra.get(STORED)
    told = stored.get("user") if is_object(stored) else None
    return told if isinstance(told, str) else ""
