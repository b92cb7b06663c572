"""The users of stored conversations, their split into development and test users, and draws of them."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from .. import domains
from ..identity import digest
from ..records import Conversation, as_object
from .pairing import STORED

UserPart: TypeAlias = Literal["tune", "test", "all"]
"""Part of the people: to tune a simulator on, to test it on, or all."""

MOST_DRAWN = 4_000
"""Conversations of a source that are taken at most, unless another number is given: more than were published.

`compare` takes about a gigabyte of memory for two such sources.
"""


def named_user(conversation: Conversation) -> str:
    """Name of the user or of the profile in the source; empty where it has none."""
    return domains.of(conversation).user(conversation)


def user_of(conversation: Conversation) -> str:
    """Name of the user; where the source has none, conversations about an equal scenario are the same user's."""
    return named_user(conversation) or digest(conversation.scenario)[:16]


def part_of(user: str) -> UserPart:
    """The part that a user is in for good, by the digest of their name: about half are in each."""
    return "tune" if int(digest("part", user)[:8], 16) % 2 == 0 else "test"


def of_part(conversation: Conversation, part: UserPart) -> bool:
    """Whether the conversation's user is in the part.

    A conversation that was simulated on a person's scenario belongs to that person's part.
    """
    if part == "all":
        return True
    return part_of(whose(conversation)) == part


def with_user(conversation: Conversation, form: str) -> Conversation:
    """The conversation for a general format, with its user's name as `user` of its line.

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
    name = as_object(conversation.extra.get(STORED)).get("user")
    return name if isinstance(name, str) else ""


class DrawnUsers(NamedTuple):
    """Conversations of drawn users."""

    conversations: tuple[Conversation, ...]
    users: int
    of_users: int
    """The users of the whole source."""


def drawn_users(conversations: Sequence[Conversation], most: int, seed: int) -> DrawnUsers:
    """The conversations of users drawn by the seed, at most so many.

    Users are in the order of a digest, so those of one name are drawn from every source.
    """
    counts = Counter(map(user_of, conversations))
    users: set[str] = set()
    count = 0
    for user in sorted(counts, key=lambda user: digest("drawn users", seed, user)):
        if users and count + counts[user] > most:
            break
        users.add(user)
        count += counts[user]
    of_users = (conversation for conversation in conversations if user_of(conversation) in users)
    drawn = tuple(islice(of_users, most))  # a single user may have more
    return DrawnUsers(drawn, len(users), len(counts))
