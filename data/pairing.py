"""Two data sets about the same topics: which conversation of one belongs to which of the other."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from .identity import digest
from .records import Conversation


@dataclass(frozen=True)
class Pairing:
    """Pairs in the order of the first set, and what is left of both."""

    pairs: tuple[tuple[Conversation, Conversation], ...]
    only_first: tuple[Conversation, ...]
    only_second: tuple[Conversation, ...]


def topic_key(conversation: Conversation) -> str | None:
    """What two conversations about the same topic share: the section's words, else the task's, else all of the
    scenario. None where nothing is known but the conversation itself."""
    about = conversation.scenario
    for key in ("section", "task_context"):
        text = about.get(key)
        if isinstance(text, str) and text.strip():
            return digest(key, " ".join(text.split()))
    if not set(about) - {"kind", "digest"}:
        return None
    return digest("scenario", about)


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
            there = waiting[key] if number not in partners and key is not None and key in waiting else []
            fitting = (other for other in there if not same or _person(other) == _person(conversation))
            if (found := next(fitting, None)) is not None:
                partners[number] = found
                there[:] = [other for other in there if other is not found]
    free = {id(conversation) for rest in (left, *waiting.values()) for conversation in rest}
    return Pairing(
        tuple((each, partners[number]) for number, each in enumerate(first) if number in partners),
        tuple(each for number, each in enumerate(first) if number not in partners),
        tuple(each for each in second if id(each) in free),
    )


def _person(conversation: Conversation) -> object:
    """The profile of the one who asks; None where there is none."""
    return conversation.scenario.get("preference") or conversation.scenario.get("profile")
