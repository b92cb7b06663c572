"""The moments of stored conversations at which the user writes or leaves, and a simulated user's reply there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .identity import ordinals
from .records import Conversation, Message, Record

LEAVES = frozenset({"user_ended", "user_gave_up"})
"""Recorded stop reasons with which a user has left; a conversation that names no reason was left by its user too."""


@dataclass(frozen=True)
class Moment:
    """A place in a conversation at a user's turn, with the messages before it and the user's messages."""

    conversation: Conversation
    number: int
    """Place of the conversation in its source, from 0."""
    ordinal: int
    """Number of the conversation among those of the source about an equal scenario, from 0."""
    turn: int
    """How many turns the user has had, from 0."""
    begin: int
    """Number of messages before this turn."""
    end: int
    """Number of messages up to its end; as many where the user had left."""

    @property
    def before(self) -> tuple[Message, ...]:
        """All messages before this turn, perhaps none; the last one is the assistant's."""
        return self.conversation.messages[: self.begin]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The user's messages of this turn, one or several in a row; empty where the user had left."""
        return tuple(message for message in self.conversation.messages[self.begin : self.end] if message.stored)

    @property
    def key(self) -> str:
        """Names the moment in its source."""
        return f"{self.number}/{self.turn}"

    @property
    def ended(self) -> bool:
        """Whether the user had left."""
        return self.begin == self.end

    @cached_property
    def text(self) -> str:
        """The user's messages, a line for each; empty where the user had left."""
        return text_of(self.messages)


class NextTurn(Record):
    """A simulated user's turn at a moment: a text, or that it leaves, or the failure."""

    id: str
    """Id of the conversation that was simulated from the moment on."""
    key: str
    """The moment's."""
    text: str = ""
    """Its messages, a line for each; empty if it sends none. A goodbye is a text too."""
    stopped: bool | None = False
    """Whether it leaves, with a goodbye or without one; None for a user that cannot decide at a single moment."""
    stop: str | None = None
    """Why the simulation ended: `max_turns` after the one turn, or the reason that the record has."""
    rejected: int = 0
    """Drafts that its validator rejected before."""
    model: str | None = None
    """The model that answered, as its endpoint names it."""
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    """Calls that were paid for, rejected drafts included."""
    silent: bool = False
    """Whether it failed because every reply came without a text: such replies are asked for again."""
    failure: str | None = None
    """Why it could not be asked, in one line; None if it was."""


def text_of(messages: Sequence[Message]) -> str:
    """The texts of messages, a line for each."""
    return "\n".join(message.text for message in messages)


def moments_of(conversations: Sequence[Conversation]) -> Iterator[Moment]:
    """The moments of all conversations of a source, in their order.

    Each turn of the user is one. So is the end, if the assistant's message is the last and the record names no other
    reason than that the user left. A goodbye that is not part of the published history belongs to the end.
    """
    numbers = ordinals(conversation.scenario for conversation in conversations)
    for number, (conversation, ordinal) in enumerate(zip(conversations, numbers, strict=True)):
        messages, count, turn = conversation.messages, 0, 0
        sides = [
            place for place, message in enumerate(messages) if message.name is None
        ]  # third ones are in no exchange
        for exchange in conversation.exchanges:
            end = count + len(exchange.user)
            stored = any(message.stored for message in exchange.user)
            if exchange.user and not stored:
                break  # the goodbye
            if stored:
                yield Moment(conversation, number, ordinal, turn, sides[count], sides[end - 1] + 1)
                turn += 1
            count = end + len(exchange.assistant)
        left = conversation.stop is None or conversation.stop in LEAVES
        if turn and messages[sides[count - 1]].role == "assistant" and left:
            begin = sides[count] if count < len(sides) else len(messages)
            yield Moment(conversation, number, ordinal, turn, begin, begin)
