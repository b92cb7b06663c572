"""A conversation on a page: what its list and its own part both show is made once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from ..analysis.attempts import model_tokens
from ..analysis.faults import Cause
from ..analysis.labels.reliability import Trusts
from ..analysis.outcomes import outcome as outcome_of
from ..data.labels.reading import Label, labels_in
from ..data.records import Conversation, Message
from ..data.summaries import Outline, outline
from .success import has_failed


@dataclass(frozen=True, eq=False)
class ShownConversation:
    """A conversation with its outline and its labels, among those whose labels are trusted so far."""

    conversation: Conversation
    trusts: Trusts
    legend: bool = True
    """Whether what marks of trust mean stands beside them; a list of conversations says it once for all."""

    @cached_property
    def outline(self) -> Outline:
        """Its figures."""
        return outline(self.conversation)

    @cached_property
    def cause(self) -> Cause | None:
        """Where it went wrong; None if it did not fail."""
        result = outcome_of(self.conversation)
        return result.cause if result.success is False else None

    @property
    def tokens(self) -> int | None:
        """Tokens of all calls of models; None if no model reports any."""
        return model_tokens(self.conversation) or None

    @property
    def has_trust(self) -> bool:
        """Whether a label or a score of it is shown with a mark of trust."""
        return any(self._labels.values()) or bool(self.conversation.labels)

    def labels(self, holder: Conversation | Message) -> tuple[Label, ...]:
        """The content of the labels of the conversation, or of one of its messages."""
        return self._labels[id(holder)]

    @cached_property
    def _labels(self) -> dict[int, tuple[Label, ...]]:
        holders: tuple[Conversation | Message, ...] = (self.conversation, *self.conversation.messages)
        return {id(holder): tuple(labels_in(holder, self.trusts.annotated)) for holder in holders}


class FailedFirst(Sequence[ShownConversation]):
    """The conversations of a list, failed ones first; each is taken from its sequence whenever it is asked for."""

    def __init__(self, conversations: Sequence[Conversation], trusts: Trusts) -> None:
        failed = [has_failed(conversation) for conversation in conversations]
        self._order = sorted(range(len(failed)), key=failed.__getitem__, reverse=True)
        self._conversations, self._trusts = conversations, trusts

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[ShownConversation]:
        in_order = all(map(int.__eq__, self._order, range(len(self))))
        conversations = self._conversations if in_order else map(self._conversations.__getitem__, self._order)
        return (ShownConversation(conversation, self._trusts) for conversation in conversations)

    @overload
    def __getitem__(self, number: int) -> ShownConversation: ...
    @overload
    def __getitem__(self, number: slice) -> list[ShownConversation]: ...
    def __getitem__(self, number: int | slice) -> ShownConversation | list[ShownConversation]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        return ShownConversation(self._conversations[self._order[number]], self._trusts)
