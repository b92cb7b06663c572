"""Pairing of the conversations of two data sets by topic."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from .. import domains
from ..domain import declared_topic
from ..identity import digest
from ..records import Conversation, as_object

STORED = "stored"
"""Key of a conversation's `extra` for the stored conversation whose scenario it has: its `id`, the digest of its
`scenario`, and, where the source has them, the `path` of its file and its `user`."""


@dataclass(frozen=True)
class Pairing:
    """Pairs in the order of the first set, and the conversations of each set without a partner."""

    pairs: tuple[tuple[Conversation, Conversation], ...]
    only_first: tuple[Conversation, ...]
    only_second: tuple[Conversation, ...]


def topic_key(conversation: Conversation) -> str | None:
    """A key that is equal for conversations about the same topic; None if the topic is unknown.

    It is their domain's; where the domain has none, that of the `topic` which their line names.
    """
    declared = declared_topic(conversation)
    if declared and isinstance(conversation.scenario.get("digest"), str):
        return declared  # what was made of a line's scenario is about the same as the line
    return domains.of(conversation).topic_key(conversation.scenario) or declared


def paired(first: Sequence[Conversation], second: Sequence[Conversation]) -> Pairing:
    """Pair each conversation of the first set with the next unpaired one of the second about the same topic.

    A conversation that was simulated on the scenario of a stored one is paired with that one. A further one on the same
    scenario has no partner. If several people talk about a topic, conversations of the same person are paired first.
    """
    partners = _by_origin(first, second)
    taken = {id(partner) for partner in partners.values()}
    there = {identity_of(other) for other in second}
    repeats = {
        number
        for number, conversation in enumerate(first)
        if number not in partners and origin_of(conversation) in there
    }
    waiting: dict[str, list[Conversation]] = defaultdict(list)
    persons = {id(conversation): _person(conversation) for conversation in (*first, *second)}
    without_topic: list[Conversation] = []
    for conversation in second:
        if id(conversation) in taken:
            continue
        key = topic_key(conversation)
        (without_topic if key is None else waiting[key]).append(conversation)
    keys = [topic_key(conversation) for conversation in first]
    for same_person in (True, False):
        for number, (conversation, key) in enumerate(zip(first, keys, strict=True)):
            free = number not in partners and number not in repeats
            others = waiting[key] if free and key is not None and key in waiting else []
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


def _by_origin(first: Sequence[Conversation], second: Sequence[Conversation]) -> dict[int, Conversation]:
    """The partner of each conversation of the first set, by number, where one was simulated on the other's scenario."""
    partners: dict[int, Conversation] = {}
    taken: set[int] = set()
    for simulated, stored in ((first, second), (second, first)):
        origins = {number: origin for number, one in enumerate(simulated) if (origin := origin_of(one)) is not None}
        identities = set(origins.values())
        places: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, one in enumerate(stored if identities else ()):
            if (key := identity_of(one)) in identities:
                places[key].append(number)
        for number, origin in origins.items():
            for place in places.get(origin, ()):
                here, there = (number, place) if stored is second else (place, number)
                if here not in partners and there not in taken:
                    partners[here] = second[there]
                    taken.add(there)
                    break
    return partners


def identity_of(conversation: Conversation) -> tuple[str, str]:
    """The identity that conversations on its scenario record: its id, and its scenario's digest."""
    return conversation.id, digest(conversation.scenario)


def origin_of(conversation: Conversation) -> tuple[str, str] | None:
    """Id of the stored conversation whose scenario it has, and the digest of that scenario; None if it has none."""
    stored = as_object(conversation.extra.get(STORED))
    if not isinstance(stored.get("id"), str) or not isinstance(stored.get("scenario"), str):
        return None
    return stored["id"], stored["scenario"]


def _person(conversation: Conversation) -> object:
    """The person who asks: from the domain, else the user that the source names; None if unknown."""
    domain = domains.of(conversation)
    return domain.person(conversation.scenario) or domain.user(conversation) or None
