"""What becomes of an agent's `interrupt()`: a question to the other side, or the end of the conversation."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from ...data.attempts import INTERRUPT, WAITING
from ...data.formats.tool_messages import NO_RESULT
from ...data.records import Role
from ..replies.conversion import drafts_of, plain_or_text
from ..state import Draft

INTERRUPTED: Mapping[Role, str] = {"assistant": "agent_interrupted", "user": "user_rejected"}
"""The stop reason of an agent at an interrupt that cannot be answered, by the role that it plays."""
NO_CHECKPOINTER = "it has no checkpointer"
NO_QUESTION = "it asks no one question"
NOT_ENDING = "it asks for approval again and again"


def still_waiting(drafts: list[Draft]) -> list[Draft]:
    """The drafts of a reply that ends with a question: a tool without a result waits for the answer."""
    for draft in drafts:
        for call in draft.get("tool_calls", []):
            if call.get("error") == NO_RESULT:
                call["error"] = WAITING
    return drafts


def asked_arguments(value: Any) -> dict[str, Any]:
    """What an interrupt asks, as the arguments of a call in the record."""
    question = plain_or_text(value)
    return question if isinstance(question, dict) else {"value": question}


def drafts_at_interrupt(messages: Sequence[BaseMessage], values: Sequence[Any], why: str) -> list[Draft]:
    """The drafts of a reply that ends at interrupts without an answer.

    The last draft has each interrupt as a tool call.

    `why`: `NO_CHECKPOINTER` or `NO_QUESTION`.
    """
    drafts = drafts_of(messages) or [Draft(text="")]
    error = f"no one can answer the agent: {why}"
    calls = [{"name": INTERRUPT, "arguments": asked_arguments(value), "error": error} for value in values]
    drafts[-1]["tool_calls"] = [*drafts[-1].get("tool_calls", []), *calls]
    return drafts
