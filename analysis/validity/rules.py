"""Scoring functions by rule: length, turns, faults that a user would notice, the user's acts, a published judge's
labels.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from ...data import domains
from ...data.labels.annotations import of_conversation
from ...data.records import Conversation
from ...data.rules.user_notices import UserNotices, noticed
from ..next_turn.acts import Act, acts_in
from ..realism.measures.words import content_of
from .pairs import Values

Tester: TypeAlias = Callable[[Sequence[Conversation]], Values]
"""Says of each conversation how good it is, the more the better; None where it cannot say."""

CHANCE = "chance"
LENGTH = "reply length"
NOTICED = "what a user notices"

_JUDGED: Mapping[str, tuple[str, ...]] = {
    "strategy V4 utility": ("Low", "Moderate", "High"),
    "strategy V4 operability": ("Low", "Moderate", "High"),
    "strategy V3 feedback": ("Negative", "Both", "NoFeedback", "Positive"),
}
"""Labels that the published GPT judge gave conversations of people, the worst value first. (Feedback: `Both` and
`NoFeedback` are equally good.)"""
_EQUAL = {"NoFeedback": "Both"}


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


def _acting(act: Act, sign: int) -> Callable[[Conversation], float]:
    def score(conversation: Conversation) -> float:
        language = domains.of(conversation).language(conversation) or "en"
        before: frozenset[str] = frozenset()
        has_act: list[bool] = []
        for message in conversation.messages:
            if message.role == "user" and message.stored:
                acts = acts_in(message.text, language, before if has_act else None)
                has_act.append(acts.get(act, False))
            before |= content_of(message.text, language)
        return sign * fmean(has_act) if has_act else 0.0

    return score


BASELINES: Mapping[str, Tester] = {
    CHANCE: of_each(lambda _: 0.0),
    LENGTH: of_each(reply_length),
    "number of turns": of_each(turns),
}
"""What needs no satisfaction to learn from."""
SIGNS: Mapping[str, Tester] = {
    NOTICED: of_each(lambda one: notices(one).satisfaction),
    "no value unheeded": of_each(lambda one: -notices(one).unheeded),
    "no value lost": of_each(lambda one: -notices(one).lost),
    "nothing said again": of_each(lambda one: -notices(one).repeated),
    "no padding": of_each(lambda one: -notices(one).padding),
    "no rejection": of_each(_acting("rejection", -1)),
    "thanks": of_each(_acting("thanks", 1)),
}
"""The rule by which users without a model say how satisfied they are, its parts, and two acts in the user's own words. Giving
up is a part too; stored conversations do not tell it."""


def judges_in(conversations: Sequence[Conversation]) -> dict[str, Tester]:
    """The labels of the published judge in these conversations, each as a scoring function, by name."""
    present = {name for one in conversations for name in of_conversation(one)}
    return {f"judge: {name.rpartition(' ')[2]}": of_each(_labelled(name)) for name in _JUDGED if name in present}


def _labelled(name: str) -> Callable[[Conversation], float | None]:
    order = [value.casefold() for value in _JUDGED[name]]

    def score(conversation: Conversation) -> float | None:
        values = of_conversation(conversation).get(name, [])
        value = _EQUAL.get(values[0], values[0]).casefold() if values else ""
        return float(order.index(value)) if value in order else None

    return score
