"""A conversation on a page: what its list and its own part both show is made once."""

from dataclasses import dataclass
from functools import cached_property

from ..analysis.labels.reliability import Trusts
from ..data.labels.reading import Label, labels_in
from ..data.records import Conversation, Message
from ..data.summaries.outlines import Outline, outline


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
