"""The unit: a reply with its user's satisfaction, and the texts that a model may read to predict it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ....data import domains
from ....data.records import Conversation
from ..identification.text_models.texts import UserText, text_of
from ..judges.turns import LABEL, JudgedTurn, judged_turns, replies_of

TurnReads: TypeAlias = Literal["talk", "reply"]


@dataclass(frozen=True)
class ToldTurn:
    """A reply, its satisfaction, and the text that models read."""

    judged: JudgedTurn
    text: UserText

    @property
    def negative(self) -> bool:
        """3 points or less."""
        return self.judged.dissatisfied


def told_turns(
    conversations: Sequence[Conversation], reads: TurnReads = "talk", *, following: bool = False, label: str = LABEL
) -> tuple[ToldTurn, ...]:
    """Every reply with a satisfaction of 1 to 5, in the order of the source.

    `reads`: `talk`, as published: profile, task context and all messages up to the reply, which is in it; `reply`: only
    the reply. `following`: the user's next messages are read too. Chinese needs the extra `zh`.
    """
    return tuple(
        ToldTurn(
            turn, text_of(_parts(conversations[turn.conversation], turn, reads, following=following), turn.language)
        )
        for turn in judged_turns(conversations, label)
    )


def with_a_negative(turns: Iterable[ToldTurn]) -> tuple[ToldTurn, ...]:
    """The turns of users with a negative one, as published: the others have one class only."""
    every = tuple(turns)
    users = {turn.judged.user for turn in every if turn.negative}
    return tuple(turn for turn in every if turn.judged.user in users)


def _parts(conversation: Conversation, turn: JudgedTurn, reads: TurnReads, *, following: bool) -> list[str]:
    after = [turn.following] if following and turn.following else []
    if reads == "reply":
        return [turn.reply, *after]
    domain = domains.of(conversation)
    about = [f"{name} {value}" for name, value in domain.facts(conversation.scenario)]
    place, _ = replies_of(conversation.messages)[turn.turn - 1]
    texts = [message.text for message in conversation.messages[: place + 1] if message.stored]
    return [*about, *texts, *after]
