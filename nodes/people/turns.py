"""Stored conversations as sources of turns, and the turns of each role in them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ...data import domains
from ...data.attempts import Part
from ...data.people.pairing import topic_key
from ...data.people.splits import user_of
from ...data.records import Conversation, Role
from ...data.scenarios import is_log, stated_in
from ...data.text.model_tokens import texts_in
from .names import masked

ORIGIN = "people"
"""Key of a message's `extra` for where its words come from."""
RETRIEVED = "retrieved"
"""Key in it for the words of the turn that a model or a behaviour has changed."""

_SENTENCE = re.compile(r"([^.!?。！？\n]+)([.!?。！？]*)")

_WISH = ("goal", "task_context", "title", "header", "task", "first_message", "persona")
"""Keys of scenarios that say what the user wants, in the order in which they are read."""


@dataclass(frozen=True)
class SourceTurn:
    """A message of a source conversation."""

    number: int
    """Its number among all messages of the conversation, from 0."""
    role: Role
    text: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class SourceConversation:
    """A stored conversation whose turns are used again."""

    id: str
    user: str
    topic: str | None
    """Equal for conversations about the same context; None if it is unknown."""
    task: str
    wish: str
    """The user's goal, in words; empty if the source does not contain it."""
    person: str
    """The source's facts about the user."""
    messages: tuple[SourceTurn, ...]
    stated: str = ""
    """Of a log, whose scenario has no facts: all that its user states, for values that another scenario replaces."""


@dataclass(frozen=True)
class PeopleTurn:
    """The messages of one role in one turn, with their context."""

    donor: int
    """Number of its conversation among the source conversations."""
    place: int
    """Its number among the turns of this role, from 0."""
    messages: tuple[SourceTurn, ...]
    heard: tuple[SourceTurn, ...]
    """The other role's messages right before it."""
    before: tuple[SourceTurn, ...]
    """All messages before it, `heard` included."""

    @property
    def text(self) -> str:
        """Its messages, a line break between them."""
        return "\n".join(message.text for message in self.messages)


def donors_of(conversations: Iterable[Conversation], *, mask: bool) -> list[SourceConversation]:
    """The conversations that have a message, in order.

    `mask`: with placeholders in the place of personal details.
    """
    return [donor for conversation in conversations if (donor := _donor(conversation, mask)).messages]


def _donor(conversation: Conversation, mask: bool) -> SourceConversation:
    domain, scenario = domains.of(conversation), conversation.scenario
    messages = tuple(
        SourceTurn(number, message.role, message.text, message.parts)
        for number, message in enumerate(conversation.messages)
        if message.stored and (message.text.strip() or message.parts)
    )
    if mask:
        messages = tuple(replace(message, text=masked(message.text)) for message in messages)
    return SourceConversation(
        conversation.id,
        user_of(conversation),
        topic_key(conversation),
        domain.task(scenario),
        wish_in(scenario),
        person_in(scenario),
        messages,
        "\n".join(stated_in(conversation)) if is_log(conversation) else "",
    )


def turns_of(donors: Iterable[SourceConversation], role: Role) -> Iterator[PeopleTurn]:
    """The turns of one role, conversation by conversation, in their order."""
    for number, donor in enumerate(donors):
        place = 0
        before: tuple[SourceTurn, ...] = ()
        heard: tuple[SourceTurn, ...] = ()
        for speaking, messages in groupby(donor.messages, key=lambda message: message.role):
            turn_messages = tuple(messages)
            if speaking == role:
                yield PeopleTurn(number, place, turn_messages, heard, before)
                place += 1
            heard = turn_messages
            before += turn_messages


def wish_in(scenario: Mapping[str, Any]) -> str:
    """The user's goal in the words of the scenario, without the parts that only the other role sees."""
    texts = [text for key in _WISH if isinstance(text := scenario.get(key), str) and text.strip()]
    return "\n".join(dict.fromkeys(texts)) or domains.of(scenario).title(scenario)


def person_in(scenario: Mapping[str, Any]) -> str:
    """The scenario's facts about the user, a line for each; empty if it has none."""
    facts = [value for _, value in domains.of(scenario).facts(scenario)]
    return "\n".join([*facts, *texts_in(scenario.get("facts", ""))])


def asked_in(text: str) -> list[str]:
    """The questions in a message: from the end of the previous sentence to a question mark."""
    sentences = ((sentence.strip(), marks) for sentence, marks in _SENTENCE.findall(text))
    return [sentence for sentence, marks in sentences if sentence and ("?" in marks or "？" in marks)]


def origin_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The recorded origin of a message's words: source, digest, conversation, message; empty without one."""
    origin = (message.get("extra") or {}).get(ORIGIN)
    return origin if isinstance(origin, Mapping) else {}
