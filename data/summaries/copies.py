"""Conversations of a source that hold the same messages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..identity import digest
from ..records import Conversation


@dataclass
class CopyCount:
    """Counts copies among conversations that pass by: those whose messages equal those of an earlier one.

    Of each conversation only a digest is held. Ids, labels and further keys may differ; so may drafts.
    """

    count: int = 0
    _seen: set[bytes] = field(default_factory=set[bytes])

    def passing(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """The same conversations, each looked at as it passes."""
        for conversation in conversations:
            self.add(conversation)
            yield conversation

    def add(self, conversation: Conversation) -> None:
        """Look at one conversation; one without a message is not a copy."""
        messages = [
            (
                message.role,
                message.text,
                [part.plain() for part in message.parts],
                [call.plain() for call in message.tool_calls],
            )
            for message in conversation.messages
            if message.stored
        ]
        if messages:
            own = bytes.fromhex(digest(messages))[:16]
            self.count += own in self._seen
            self._seen.add(own)

    def notes(self, conversations: int) -> list[str]:
        """A line with the number of copies among so many conversations; none without a copy."""
        are = "1 is a copy" if self.count == 1 else f"{self.count} are copies"
        return [f"of {conversations} conversations {are}: the same messages as an earlier one"] if self.count else []
