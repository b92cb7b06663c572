"""Scoring functions by rule: length, turns, faults that a user would notice."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from ...data.records import Conversation
from ...data.rules.notices import UserNotices, noticed
from .pairs import Values

Tester: TypeAlias = Callable[[Sequence[Conversation]], Values]
"""Says of each conversation how good it is, the more the better; None where it cannot say."""

CHANCE = "chance"
LENGTH = "reply length"
NOTICED = "what a user notices"


def of_each(score: Callable[[Conversation], float | None]) -> Tester:
    """The scoring function of single conversations, for all of them."""

    def tester(conversations: Sequence[Conversation]) -> Values:
        return [score(one) for one in conversations]

    return tester


def notices(conversation: Conversation) -> UserNotices:
    """The faults of a stored conversation that its user would notice."""
    return noticed(conversation.messages, conversation.stop)


def reply_length(conversation: Conversation) -> float:
    """Mean characters of the replies; 0 without one."""
    lengths = [len(message.text) for message in conversation.messages if message.role == "assistant" and message.stored]
    return fmean(lengths) if lengths else 0.0


def turns(conversation: Conversation) -> float:
    """How many turns the user has."""
    return float(sum(bool(exchange.user) for exchange in conversation.exchanges))


BASELINES: Mapping[str, Tester] = {
    CHANCE: of_each(lambda _: 0.0),
    LENGTH: of_each(reply_length),
    "number of turns": of_each(turns),
    NOTICED: of_each(lambda one: notices(one).satisfaction),
}
"""Scoring functions by name; the last is the rule by which users without a model say how satisfied they are."""
