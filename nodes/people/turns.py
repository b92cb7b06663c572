"""Stored conversations as donors, and what each side said in them, turn by turn."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ...data import domains
from ...data.attempts import Part
from ...data.pairing import topic_key
from ...data.records import Conversation, Role
from ...data.users import user_of
from .names import masked

_SENTENCE = re.compile(r"([^.!?。！？\n]+)([.!?。！？]*)")

_WISH = ("goal", "task_context", "title", "header", "task", "first_message", "persona")
"""Keys of scenarios that say what the user wants, in the order in which they are read."""


@dataclass(frozen=True)
class Said:
    """A message of a donor."""

    number: int
    """Its number among all messages of the conversation, from 0."""
    role: Role
    text: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Donor:
    """A stored conversation whose turns are said again."""

    id: str
    user: str
    topic: str | None
    """Equal for conversations about the same context; None if nothing tells it."""
    task: str
    wish: str
    """What the user wanted, in words; empty if the source does not tell it."""
    person: str
    """What the source tells about the user."""
    messages: tuple[Said, ...]


@dataclass(frozen=True)
class Turn:
    """What one side said in one go, and when."""

    donor: int
    """Number of its conversation among the donors."""
    place: int
    """Its number among the turns of this side, from 0."""
    said: tuple[Said, ...]
    heard: tuple[Said, ...]
    """What the other side said right before it."""
    before: tuple[Said, ...]
    """Everything that was said before it, `heard` included."""

    @property
    def text(self) -> str:
        """Its messages, a line break between them."""
        return "\n".join(message.text for message in self.said)


def donors_of(conversations: Iterable[Conversation], *, mask: bool) -> list[Donor]:
    """The conversations with a message, in order. `mask`: with placeholders in the place of personal details."""
    return [donor for conversation in conversations if (donor := _donor(conversation, mask)).messages]


def _donor(conversation: Conversation, mask: bool) -> Donor:
    domain, scenario = domains.of(conversation), conversation.scenario
    messages = tuple(
        Said(number, message.role, message.text, message.parts)
        for number, message in enumerate(conversation.messages)
        if message.stored and (message.text.strip() or message.parts)
    )
    if mask:
        messages = tuple(replace(message, text=masked(message.text)) for message in messages)
    return Donor(
        conversation.id,
        user_of(conversation),
        topic_key(conversation),
        domain.task(scenario),
        wish_in(scenario),
        person_in(scenario),
        messages,
    )


def turns_of(donors: Iterable[Donor], role: Role) -> Iterator[Turn]:
    """The turns of one side, conversation by conversation, in their order."""
    for number, donor in enumerate(donors):
        place = 0
        before: tuple[Said, ...] = ()
        heard: tuple[Said, ...] = ()
        for speaking, messages in groupby(donor.messages, key=lambda message: message.role):
            said = tuple(messages)
            if speaking == role:
                yield Turn(number, place, said, heard, before)
                place += 1
            heard = said
            before += said


def wish_in(scenario: Mapping[str, Any]) -> str:
    """What the user wants, in the words of the scenario; never what only the other side sees."""
    texts = [text for key in _WISH if isinstance(text := scenario.get(key), str) and text.strip()]
    return "\n".join(dict.fromkeys(texts)) or domains.of(scenario).title(scenario)


def person_in(scenario: Mapping[str, Any]) -> str:
    """What the scenario tells about the user, a fact a line; empty if it tells nothing."""
    facts = [value for _, value in domains.of(scenario).facts(scenario)]
    given = scenario.get("facts")
    return "\n".join([*facts, given] if isinstance(given, str) else facts)


def asked_in(text: str) -> list[str]:
    """The questions in a message: what stands before a question mark, back to the end of the sentence before."""
    sentences = ((sentence.strip(), marks) for sentence, marks in _SENTENCE.findall(text))
    return [sentence for sentence, marks in sentences if sentence and ("?" in marks or "？" in marks)]
