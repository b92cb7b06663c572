"""A part of a large source: the conversations of users that a seed draws."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ..identity import digest
from ..records import Conversation
from .splits import user_of

MOST_DRAWN = 4_000
"""Conversations of a source that are taken at most, unless another number is given: more than were published.

`compare` takes about a gigabyte of memory for two such sources.
"""


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
