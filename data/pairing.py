"""Pairing of the conversations of two data sets by topic."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from . import domains
from .records import Conversation


@dataclass(frozen=True)
class Pairing:
    """Pairs in the order of the first set, and the conversations of each set without a partner."""

    pairs: tuple[tuple[Conversation, Conversation], ...]
    only_first: tuple[Conversation, ...]
    only_second: tuple[Conversation, ...]


def topic_key(conversation: Conversation) -> str | None:
    """A key that is equal for conversations about the same topic, by their domain; None if the topic is unknown."""
    return domains.of(conversation).topic_key(conversation.scenario)


def paired(first: Sequence[Conversation], second: Sequence[Conversation]) -> Pairing:
    """Pair each conversation of the first set with the next unpaired one of the second about the same topic.

    If several people talk about a topic, conversations of the same person are paired first.
    """
    waiting: dict[str, list[Conversation]] = defaultdict(list)
    without_topic: list[Conversation] = []
    for conversation in second:
        key = topic_key(conversation)
        (without_topic if key is None else waiting[key]).append(conversation)
    partners: dict[int, Conversation] = {}
    for same_person in (True, False):
        for number, conversation in enumerate(first):
            key = topic_key(conversation)
            others = waiting[key] if number not in partners and key is not None and key in waiting else []
            fitting = (other for other in others if not same_person or _person(other) == _person(conversation))
            if (partner := next(fitting, None)) is not None:
                partners[number] = partner
                others[:] = [other for other in others if other is not partner]
    unpaired = {id(conversation) for rest in (without_topic, *waiting.values()) for conversation in rest}
    return Pairing(
        tuple((conversation, partners[number]) for number, conversation in enumerate(first) if number in partners),
        tuple(conversation for number, conversation in enumerate(first) if number not in partners),
        tuple(conversation for conversation in second if id(conversation) in unpaired),
    )


def _person(conversation: Conversation) -> object:
    """Who asks; None if unknown."""
    return domains.of(conversation).person(conversation.scenario)
