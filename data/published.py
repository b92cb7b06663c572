"""What conversations that were read, not simulated, are called."""

from collections.abc import Sequence

from .identity import conversation_id, digest, ordinals
from .records import Conversation

PUBLISHED = "published"
"""Stands for the cast in the ids of conversations that were read."""


def named(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Conversations of a source with their ordinals and ids; what was said tells sources apart."""
    numbers = ordinals(conversation.scenario for conversation in conversations)
    return [
        conversation.model_copy(
            update={
                "ordinal": ordinal,
                "id": conversation_id(PUBLISHED, conversation.scenario, ordinal, begun=_said(conversation)),
            }
        )
        for conversation, ordinal in zip(conversations, numbers, strict=True)
    ]


def _said(conversation: Conversation) -> str:
    return digest([(message.role, message.text) for message in conversation.messages])
