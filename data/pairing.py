"""Two data sets about the same topics: which conversation of one belongs to which of the other."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from . import domains
from .records import Conversation


@dataclass(frozen=True)
class Pairing:
    """Pairs in the order of the first set, and what is left of both."""

    pairs: tuple[tuple[Conversation, Conversation], ...]
    only_first: tuple[Conversation, ...]
    only_second: tuple[Conversation, ...]


def topic_key(conversation: Conversation) -> str | None:
    """What two conversations about the same topic share, as their domain says; None where nothing is known but the
    conversation itself."""
    return domains.of(conversation).topic_key(conversation.scenario)


def paired(first: Sequence[Conversation], second: Sequence[Conversation]) -> Pairing:
    """Each conversation with the next one about its topic in the other set; every one stands in one place.

    Where a topic has conversations of several people those of the same person are paired first.
    """
    waiting: dict[str, list[Conversation]] = defaultdict(list)
    left: list[Conversation] = []
    for conversation in second:
        key = topic_key(conversation)
        (left if key is None else waiting[key]).append(conversation)
    partners: dict[int, Conversation] = {}
    for same in (True, False):
        for number, conversation in enumerate(first):
            key = topic_key(conversation)
            others = waiting[key] if number not in partners and key is not None and key in waiting else []
            fitting = (other for other in others if not same or _person(other) == _person(conversation))
            if (partner := next(fitting, None)) is not None:
                partners[number] = partner
                others[:] = [other for other in others if other is not partner]
    free = {id(conversation) for rest in (left, *waiting.values()) for conversation in rest}
    return Pairing(
        tuple((each, partners[number]) for number, each in enumerate(first) if number in partners),
        tuple(each for number, each in enumerate(first) if number not in partners),
        tuple(each for each in second if id(each) in free),
    )


def _person(conversation: Conversation) -> object:
    """The one who asks; None where that is not told."""
    return domains.of(conversation).person(conversation.scenario)
