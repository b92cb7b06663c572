"""Pairing of the conversations of two data sets by topic."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from . import domains
from .domain import USER_KEYS, declared_topic, named
from .formats.dialogues import further
from .records import Conversation


@dataclass(frozen=True)
class Pairing:
    """Pairs in the order of the first set, and the conversations of each set without a partner."""

    pairs: tuple[tuple[Conversation, Conversation], ...]
    only_first: tuple[Conversation, ...]
    only_second: tuple[Conversation, ...]


def topic_key(conversation: Conversation) -> str | None:
    """A key that is equal for conversations about the same topic; None if the topic is unknown.

    It is their domain's; where the domain knows none, that of the `topic` which their line names.
    """
    return domains.of(conversation).topic_key(conversation.scenario) or declared_topic(conversation)


def paired(first: Sequence[Conversation], second: Sequence[Conversation]) -> Pairing:
    """Pair each conversation of the first set with the next unpaired one of the second about the same topic.

    If several people talk about a topic, conversations of the same person are paired first.
    """
    waiting: dict[str, list[Conversation]] = defaultdict(list)
    persons = {id(conversation): _person(conversation) for conversation in (*first, *second)}
    without_topic: list[Conversation] = []
    for conversation in second:
        key = topic_key(conversation)
        (without_topic if key is None else waiting[key]).append(conversation)
    partners: dict[int, Conversation] = {}
    keys = [topic_key(conversation) for conversation in first]
    for same_person in (True, False):
        for number, (conversation, key) in enumerate(zip(first, keys, strict=True)):
            others = waiting[key] if number not in partners and key is not None and key in waiting else []
            person = persons[id(conversation)]
            fitting = (other for other in others if not same_person or persons[id(other)] == person)
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
    """Who asks: as the domain tells by the scenario, else the user that the source names; None if unknown."""
    scenario = conversation.scenario
    return domains.of(conversation).person(scenario) or named(USER_KEYS, further(conversation), scenario) or None
