"""People's conversations with their satisfaction, and the pairs of one person of which that person liked one better."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from ...data.labels.reading import of_conversation, of_message
from ...data.people import UserPart, part_of, user_of
from ...data.records import Conversation
from ...errors import DataError
from ..over_users.concordance import Pair, pairs_within

LABEL = "satisfaction"
"""Name of the label: of replies, or of a conversation."""


@dataclass(frozen=True)
class RatedConversations:
    """Conversations that people rated with their satisfaction."""

    conversations: tuple[Conversation, ...]
    satisfaction: tuple[float, ...]
    """Of each conversation: the mean over its replies that have one, else its own label."""

    @classmethod
    def of(cls, conversations: Sequence[Conversation]) -> "RatedConversations":
        """Those of the conversations with a satisfaction; DataError without one."""
        pairs = [(one, value) for one in conversations if (value := satisfaction_of(one)) is not None]
        if not pairs:
            raise DataError(
                "no conversation has a satisfaction of its user: give people's conversations whose replies have the label "
                f"{LABEL!r}, a number, such as those of RecLLMSim's newer study; without it, leave them out and try the "
                "user people:SRC"
            )
        return cls(tuple(one for one, _ in pairs), tuple(value for _, value in pairs))

    @cached_property
    def users(self) -> tuple[str, ...]:
        """The user of each conversation."""
        return tuple(map(user_of, self.conversations))

    def places(self, part: UserPart) -> list[int]:
        """The places of the conversations of a part of the users."""
        return [place for place, user in enumerate(self.users) if part == "all" or part_of(user) == part]

    def pairs(self, part: UserPart = "all") -> list[Pair[str]]:
        """All pairs of a user's conversations, across tasks, with different satisfaction."""
        taken = set(self.places(part))
        return [pair for pair in pairs_within(self.satisfaction, self.users) if pair.better in taken]


def satisfaction_of(conversation: Conversation) -> float | None:
    """The mean satisfaction with the replies, else that of the conversation's own label; None without a rating."""
    replies = (message for message in conversation.messages if message.role == "assistant")
    values = [value for message in replies if (value := number_of(of_message(message).get(LABEL))) is not None]
    return fmean(values) if values else number_of(of_conversation(conversation).get(LABEL))


def number_of(values: Sequence[str] | None) -> float | None:
    """The number in a label's first value; None if it is not a number."""
    try:
        number = float(values[0]) if values else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None
